/**
 * The lines of a shell that sign a request with openssl as a sender would. The secret is read from
 * the environment. Pure.
 */
import { shellQuote } from '../../../base/text/shell-quote.ts';
import { RequestReader } from '../request/reader.ts';
import { isPublicKey, sourcesOf, type Need, type Scheme } from '../scheme/scheme.ts';
import { contentPieces, parseContent, type ContentPart } from '../verification/content.ts';

type ShellRequest = {
  readonly scheme: Scheme;
  readonly settings: Readonly<Partial<Record<Need, string>>>;
  /** Text in which {timestamp}, {id} and {signature} stand where the sender has them. */
  readonly body: string;
  readonly contentType: string;
  /** Beside the signature's own; they may hold {id} as well. */
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
};

const SECRET = 'WEBHOOK_SECRET';
const MISSING = 'must hold the secret of this webhook';

/** null: the shell cannot sign so, or only the sender can. */
export function shellCall(request: ShellRequest): string | null {
  const { scheme } = request;
  if (isPublicKey(scheme.algorithm)) return null;
  const isBodySigned = request.body.includes('{signature}');
  const signing = scheme.algorithm === 'token'
    ? tokenSteps(scheme, isBodySigned) : signingSteps(request);
  if (signing === null) return null;
  const unsignedBody = isBodySigned ? request.body.replace('{signature}', '') : request.body;
  const steps = [
    `# export ${SECRET}="$(cat file-with-the-secret)"`,
    `: "\${${SECRET}:?${MISSING}}"`,
    ...timeStep(scheme),
    ...usesId(request) ? ['id="hookshelf-test-$(date +%s)-$$"'] : [],
    `body=${filled(unsignedBody)}`,
    ...signing,
    ...isBodySigned ? [`body=${filled(request.body)}`] : [],
  ];
  return `${steps.join('\n')}\n${curlStep(request)}`;
}

function usesId({ scheme, body, headers }: ShellRequest): boolean {
  const name = firstHeader(scheme.id)?.toLowerCase();
  const isGiven = Object.keys(headers).some((header) => header.toLowerCase() === name);
  return (name !== undefined && !isGiven) || /\{(?:id|token)\}/.test(scheme.content)
    || [body, ...Object.values(headers)].some((text) => text.includes('{id}'));
}

function timeStep({ timestamp }: Scheme): string[] {
  if (timestamp === undefined) return [];
  if (timestamp.unit === 'iso') return ['timestamp=$(date -u +%Y-%m-%dT%H:%M:%SZ)'];
  return [`timestamp=$(date +%s)${timestamp.unit === 'ms' ? '000' : ''}`];
}

function tokenSteps({ signature: { encoding } }: Scheme, isInJson: boolean): string[] {
  const secret = `printf '%s' "$${SECRET}"`;
  if (encoding === 'base64') return [`signature=$(${secret} | openssl base64 -A)`];
  // There a quotation mark and a backslash are escaped.
  if (isInJson) return [`signature=$(${secret} | sed 's/[\\"]/\\\\&/g')`];
  return [`signature="$${SECRET}"`];
}

function signingSteps({ scheme, settings, body, contentType }: ShellRequest): string[] | null {
  const { algorithm, content, signature: { encoding } } = scheme;
  const parts = parseContent(content);
  if (parts.some(({ kind }) => kind === 'bodyCrc32')) return null;
  const reader = new RequestReader({
    method: 'POST', headers: { 'content-type': contentType }, rawHeaders: [], search: '',
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
function curlStep({ scheme, contentType, headers, body, url }: ShellRequest): string {
  const { signature: { from, prefix = '', param }, timestamp, algorithm } = scheme;
  const isToken = algorithm === 'token';
  const own: string[] = [];
  const at = firstHeader(timestamp?.from);
  if (at !== null) own.push(`--header "${at}: $timestamp"`);
  const id = firstHeader(scheme.id);
  const given = Object.keys(headers).map((name) => name.toLowerCase());
  if (id !== null && !given.includes(id.toLowerCase())) own.push(`--header "${id}: $id"`);
  const name = firstHeader(from);
  const pairs = timestamp?.param === undefined ? '' : `${timestamp.param}=$timestamp,`;
  const value = param === undefined ? `${prefix}$signature` : `${pairs}${param}=$signature`;
  if (name !== null) own.push(isToken ? '--header @-' : `--header "${name}: ${value}"`);
  const isBodySecret = isToken && body.includes('{signature}');
  const lines = [
    'curl --silent --show-error --request POST',
    `--header ${shellQuote(`Content-Type: ${contentType}`)}`,
    ...Object.entries(headers).map(([header, text]) =>
      `--header ${filled(`${header}: ${text}`)}`),
    ...own, isBodySecret ? '--data-binary @-' : '--data-binary "$body"', shellQuote(url),
  ];
  const curl = lines.join(' \\\n  ');
  if (isBodySecret) return `printf '%s' "$body" | ${curl}`;
  return isToken && name !== null ? `printf '%s\\n' "${name}: ${value}" | ${curl}` : curl;
}

function firstHeader(sources: Scheme['id']): string | null {
  const source = sourcesOf(sources).find((one) => 'header' in one);
  return source !== undefined && 'header' in source ? source.header : null;
}

/** A word of the shell: placeholders become variables. */
function filled(text: string): string {
  const words = text.split(/\{(timestamp|id|signature)\}/).map((piece, index) => {
    if (index % 2 === 1) return `"$${piece}"`;
    return piece === '' ? '' : shellQuote(piece);
  });
  return words.join('') || "''";
}
