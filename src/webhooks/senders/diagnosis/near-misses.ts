/**
 * Finds the usual mistake that explains a wrong signature. It is for `diagnose` alone and must not
 * run for requests: each try costs a whole verification.
 */
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PRESETS } from '../presets/preset-table.ts';
import { createRequestReader, type RawRequest } from '../request/request-reader.ts';
import type { Scheme } from '../scheme/scheme.ts';
import { createVerifier, verify, type Quirk, type VerifierSecret } from '../verification/verify.ts';

type FailedVerification = {
  readonly scheme: Scheme;
  readonly quirk: Quirk;
  /** The name of the preset that did not match. */
  readonly preset: string;
  readonly settings: Parameters<typeof createVerifier>[0]['settings'];
  readonly secrets: readonly VerifierSecret[];
  readonly request: RawRequest;
  /** The URL that was called; null: unknown. */
  readonly url: string | null;
  readonly nowMs: number;
};

/** Longer bodies are not tried: each try would block the event loop. */
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * A sentence fragment to stand after "would match", or null. Other work has its turn between tries.
 */
export async function findNearMiss(failure: FailedVerification): Promise<string | null> {
  if (failure.request.body.length > BODY_BYTES_MAX) return null;
  for (const [finding, change] of listVariants(failure)) {
    const changedInput = change();
    if (changedInput !== null && isGenuine({ ...failure, ...changedInput })) return finding;
    await nextTurn();
  }
  return null;
}

/** `change` runs when the variant is tried, in a turn of its own; null: it changes nothing. */
type Variant = readonly [finding: string, change: () => Partial<FailedVerification> | null];
type TextVariant = readonly [finding: string, change: (text: string) => string | null];

function listVariants(failure: FailedVerification): readonly Variant[] {
  return [
    ...listSecretVariants(failure), ...listUrlVariants(failure),
    ...listBodyVariants(failure),
    ...PRESETS.flatMap(({ name, scheme, quirk = {} }): Variant[] =>
      scheme === null || name === failure.preset ? []
        : [[`if the preset were ${name}`, () => ({ scheme, quirk })]]),
  ];
}

const SECRET_CHANGES: readonly TextVariant[] = [
  ['if the secret had no white space around it', (text) => text.trim()],
  ['if the secret ended in a newline', (text) => `${text}\n`],
  ['if the secret ended in CRLF', (text) => `${text}\r\n`],
  ['if the secret ended in a space', (text) => `${text} `],
  ['if the secret began with a space', (text) => ` ${text}`],
  ['if the secret had no quotes around it', (text) => /^(["'])(.*)\1$/s.exec(text)?.[2] ?? null],
  ['if the secret had no name and = in front',
    (text) => /^[A-Za-z_]\w*=(.+)$/s.exec(text)?.[1] ?? null],
];

const KEY_FORM_CHANGES: readonly (readonly [finding: string, form: Scheme['key']])[] = [
  ['if the secret were decoded as base64', 'base64'],
  ['if the secret were decoded as hex', 'hex'],
  ['if the secret were decoded as whsec_ and base64', 'whsec'],
  ['if the secret were used as it stands', 'utf8'],
];

function listSecretVariants({ secrets, scheme, nowMs }: FailedVerification): Variant[] {
  const changedVariants = SECRET_CHANGES.map(([finding, change]): Variant => [finding, () => {
    const changedSecrets = secrets.flatMap((secret) => {
      const text = change(secret.text);
      return text === null || text === '' || text === secret.text ? [] : [{ ...secret, text }];
    });
    return changedSecrets.length === 0 ? null : { secrets: changedSecrets };
  }]);
  const expiredSecret = secrets.find(({ validUntilMs }) => validUntilMs <= nowMs);
  const until = new Date(expiredSecret?.validUntilMs ?? 0).toISOString();
  const revivedVariants: Variant[] = expiredSecret === undefined ? [] : [[
    `if the previous secret still counted: it did until ${until}`,
    () => ({ secrets: [{ ...expiredSecret, validUntilMs: Infinity }] }),
  ]];
  const isHmac = scheme.algorithm.startsWith('hmac-');
  const forms = isHmac ? KEY_FORM_CHANGES.filter(([, form]) => form !== scheme.key) : [];
  return [
    ...changedVariants, ...revivedVariants,
    ...forms.map(([finding, key]): Variant => [finding, () => ({ scheme: { ...scheme, key } })]),
  ];
}

const URL_CHANGES: readonly TextVariant[] = [
  ['if verification.url began with https', (url) => url.replace(/^http:/, 'https:')],
  ['if verification.url began with http', (url) => url.replace(/^https:/, 'http:')],
  ['if verification.url had no / at its end', (url) => url.replace(/\/$/, '')],
  ['if verification.url had a / at its end', (url) => `${url}/`],
  ['if verification.url had no query', (url) => url.split('?', 1)[0] ?? null],
];

function listUrlVariants({ scheme, settings, url: calledUrl }: FailedVerification): Variant[] {
  if (scheme.needs?.includes('url') !== true) return [];
  const { url = '' } = settings;
  const changes: readonly TextVariant[] =
    [...URL_CHANGES, ['if verification.url were the URL that was called', () => calledUrl]];
  return changes.map(([finding, change]) => [finding, () => {
    const changedUrl = change(url);
    return changedUrl === null || changedUrl === url ? null
      : { settings: { ...settings, url: changedUrl } };
  }]);
}

const BODY_CHANGES: readonly TextVariant[] = [
  ['if the body ended in CRLF', (text) => `${text.replace(/\r?\n$/, '')}\r\n`],
  ['if the body ended in a newline', (text) => `${text.replace(/\r?\n$/, '')}\n`],
  ['if the body did not end in a line break', (text) => text.replace(/\r?\n$/, '')],
  ['if its line ends were LF', (text) => text.replaceAll('\r\n', '\n')],
  ['if its line ends were CRLF',
    (text) => text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n')],
  ['if the body had no byte order mark', (text) => text.replace(/^\ufeff/, '')],
  ['if the JSON were compact: somebody wrote it again', (text) => rewriteJson(text, 0)],
  ['if the JSON were indented by 2: somebody wrote it again', (text) => rewriteJson(text, 2)],
  ['if the JSON escaped what is not ASCII: somebody wrote it again', escapeNonAscii],
  ['if the JSON did not escape what is not ASCII: somebody wrote it again', unescapeNonAscii],
  ['if the body were empty', () => ''],
];

function listBodyVariants({ scheme, request }: FailedVerification): Variant[] {
  if (request.headers['content-encoding'] !== undefined) {
    return SIGNED_BODIES.map(([finding, from, to]) => [finding, () => {
      const content = scheme.content.replace(from, to);
      return content === scheme.content ? null : { scheme: { ...scheme, content } };
    }]);
  }
  if (!isUtf8(request.body)) return [];
  const text = request.body.toString('utf8');
  return BODY_CHANGES.map(([finding, change]) => [finding, () => {
    const changedText = change(text);
    return changedText === null || changedText === text ? null
      : { request: { ...request, body: Buffer.from(changedText, 'utf8') } };
  }]);
}

/** Two placeholders of the signed content: the scheme has one, and the other would be right. */
const SIGNED_BODIES: readonly (readonly [finding: string, from: string, to: string])[] = [
  ['if the body had no Content-Encoding: the sender signs it before it is compressed, and here the '
    + 'bytes count that came. Use the preset custom with {plainBody} in place of {body}, or have '
    + 'it send without Content-Encoding', '{body}', '{plainBody}'],
  ['if {body} stood in place of {plainBody}: the sender signs the body after it is compressed',
    '{plainBody}', '{body}'],
];

function rewriteJson(text: string, indent: number): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, indent);
  } catch {
    return null;
  }
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function unescapeNonAscii(text: string): string {
  return text.replace(/\\u(?!00[0-7])([0-9a-fA-F]{4})/g,
    (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** The age is not checked: a near miss is about the signature. */
function isGenuine(
  { scheme, quirk, settings, secrets, request, nowMs }: FailedVerification,
): boolean {
  const verifier = createVerifier({ scheme, settings, secrets, quirk, toleranceS: null });
  const reader = createRequestReader(scheme, request);
  return verify({ ...verifier, toleranceMs: null, problem: null }, reader, nowMs).isGenuine;
}
