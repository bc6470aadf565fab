/**
 * The lines of a shell that sign a request with openssl as a sender would. The secret is read from
 * the environment. Pure.
 */
import { shellQuote } from '../../../base/text/shell-quote.ts';
import { hasRequestBody } from '../../http/target.ts';
import { RequestReader } from '../request/reader.ts';
import type { Need, Scheme } from '../scheme/scheme.ts';
import { contentPieces, parseContent, type ContentPart } from '../verification/content.ts';
import {
  findObstacle, isJsonInForm, placeOf, placesIn, type PlacedName,
} from './placement.ts';

type ShellRequest = {
  readonly scheme: Scheme;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  readonly method: string;
  /**
   * Text in which {timestamp}, {id} and {signature} stand where the sender has them; left out where
   * the method has no body.
   */
  readonly body: string;
  readonly contentType: string;
  /** Beside the signature's own; they may hold {id} as well. */
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
};

const SECRET = 'WEBHOOK_SECRET';
const MISSING = 'must hold the secret of this webhook';

/** Why the shell cannot make such a call, although our secret signs; null: it can. */
export function findShellObstacle(scheme: Scheme, method: string): string | null {
  const { content } = scheme;
  if (content.includes('{bodyCrc32}')) return 'a shell has nothing that computes a CRC-32';
  const hasFields = placesIn(scheme).some(([, source]) => 'form' in source);
  if (content.includes('{formSorted}') && hasFields) {
    return 'a shell cannot sort a form that its own values stand in';
  }
  return findObstacle(scheme, method);
}

/** Where `findShellObstacle` finds none, and the secret is no public key. */
export function shellCall(request: ShellRequest): string {
  const { scheme, method } = request;
  const body = hasRequestBody(method) ? request.body : '';
  const isBodySigned = body.includes('{signature}');
  const steps = [
    `# export ${SECRET}="$(cat file-with-the-secret)"`,
    `: "\${${SECRET}:?${MISSING}}"`,
    ...timeStep(scheme),
    ...usesId(request) ? ['id="hookshelf-test-$(date +%s)-$$"'] : [],
    `body=${filled(isBodySigned ? body.replace('{signature}', '') : body)}`,
    ...scheme.algorithm === 'token' ? tokenSteps(scheme) : signingSteps({ ...request, body }),
    ...placedSteps(scheme),
    ...isBodySigned ? [`body=${filled(body)}`] : [],
  ];
  return `${steps.join('\n')}\n${curlStep({ ...request, body })}`;
}

function usesId({ scheme, body, headers }: ShellRequest): boolean {
  return ownHeaders(scheme, headers).some(([name]) => name === 'id')
    || 'query' in (placeOf(scheme, 'id') ?? {})
    || /\{(?:id|token)\}/.test(scheme.content)
    || [body, ...Object.values(headers)].some((text) => text.includes('{id}'));
}

function timeStep({ timestamp }: Scheme): string[] {
  if (timestamp === undefined) return [];
  if (timestamp.unit === 'iso') return ['timestamp=$(date -u +%Y-%m-%dT%H:%M:%SZ)'];
  return [`timestamp=$(date +%s)${timestamp.unit === 'ms' ? '000' : ''}`];
}

function tokenSteps({ signature: { encoding } }: Scheme): string[] {
  return [encoding === 'base64' ? `signature=$(printf '%s' "$${SECRET}" | openssl base64 -A)`
    : `signature="$${SECRET}"`];
}

/** Makes of the signature the text that stands in the body or in the query. */
function placedSteps(scheme: Scheme): string[] {
  const place = placeOf(scheme, 'signature');
  if (place === undefined || 'header' in place) return [];
  const isEscaped = 'json' in place && scheme.algorithm === 'token';
  const isEncoded = !('json' in place) || isJsonInForm(scheme);
  const filters = [
    // In JSON a quotation mark and a backslash are escaped.
    ...isEscaped ? [String.raw`sed 's/[\"]/\\&/g'`] : [],
    ...isEncoded ? [String.raw`od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'`] : [],
  ];
  const value = signatureWord(scheme);
  if (filters.length > 0) return [`signature=$(printf '%s' "${value}" | ${filters.join(' | ')})`];
  return value === '$signature' ? [] : [`signature="${value}"`];
}

/** With its prefix, or among pairs with the time. */
function signatureWord({ signature: { prefix = '', param }, timestamp }: Scheme): string {
  if (param === undefined) return `${prefix}$signature`;
  const pairs = timestamp?.param === undefined ? '' : `${timestamp.param}=$timestamp,`;
  return `${pairs}${param}=$signature`;
}

function signingSteps({ scheme, settings, method, body, contentType }: ShellRequest): string[] {
  const { algorithm, content, signature: { encoding } } = scheme;
  const parts = parseContent(content);
  const reader = new RequestReader({
    method, headers: { 'content-type': contentType }, rawHeaders: [], search: '',
    body: Buffer.from(body),
  });
  const words = parts.map((part) => wordOf(part, () => contentPieces([part], {
    url: settings.url ?? '', webhookId: settings.webhookId ?? '', body: Buffer.alloc(0),
    timestamp: '', id: '', parts: reader,
  }).join('')));
  const digest = `openssl dgst -${algorithm.slice('hmac-'.length)} ${keyOption(scheme)}`;
  const shape = encoding === 'hex' ? "| sed 's/^.*= *//'" : '-binary | openssl base64 -A';
  return [
    ...keyStep(scheme),
    `signature=$(printf '%s' ${words.join('')} \\\n  | ${digest} ${shape})`,
  ];
}

function wordOf(part: ContentPart, literal: () => string): string {
  switch (part.kind) {
    case 'body': return '"$body"';
    case 'timestamp': return '"$timestamp"';
    case 'id': case 'token': return '"$id"';
    default: return shellQuote(literal());
  }
}

function keyOption({ key }: Scheme): string {
  return key === 'utf8' ? `-hmac "$${SECRET}"` : '-mac HMAC -macopt "hexkey:$key"';
}

// What is decoded goes through pipes: a variable of a shell cannot hold every byte.
function keyStep({ key }: Scheme): string[] {
  if (key === 'utf8') return [];
  if (key === 'hex') return [`key="$${SECRET}"`];
  const hex = "od -An -v -tx1 | tr -d ' \\n'";
  const base64 = (text: string): string => `printf '%s' "${text}" | openssl base64 -d -A`;
  if (key === 'base64') return [`key=$(${base64(`$${SECRET}`)} | ${hex})`];
  return [
    `key=$(case "$${SECRET}" in whsec_*) ${base64(`\${${SECRET}#whsec_}`)};;`,
    `  *) printf '%s' "$${SECRET}";; esac | ${hex})`,
  ];
}

// What holds a secret goes in through a pipe: other users could read an argument.
function curlStep({ scheme, method, contentType, headers, body, url }: ShellRequest): string {
  const isToken = scheme.algorithm === 'token';
  const isSecret = (name: PlacedName): boolean => isToken && name === 'signature';
  const isBodySecret = isToken && body.includes('{signature}');
  const isQuerySecret = isToken && 'query' in (placeOf(scheme, 'signature') ?? {});
  const hasBody = hasRequestBody(method);
  const address = shellQuote(url) + parameterWords(scheme, url);
  const own = ownHeaders(scheme, headers);
  const lines = [
    `curl --silent --show-error ${method === 'HEAD' ? '--head' : `--request ${method}`}`,
    ...hasBody ? [`--header ${shellQuote(`Content-Type: ${contentType}`)}`] : [],
    ...Object.entries(headers).map(([header, text]) =>
      `--header ${filled(`${header}: ${text}`)}`),
    ...own.map(([name, line]) => `--header ${isSecret(name) ? '@-' : `"${line}"`}`),
    ...hasBody ? [isBodySecret ? '--data-binary @-' : '--data-binary "$body"'] : [],
    isQuerySecret ? '--config -' : address,
  ];
  const curl = lines.join(' \\\n  ');
  if (isBodySecret) return `printf '%s' "$body" | ${curl}`;
  if (isQuerySecret) return `printf 'url = "%s"\\n' ${address} | ${curl}`;
  const [, secretLine] = own.find(([name]) => isSecret(name)) ?? [];
  return secretLine === undefined ? curl : `printf '%s\\n' "${secretLine}" | ${curl}`;
}

/** The header lines of what the scheme looks into, but for an id that `given` has already. */
function ownHeaders(
  scheme: Scheme, given: ShellRequest['headers'],
): readonly (readonly [PlacedName, string])[] {
  const names = Object.keys(given).map((name) => name.toLowerCase());
  return placesIn(scheme).flatMap(([name, source]) => {
    if (!('header' in source)) return [];
    if (name === 'id' && names.includes(source.header.toLowerCase())) return [];
    const value = name === 'signature' ? signatureWord(scheme) : `$${name}`;
    return [[name, `${source.header}: ${value}`] as const];
  });
}

/** The parameters that the scheme looks into, to stand behind the URL. */
function parameterWords(scheme: Scheme, url: string): string {
  const parameters = placesIn(scheme).flatMap(([name, source]) =>
    'query' in source ? [`${encodeURIComponent(source.query)}={${name}}`] : []);
  if (parameters.length === 0) return '';
  return filled(`${url.includes('?') ? '&' : '?'}${parameters.join('&')}`);
}

/** A word of the shell: placeholders become variables. */
function filled(text: string): string {
  const words = text.split(/\{(timestamp|id|signature)\}/).map((piece, index) => {
    if (index % 2 === 1) return `"$${piece}"`;
    return piece === '' ? '' : shellQuote(piece);
  });
  return words.join('') || "''";
}
