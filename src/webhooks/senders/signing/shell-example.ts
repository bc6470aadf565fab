/**
 * Formats shell commands that sign and send a request as the sender would, with openssl and curl.
 * They read the secret from the environment. Pure.
 *
 * A word here is one of the shell: quoted text and variables, side by side without a space. The
 * commands set $timestamp, $id, $body and $signature, where the scheme uses them.
 */
import { shellQuote } from '../../../base/text/shell-quote.ts';
import { hasRequestBody } from '../../http/target-rules.ts';
import { RequestReader } from '../request/request-reader.ts';
import type { Need, Scheme } from '../scheme/scheme.ts';
import { collectPieces, parseContent, type ContentPart } from '../verification/signed-content.ts';
import {
  findSigningObstacle, isJsonInForm, findPlacement, listPlacements, type PlacementName,
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
  /** The headers beside those of the signature; they may hold {id} as well. */
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
};

const SECRET_VARIABLE = 'WEBHOOK_SECRET';
const HEX_FILTER = "od -An -v -tx1 | tr -d ' \\n'";
const MISSING_SECRET_HINT = 'must hold the secret of this webhook';

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
export function formatShellExample(request: ShellExampleInput): string {
  const { scheme, method } = request;
  const body = hasRequestBody(method) ? request.body : '';
  const holdsSignature = body.includes('{signature}');
  const steps = [
    `# export ${SECRET_VARIABLE}="$(cat file-with-the-secret)"`,
    `: "\${${SECRET_VARIABLE}:?${MISSING_SECRET_HINT}}"`,
    ...formatTimeStep(scheme),
    ...usesId(request) ? ['id="hookshelf-test-$(date +%s)-$$"'] : [],
    `body=${quoteWithVariables(holdsSignature ? body.replace('{signature}', '') : body)}`,
    ...scheme.algorithm === 'token' ? formatTokenSteps(scheme)
      : formatSigningSteps({ ...request, body }),
    ...formatPlacementSteps(scheme),
    // Again, with the signature, which is known only now: what is signed is the body without it.
    ...holdsSignature ? [`body=${quoteWithVariables(body)}`] : [],
  ];
  return `${steps.join('\n')}\n${formatCurlStep({ ...request, body })}`;
}

function usesId({ scheme, body, headers }: ShellExampleInput): boolean {
  return listSchemeHeaders(scheme, headers).some(([name]) => name === 'id')
    || 'query' in (findPlacement(scheme, 'id') ?? {})
    || /\{(?:id|token)\}/.test(scheme.content)
    || [body, ...Object.values(headers)].some((text) => text.includes('{id}'));
}

function formatTimeStep({ timestamp }: Scheme): string[] {
  if (timestamp === undefined) return [];
  if (timestamp.unit === 'iso') return ['timestamp=$(date -u +%Y-%m-%dT%H:%M:%SZ)'];
  if (timestamp.unit === 'http-date') {
    return ["timestamp=$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S GMT')"];
  }
  return [`timestamp=$(date +%s)${timestamp.unit === 'ms' ? '000' : ''}`];
}

function formatTokenSteps({ signature: { encoding } }: Scheme): string[] {
  if (encoding === 'utf8') return [`signature="$${SECRET_VARIABLE}"`];
  const filter = encoding === 'hex' ? HEX_FILTER : 'openssl base64 -A';
  return [`signature=$(printf '%s' "$${SECRET_VARIABLE}" | ${filter})`];
}

/** Formats the signature for its place in the body or in the query. */
function formatPlacementSteps(scheme: Scheme): string[] {
  const source = findPlacement(scheme, 'signature');
  if (source === undefined || 'header' in source) return [];
  const isJsonEscaped = 'json' in source && scheme.algorithm === 'token';
  const isPercentEncoded = 'query' in source || 'form' in source || isJsonInForm(scheme);
  const filters = [
    // JSON escapes quotation marks and backslashes.
    ...isJsonEscaped ? [String.raw`sed 's/[\"]/\\&/g'`] : [],
    ...isPercentEncoded ? [String.raw`od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'`] : [],
  ];
  const value = formatSignatureWord(scheme);
  if (filters.length > 0) return [`signature=$(printf '%s' "${value}" | ${filters.join(' | ')})`];
  return value === '$signature' ? [] : [`signature="${value}"`];
}

/** The signature with its prefix, or among pairs with the time; a token is never among pairs. */
function formatSignatureWord(
  { algorithm, signature: { prefix = '', param, split = ',' }, timestamp }: Scheme,
): string {
  if (algorithm === 'token' || param === undefined) return `${prefix}$signature`;
  const pairs = timestamp?.param === undefined ? '' : `${timestamp.param}=$timestamp${split}`;
  return `${pairs}${param}=${prefix}$signature`;
}

function formatSigningSteps(
  { scheme, settings, method, body, contentType }: ShellExampleInput,
): string[] {
  const { algorithm, content, signature: { encoding } } = scheme;
  const parts = parseContent(content);
  const reader = new RequestReader({
    method, headers: { 'content-type': contentType }, rawHeaders: [], search: '',
    body: Buffer.from(body),
  });
  // `formatWord` asks only for the text of constant parts, so time, id and body may be empty here.
  const words = parts.map((part) => formatWord(part, () => collectPieces([part], {
    url: settings.url ?? '', webhookId: settings.webhookId ?? '', body: Buffer.alloc(0),
    timestamp: '', id: '', reader,
  }).join('')));
  const digest = `openssl dgst -${algorithm.slice('hmac-'.length)} ${formatKeyOption(scheme)}`;
  // `sed` strips the name that openssl prints before a digest in hex, as in `SHA256(stdin)= `.
  const shape = encoding === 'hex' ? "| sed 's/^.*= *//'" : '-binary | openssl base64 -A';
  return [
    ...formatKeyStep(scheme),
    `signature=$(printf '%s' ${words.join('')} \\\n  | ${digest} ${shape})`,
  ];
}

/** `{token}` in a content is the id, not the secret that `algorithm: token` sends. */
function formatWord(part: ContentPart, literal: () => string): string {
  switch (part.kind) {
    case 'body': return '"$body"';
    case 'timestamp': return '"$timestamp"';
    case 'id': case 'token': return '"$id"';
    default: return shellQuote(literal());
  }
}

function formatKeyOption({ key }: Scheme): string {
  return key === 'utf8' ? `-hmac "$${SECRET_VARIABLE}"` : '-mac HMAC -macopt "hexkey:$key"';
}

// Decoded bytes go through pipes, as a shell variable cannot hold every byte.
function formatKeyStep({ key }: Scheme): string[] {
  if (key === 'utf8') return [];
  if (key === 'hex') return [`key="$${SECRET_VARIABLE}"`];
  const base64 = (text: string): string => `printf '%s' "${text}" | openssl base64 -d -A`;
  if (key === 'base64') return [`key=$(${base64(`$${SECRET_VARIABLE}`)} | ${HEX_FILTER})`];
  // The key is a Standard Webhooks secret: base64 after `whsec_`, else the text itself.
  return [
    `key=$(case "$${SECRET_VARIABLE}" in whsec_*) ${base64(`\${${SECRET_VARIABLE}#whsec_}`)};;`,
    `  *) printf '%s' "$${SECRET_VARIABLE}";; esac | ${HEX_FILTER})`,
  ];
}

// A token goes to curl through a pipe, as other users could read an argument: curl runs for long.
// The key of an HMAC is an argument of openssl, which has no other way to take one.
function formatCurlStep(
  { scheme, method, contentType, headers, body, url }: ShellExampleInput,
): string {
  const isToken = scheme.algorithm === 'token';
  const isSecret = (name: PlacementName): boolean => isToken && name === 'signature';
  const isBodySecret = isToken && body.includes('{signature}');
  const isQuerySecret = isToken && 'query' in (findPlacement(scheme, 'signature') ?? {});
  const hasBody = hasRequestBody(method);
  const address = shellQuote(url) + formatParameters(scheme, url);
  const schemeHeaders = listSchemeHeaders(scheme, headers);
  const lines = [
    `curl --silent --show-error ${method === 'HEAD' ? '--head' : `--request ${method}`}`,
    ...hasBody ? [`--header ${shellQuote(`Content-Type: ${contentType}`)}`] : [],
    ...Object.entries(headers).map(([header, text]) =>
      `--header ${quoteWithVariables(`${header}: ${text}`)}`),
    ...schemeHeaders.map(([name, line]) => `--header ${isSecret(name) ? '@-' : `"${line}"`}`),
    ...hasBody ? [isBodySecret ? '--data-binary @-' : '--data-binary "$body"'] : [],
    isQuerySecret ? '--config -' : address,
  ];
  const curl = lines.join(' \\\n  ');
  if (isBodySecret) return `printf '%s' "$body" | ${curl}`;
  if (isQuerySecret) return `printf 'url = "%s"\\n' ${address} | ${curl}`;
  const [, secretLine] = schemeHeaders.find(([name]) => isSecret(name)) ?? [];
  return secretLine === undefined ? curl : `printf '%s\\n' "${secretLine}" | ${curl}`;
}

/** The header lines that the scheme reads, without an id that `headers` has already. */
function listSchemeHeaders(
  scheme: Scheme, headers: ShellExampleInput['headers'],
): readonly (readonly [PlacementName, string])[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return listPlacements(scheme).flatMap(([name, source]) => {
    if (!('header' in source)) return [];
    if (name === 'id' && names.includes(source.header.toLowerCase())) return [];
    const value = name === 'signature' ? formatSignatureWord(scheme) : `$${name}`;
    return [[name, `${source.header}: ${value}`] as const];
  });
}

/** The parameters that the scheme reads, to stand after the URL. */
function formatParameters(scheme: Scheme, url: string): string {
  const parameters = listPlacements(scheme).flatMap(([name, source]) =>
    'query' in source ? [`${encodeURIComponent(source.query)}={${name}}`] : []);
  if (parameters.length === 0) return '';
  return quoteWithVariables(`${url.includes('?') ? '&' : '?'}${parameters.join('&')}`);
}

/** A quoted word of the shell in which placeholders become variables. */
function quoteWithVariables(text: string): string {
  const words = text.split(/\{(timestamp|id|signature)\}/).map((piece, index) => {
    if (index % 2 === 1) return `"$${piece}"`;
    return piece === '' ? '' : shellQuote(piece);
  });
  return words.join('') || "''";
}
