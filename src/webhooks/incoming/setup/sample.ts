/**
 * `POST /control/incoming-webhooks/{identifier}/sample`: a request as the sender would make it. On
 * the control socket alone, as who has it can call the webhook.
 */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject, parseObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue, ObjectSchema } from '../../../base/schema.ts';
import { JSON_TYPE, anyJson, pathParameter, text } from '../../../resources/route-parts.ts';
import type { Route } from '../../../server/route.ts';
import type { Collection } from '../../../store/port.ts';
import type { Preset } from '../../senders/presets/preset.ts';
import { findPreset } from '../../senders/presets/table.ts';
import { FORM_TYPE } from '../../senders/request/form.ts';
import { sourcesOf, type Scheme, type ValueSources } from '../../senders/scheme/scheme.ts';
import { makeHandshake } from '../../senders/signing/handshake.ts';
import { signRequest, type SignedCall, type Signing } from '../../senders/signing/sign.ts';
import { exampleMethod } from '../examples.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import { prepareSenderCheck } from '../verification.ts';
import type { IncomingWebhook } from '../webhook.ts';
import { getHook, getStored } from './hook.ts';

type SampleParts = {
  readonly hooks: HookIndex; readonly collection: Collection; readonly now: () => number;
};

type SampleCall = {
  /** Whether `allowedAddresses` is set, which does not apply to calls over the control socket. */
  readonly isAddressLimited: boolean;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** base64; null: it has none. */
  readonly body: string | null;
};

type SentCall = Omit<SampleCall, 'isAddressLimited'>;

const INPUT: ObjectSchema = {
  kind: 'object', name: 'SampleRequest',
  members: {
    event: { schema: text() },
    payload: { schema: anyJson() },
    handshake: { schema: { kind: 'boolean' } },
  },
};

const SAMPLE_ID = 'hookshelf-test';

export function sampleRoute({ hooks, collection, now }: SampleParts): Route {
  return {
    method: 'POST', path: '/control/incoming-webhooks/{identifier}/sample', access: 'control',
    operationId: 'makeSampleRequest', summary: 'A request as the sender would make it',
    parameters: [pathParameter('identifier', 'Of the webhook, or its path segment')],
    body: { mediaTypes: [JSON_TYPE], schema: INPUT },
    answers: [{ status: 200, description: 'Method, path, headers, and body in base64' }],
    async handle(exchange) {
      const hook = getHook(hooks, exchange.params[0] ?? '');
      const given = parseObject(INPUT, await exchange.readJson());
      const sample: SampleCall = {
        ...sampleFor(hook, getStored(collection, hook), given, now()),
        isAddressLimited: hook.addresses !== null,
      };
      exchange.sendJson(200, sample);
    },
  };
}

function sampleFor(
  hook: ReadyHook, stored: IncomingWebhook, given: JsonObject, atMs: number,
): SentCall {
  const { preset: name } = stored.verification ?? { preset: 'hookshelf' };
  const preset = findPreset(name);
  const verification = stored.verification ?? { preset: name };
  const check = prepareSenderCheck({ ...stored, verification });
  if (preset === undefined || check === null) {
    throw new AppError('conflict', `this version knows no preset ${name}`);
  }
  const { verifier: { scheme, settings, quirk } } = check;
  const signing = { scheme, settings, quirk };
  const path = `/webhook/in/${hook.pathSegment}`;
  if (given['handshake'] === true) return handshakeFor(preset, { signing, stored, path, atMs });
  const { body, contentType } = bodyFor(preset, scheme, given);
  const { headers = {} } = preset.sample;
  const signed = signedBy(preset, signing, stored, { body, contentType, atMs });
  return {
    method: exampleMethod(hook.methods), path: withQuery(path, signed.search),
    headers: { ...headers, ...signed.headers, ...eventHeader(scheme.event, headers, given) },
    body: signed.body.toString('base64'),
  };
}

type Asked = {
  readonly signing: Omit<Signing, 'secret'>; readonly stored: IncomingWebhook;
  readonly path: string; readonly atMs: number;
};

function handshakeFor(preset: Preset, { signing, stored, path, atMs }: Asked): SentCall {
  const handshake = makeHandshake(signing.scheme, signing.settings);
  if (handshake === null) {
    throw new AppError('conflict', `${preset.sender} asks nothing before it sends: it has no `
      + 'handshake');
  }
  const { method, search, isSigned } = handshake;
  const body = Buffer.from(handshake.body ?? '');
  const contentType = JSON_TYPE;
  const signed = isSigned ? signedBy(preset, signing, stored, { body, contentType, atMs }) : null;
  return {
    method, path: withQuery(path, search), headers: signed?.headers ?? {},
    body: method === 'GET' ? null : body.toString('base64'),
  };
}

/** Throws `conflict` where nothing here can sign. */
function signedBy(
  { sender }: Preset, signing: Omit<Signing, 'secret'>, { secret, verification }: IncomingWebhook,
  { body, contentType, atMs }: {
    readonly body: Buffer; readonly contentType: string; readonly atMs: number;
  },
): SignedCall {
  if (secret === undefined) {
    if (verification === undefined) {
      return { headers: { 'Content-Type': contentType }, search: '', body };
    }
    throw new AppError('conflict', 'the webhook has no secret to sign with: set one');
  }
  const unsigned = { body, contentType, id: SAMPLE_ID, atMs, search: '' };
  const signed = signRequest({ ...signing, secret }, unsigned);
  if (signed !== null) return signed;
  throw new AppError('conflict', `only the sender can sign (${sender}), as the secret here is a `
    + 'public key or no key at all: have it send a request, or diagnose one that came');
}

function bodyFor(
  { sample }: Preset, scheme: Scheme, { event, payload }: JsonObject,
): { readonly body: Buffer; readonly contentType: string } {
  const { contentType } = sample;
  if (payload === undefined) {
    return { body: Buffer.from(withEvent(sample.body, scheme.event, event)), contentType };
  }
  if (contentType === FORM_TYPE && isJsonObject(payload)) {
    const fields = Object.entries(payload).map(([name, value]): [string, string] =>
      [name, typeof value === 'string' ? value : JSON.stringify(value)]);
    return { body: Buffer.from(new URLSearchParams(fields).toString()), contentType };
  }
  const whole = isJsonObject(payload) ? withPlaceholders(payload, scheme) : payload;
  return { body: Buffer.from(JSON.stringify(whole)), contentType: JSON_TYPE };
}

/** What the sender has in the body beside the payload, to be filled in when it is signed. */
function withPlaceholders(
  payload: JsonObject, { signature, timestamp, id }: Scheme,
): JsonValue {
  const places: readonly (readonly [ValueSources | undefined, string])[] = [
    [signature.from, '{signature}'], [timestamp?.from, '{timestamp}'], [id, '{id}'],
  ];
  let whole: JsonValue = payload;
  for (const [sources, text] of places) {
    const path = jsonPath(sources);
    if (path !== null) whole = putAt(whole, path, (given) => given ?? text);
  }
  return whole;
}

/** Only where the sender names the event in the body. */
function withEvent(
  body: string, sources: ValueSources | undefined, event: JsonValue | undefined,
): string {
  const path = jsonPath(sources);
  if (event === undefined || path === null) return body;
  try {
    const parsed: unknown = JSON.parse(body);
    return isJsonObject(parsed) ? JSON.stringify(putAt(parsed, path, () => event)) : body;
  } catch {
    return body;
  }
}

function eventHeader(
  sources: ValueSources | undefined, sample: Readonly<Record<string, string>>,
  { event }: JsonObject,
): Readonly<Record<string, string>> {
  const source = sourcesOf(sources).find((one) => 'header' in one);
  if (event === undefined || source === undefined || !('header' in source)) return {};
  const { header } = source;
  const name = Object.keys(sample).find((one) => one.toLowerCase() === header.toLowerCase());
  return { [name ?? header]: String(event) };
}

/** Of the first place that is a member of the body's JSON; null where a header comes first. */
function jsonPath(sources: ValueSources | undefined): readonly string[] | null {
  const [source] = sourcesOf(sources);
  return source !== undefined && 'json' in source ? source.json.split('.') : null;
}

/** Puts what `make` gives for what stands there; an array that is not there gets one element. */
function putAt(
  target: JsonValue | undefined, [step, ...rest]: readonly string[],
  make: (given: JsonValue | undefined) => JsonValue,
): JsonValue {
  if (step === undefined) return make(target);
  if (/^\d{1,2}$/.test(step) && !isJsonObject(target)) {
    const elements = Array.isArray(target) ? target : [];
    const index = Number(step);
    const before = Array.from({ length: index }, (_, at) => elements[at] ?? null);
    return [...before, putAt(elements[index], rest, make), ...elements.slice(index + 1)];
  }
  const isEvery = step.endsWith('[]');
  const name = isEvery ? step.slice(0, -'[]'.length) : step;
  const whole = isJsonObject(target) ? target : {};
  const inner = whole[name];
  if (!isEvery) return { ...whole, [name]: putAt(inner, rest, make) };
  const elements = Array.isArray(inner) ? inner : [undefined];
  return { ...whole, [name]: elements.map((element) => putAt(element, rest, make)) };
}

function withQuery(path: string, search: string): string {
  return search === '' ? path : `${path}?${search}`;
}
