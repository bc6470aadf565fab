/** Makes a sender's handshake as the sender would, for tests of one's own webhook. Pure. */
import type { JsonValue } from '../../base/schema.ts';
import { JSON_TYPE } from '../senders/presets/preset.ts';
import { FORM_TYPE } from '../../base/text/parse-form.ts';
import { isInBody } from '../senders/scheme/placement.ts';
import type { Handshake, Need, Scheme, ValueSource } from '../senders/scheme/scheme.ts';
import { encodeFormTemplate, listPlaceholders, setAtPath } from './sample-body.ts';

type SampleHandshake = {
  readonly method: Handshake['method'];
  /** Without `?`. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: the request has no body. The body holds `{signature}` where signing puts it there. */
  readonly body: string | null;
  readonly contentType: string;
  readonly isSigned: boolean;
};

/** The response must give it back. */
const SAMPLE_TOKEN = 'hookshelf-test';

/** The values that a handshake must show; `secret` is the webhook's. */
type HandshakeSettings = Readonly<Partial<Record<Need | 'origins' | 'secret', string>>>;

export function makeHandshake(scheme: Scheme, settings: HandshakeSettings): SampleHandshake | null {
  const { challenge: [handshake] = [] } = scheme;
  if (handshake === undefined) return null;
  const { method, verify } = handshake;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  const form = new URLSearchParams();
  let json: JsonValue | undefined;
  const sampleValues = [
    ...method === 'POST' && verify === 'signature'
      ? listPlaceholders(scheme).filter(({ source }) => isInBody(source))
        .map(({ source, text }) => [source, text] as const) : [],
    ...listSampleValues(handshake, settings),
  ];
  for (const [source, value] of sampleValues) {
    if ('query' in source) query.set(source.query, String(value));
    else if ('header' in source) headers[source.header] = String(value);
    else if ('form' in source) form.set(source.form, String(value));
    else if ('json' in source) json = setAtPath(json, source.json.split('.'), () => value);
  }
  return {
    method, search: query.toString(), headers, isSigned: verify === 'signature',
    ...form.size > 0 ? { body: encodeFormTemplate([...form]), contentType: FORM_TYPE }
      : { body: json === undefined ? null : JSON.stringify(json), contentType: JSON_TYPE },
  };
}

function listSampleValues(
  { when, verify, secret, answer: { body, value, headers = {} } }: Handshake,
  settings: HandshakeSettings,
): (readonly [ValueSource, string | number])[] {
  return [
    // Later values may go to the same place, and then count.
    ...when.flatMap(({ from, equals }) => equals === undefined ? [[from, SAMPLE_TOKEN] as const]
      : []),
    ...typeof body === 'object' ? [[body, SAMPLE_TOKEN] as const] : [],
    ...value === undefined ? [] : [[value, SAMPLE_TOKEN] as const],
    ...Object.values(headers).flatMap((header) =>
      typeof header === 'string' ? [] : [[header, SAMPLE_TOKEN] as const]),
    ...secret === undefined ? [] : [[secret, settings.secret ?? ''] as const],
    ...typeof verify === 'object' ? [[verify.from, settings[verify.setting] ?? ''] as const] : [],
    ...when.flatMap(({ from, equals }) => equals === undefined || equals === null ? []
      : [[from, equals] as const]),
  ];
}
