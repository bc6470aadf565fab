/**
 * Formats shell commands that make, sign and send a request as the sender of a scheme would, to be
 * copied. They read the secret from the environment. Such commands are, with the function of each:
 *
 *     : "${WEBHOOK_SECRET:?must hold the secret of this webhook}"
 *     timestamp=$(date +%s)                                               formatTimestampCommand
 *     body='{"a":1}'
 *     signature=$(printf '%s' "$timestamp"'.'"$body" \
 *       | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -binary | openssl base64 -A)
 *                                                                         formatHmacCommands
 *     curl --silent --show-error --request POST \                         formatCurlCommand
 *       --header 'Content-Type: application/json' \
 *       --header "Acme-Signature: t=$timestamp,v1=$signature" \
 *       --data-binary "$body" \
 *       'https://example.com/webhook/in/acme'
 *
 * So each value of the scheme is a variable of the shell: $timestamp, $id, $body, and $signature,
 * which is the secret itself for the algorithm `token`. sign-request.ts computes the same values in
 * this process: what a scheme can say has to be said in both, and tests run these commands for
 * every preset against the verifier. Pure.
 */
import { shellQuote } from '../../../base/text/shell-quote.ts';
import { hasRequestBody } from '../../members/target-rules.ts';
import { RequestReader } from '../request/request-reader.ts';
import type { Need, Scheme } from '../scheme/scheme.ts';
import { parseContent, type ContentPart } from '../verification/signed-content.ts';
import {
  findSigningObstacle, isInBody, isJsonInForm, findPlacement, listPlacements, type PlacementName,
} from '../scheme/placement.ts';

type ShellExampleInput = {
  readonly scheme: Scheme;
  /** The webhook's values that the scheme needs, such as the URL that the sender calls. */
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  readonly method: string;
  /**
   * The body, with {timestamp}, {id} and {signature} in their places; ignored if the method has no
   * body.
   */
  readonly body: string;
  readonly contentType: string;
  /** The headers that carry no signature; they may hold {id} as well. */
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
};

const SECRET_VARIABLE = 'WEBHOOK_SECRET';
const MISSING_SECRET_HINT = 'must hold the secret of this webhook';
const HEX_FILTER = "od -An -v -tx1 | tr -d ' \\n'";
const BASE64_FILTER = 'openssl base64 -A';
/** Each byte as `%` and two hex digits. */
const PERCENT_FILTER = `${HEX_FILTER} | sed 's/../%&/g'`;
/** A backslash before quotation marks and backslashes, as in a JSON string. */
const JSON_FILTER = String.raw`sed 's/[\"]/\\&/g'`;
/** openssl prints a name before a digest in hex, as in `SHA256(stdin)= `. */
const DIGEST_FILTER = "sed 's/^.*= *//'";

/** Why a shell cannot make such a call, although our secret can sign; null: it can. */
export function findShellObstacle(scheme: Scheme, method: string): string | null {
  const { content } = scheme;
  if (content.includes('{bodyCrc32}')) return 'a shell has nothing that computes a CRC-32';
  const hasFields = listPlacements(scheme).some(([, source]) => 'form' in source);
  if (content.includes('{formSorted}') && hasFields) {
    return 'a shell cannot sort a form that holds the time, the id or the signature';
  }
  return findSigningObstacle(scheme, method);
}

/** For a scheme without an obstacle, and a secret that is no public key. */
export function formatShellExample(input: ShellExampleInput): string {
  const { scheme, method } = input;
  const body = hasRequestBody(method) ? input.body : '';
  const request = { ...input, body };
  // The body is signed without the signature, which is known only after that.
  const bodyHoldsSignature = body.includes('{signature}');
  const signedBody = bodyHoldsSignature ? body.replace('{signature}', '') : body;
  return [
    `# export ${SECRET_VARIABLE}="$(cat file-with-the-secret)"`,
    `: "\${${SECRET_VARIABLE}:?${MISSING_SECRET_HINT}}"`,
    ...formatTimestampCommand(scheme),
    ...usesId(request) ? ['id="hookshelf-test-$(date +%s)-$$"'] : [],
    `body=${formatFilledWord(signedBody)}`,
    ...scheme.algorithm === 'token' ? formatTokenCommand(scheme) : formatHmacCommands(request),
    ...formatEscapeCommand(scheme),
    ...bodyHoldsSignature ? [`body=${formatFilledWord(body)}`] : [],
    formatCurlCommand(request),
  ].join('\n');
}

function formatTimestampCommand({ timestamp }: Scheme): string[] {
  switch (timestamp?.unit) {
    case undefined: return [];
    case 's': return ['timestamp=$(date +%s)'];
    case 'ms': return ['timestamp=$(date +%s)000'];
    case 'iso': return ['timestamp=$(date -u +%Y-%m-%dT%H:%M:%SZ)'];
    case 'http-date': return ["timestamp=$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S GMT')"];
  }
}

function usesId({ scheme, body, headers }: ShellExampleInput): boolean {
  return listSchemeHeaders(scheme, headers).some(([name]) => name === 'id')
    || 'query' in (findPlacement(scheme, 'id') ?? {})
    || /\{(?:id|token)\}/.test(scheme.content)
    || [body, ...Object.values(headers)].some((text) => text.includes('{id}'));
}

/** Sets $signature to the secret in its encoding. */
function formatTokenCommand({ signature: { encoding } }: Scheme): string[] {
  if (encoding === 'utf8') return [`signature="$${SECRET_VARIABLE}"`];
  const filter = encoding === 'hex' ? HEX_FILTER : BASE64_FILTER;
  return [`signature=$(printf '%s' "$${SECRET_VARIABLE}" | ${filter})`];
}

/** Sets $signature to the HMAC of the content, without a prefix, and $key before it if needed. */
function formatHmacCommands(request: ShellExampleInput): string[] {
  const { algorithm, key, content, signature: { encoding } } = request.scheme;
  const words = parseContent(content).map((part) => formatContentWord(part, request));
  const keyOption = key === 'utf8' ? `-hmac "$${SECRET_VARIABLE}"`
    : '-mac HMAC -macopt "hexkey:$key"';
  const digest = `openssl dgst -${algorithm.slice('hmac-'.length)} ${keyOption}`;
  const encoder = encoding === 'hex' ? `| ${DIGEST_FILTER}` : `-binary | ${BASE64_FILTER}`;
  return [
    ...formatKeyCommand(request.scheme),
    `signature=$(printf '%s' ${words.join('')} \\\n  | ${digest} ${encoder})`,
  ];
}

/**
 * Sets $key to the key in hex, unless the secret is the key as it is: bytes go through pipes, as a
 * variable cannot hold every byte.
 */
function formatKeyCommand({ key }: Scheme): string[] {
  const decode = (text: string): string => `printf '%s' "${text}" | openssl base64 -d -A`;
  if (key === 'hex') return [`key="$${SECRET_VARIABLE}"`];
  if (key === 'base64') return [`key=$(${decode(`$${SECRET_VARIABLE}`)} | ${HEX_FILTER})`];
  if (key !== 'whsec') return [];
  // The key is a Standard Webhooks secret: base64 after `whsec_`, else the text itself.
  return [
    `key=$(case "$${SECRET_VARIABLE}" in whsec_*) ${decode(`\${${SECRET_VARIABLE}#whsec_}`)};;`,
    `  *) printf '%s' "$${SECRET_VARIABLE}";; esac | ${HEX_FILTER})`,
  ];
}

function formatContentWord(part: ContentPart, request: ShellExampleInput): string {
  const { settings } = request;
  switch (part.kind) {
    case 'body': case 'plainBody': return '"$body"';
    case 'timestamp': return '"$timestamp"';
    // This token is an id, and not the secret that the algorithm `token` sends.
    case 'id': case 'token': return '"$id"';
    case 'text': return shellQuote(part.text);
    case 'url': return shellQuote(settings.url ?? '');
    case 'webhookId': return shellQuote(settings.webhookId ?? '');
    case 'formSorted': return shellQuote(readSortedForm(request));
    case 'bodyCrc32': throw new RangeError('a shell computes no CRC-32');
  }
}

function readSortedForm({ method, body, contentType }: ShellExampleInput): string {
  return new RequestReader({
    method, headers: { 'content-type': contentType }, rawHeaders: [], search: '',
    body: Buffer.from(body),
  }).sortedForm();
}

/**
 * Sets $signature anew for a place in the body or in the query: with its prefix, and escaped. A
 * header holds it as it is, with its prefix beside it.
 */
function formatEscapeCommand(scheme: Scheme): string[] {
  const source = findPlacement(scheme, 'signature');
  if (source === undefined || 'header' in source) return [];
  const filters = [
    // Signatures hold nothing that JSON would escape.
    ...'json' in source && scheme.algorithm === 'token' ? [JSON_FILTER] : [],
    ...'query' in source || 'form' in source || isJsonInForm(scheme) ? [PERCENT_FILTER] : [],
  ];
  const text = formatSignatureText(scheme);
  if (filters.length > 0) return [`signature=$(printf '%s' "${text}" | ${filters.join(' | ')})`];
  return text === '$signature' ? [] : [`signature="${text}"`];
}

/**
 * The signature with its prefix, or among pairs with the time, as it stands between double quotes;
 * a token is never among pairs.
 */
function formatSignatureText(
  { algorithm, signature: { prefix = '', param, split = ',' }, timestamp }: Scheme,
): string {
  const signature = `${quoteWithin(prefix)}$signature`;
  if (algorithm === 'token' || param === undefined) return signature;
  const timePair = timestamp?.param === undefined ? ''
    : `${quoteWithin(timestamp.param)}=$timestamp${split}`;
  return `${timePair}${quoteWithin(param)}=${signature}`;
}

/** A text as it stands between double quotes: what a shell might expand there is quoted apart. */
function quoteWithin(text: string): string {
  return text.replace(/[^\w .,:;=+/-]+/g, (characters) => `"${shellQuote(characters)}"`);
}

/**
 * A token goes to curl through a pipe, as other users could read an argument: curl runs for long.
 * The key of an HMAC is an argument of openssl, which has no other way to take a key.
 */
function formatCurlCommand(request: ShellExampleInput): string {
  const { scheme, method, contentType, headers, url } = request;
  const pipedPart = findPipedPart(scheme);
  const hasBody = hasRequestBody(method);
  const address = shellQuote(url) + formatParametersWord(scheme, url);
  const schemeHeaders = listSchemeHeaders(scheme, headers);
  const curl = [
    `curl --silent --show-error ${method === 'HEAD' ? '--head' : `--request ${method}`}`,
    ...hasBody ? [`--header ${shellQuote(`Content-Type: ${contentType}`)}`] : [],
    ...Object.entries(headers).map(([header, text]) =>
      `--header ${formatFilledWord(`${header}: ${text}`)}`),
    ...schemeHeaders.map(([name, line]) =>
      `--header ${pipedPart === 'header' && name === 'signature' ? '@-' : `"${line}"`}`),
    ...hasBody ? [pipedPart === 'body' ? '--data-binary @-' : '--data-binary "$body"'] : [],
    pipedPart === 'query' ? '--config -' : address,
  ].join(' \\\n  ');
  const [, tokenLine = ''] = schemeHeaders.find(([name]) => name === 'signature') ?? [];
  switch (pipedPart) {
    case null: return curl;
    case 'header': return `printf '%s\\n' "${tokenLine}" | ${curl}`;
    case 'body': return `printf '%s' "$body" | ${curl}`;
    case 'query': return `printf 'url = "%s"\\n' ${address} | ${curl}`;
  }
}

/** The part of the request that holds a token; null: none does. */
function findPipedPart(scheme: Scheme): 'header' | 'query' | 'body' | null {
  const source = findPlacement(scheme, 'signature');
  if (scheme.algorithm !== 'token' || source === undefined) return null;
  if (isInBody(source)) return 'body';
  return 'query' in source ? 'query' : 'header';
}

/** The lines of the headers that the scheme reads, without an id that `headers` has already. */
function listSchemeHeaders(
  scheme: Scheme, headers: ShellExampleInput['headers'],
): readonly (readonly [PlacementName, string])[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return listPlacements(scheme).flatMap(([name, source]) => {
    if (!('header' in source)) return [];
    if (name === 'id' && names.includes(source.header.toLowerCase())) return [];
    const text = name === 'signature' ? formatSignatureText(scheme) : `$${name}`;
    return [[name, `${quoteWithin(source.header)}: ${text}`] as const];
  });
}

/** The parameters that the scheme reads, as a word that continues the URL; '' without any. */
function formatParametersWord(scheme: Scheme, url: string): string {
  const parameters = listPlacements(scheme).flatMap(([name, source]) =>
    'query' in source ? [`${encodeURIComponent(source.query)}={${name}}`] : []);
  if (parameters.length === 0) return '';
  return formatFilledWord(`${url.includes('?') ? '&' : '?'}${parameters.join('&')}`);
}

/**
 * A text as a word of the shell, with variables in place of {timestamp}, {id} and {signature}:
 * quoted texts and variables side by side, without a space.
 */
function formatFilledWord(text: string): string {
  const words = text.split(/\{(timestamp|id|signature)\}/).map((piece, index) => {
    if (index % 2 === 1) return `"$${piece}"`;
    return piece === '' ? '' : shellQuote(piece);
  });
  return words.join('') || "''";
}
