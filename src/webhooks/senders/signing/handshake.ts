/** Makes a sender's handshake as the sender would, for tests of one's own webhook. Pure. */
import type { Challenge, Need, Scheme, ValueSource } from '../scheme/scheme.ts';

type Handshake = {
  readonly method: 'GET' | 'POST' | 'OPTIONS';
  /** The raw query without `?`. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: the request has no body. */
  readonly body: string | null;
  readonly isSigned: boolean;
};

/** The value that the response must give back. */
const SAMPLE_TOKEN = 'hookshelf-test';

/** The values that a handshake must show; `origins` is one of them. */
type HandshakeSettings = Readonly<Partial<Record<Need | 'origins', string>>>;

/** null: the sender makes no handshake. */
export function makeHandshake(
  { challenge: [challenge] = [] }: Scheme, settings: HandshakeSettings,
): Handshake | null {
  if (challenge === undefined) return null;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  const json: Record<string, unknown> = {};
  for (const [source, value] of listSampleValues(challenge, settings)) {
    if ('query' in source) query.set(source.query, String(value));
    else if ('header' in source) headers[source.header] = String(value);
    else if ('json' in source) setMember(json, source.json.split('.'), value);
  }
  const { method, verify } = challenge;
  return {
    method, search: query.toString(), headers, isSigned: verify === 'signature',
    body: Object.keys(json).length > 0 ? JSON.stringify(json) : null,
  };
}

function listSampleValues(
  { when, verify, answer: { body, value } }: Challenge,
  settings: HandshakeSettings,
): (readonly [ValueSource, string | number])[] {
  return [
    ...typeof body === 'object' ? [[body, SAMPLE_TOKEN] as const] : [],
    ...value === undefined ? [] : [[value, SAMPLE_TOKEN] as const],
    ...typeof verify === 'object' ? [[verify.from, settings[verify.setting] ?? ''] as const] : [],
    ...when.flatMap(({ from, equals }) => equals === undefined || equals === null ? []
      : [[from, equals] as const]),
  ];
}

function setMember(
  target: Record<string, unknown>, steps: readonly string[], value: unknown,
): void {
  const [step = '', ...rest] = steps;
  if (rest.length === 0) {
    target[step] = value;
    return;
  }
  const inner: Record<string, unknown> = {};
  setMember(inner, rest, value);
  target[step] = inner;
}
