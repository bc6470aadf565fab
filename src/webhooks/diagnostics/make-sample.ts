/** Makes a request as the webhook's sender would, signed if the stored secret can sign. */
import { AppError } from '../../base/errors.ts';
import { invalid, isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { JSON_TYPE } from '../../resources/route-specs.ts';
import type { Preset } from '../senders/presets/preset.ts';
import { FORM_TYPE } from '../../base/text/parse-form.ts';
import {
  takesSecret, toSourceList, type Scheme, type ValueSources,
} from '../senders/scheme/scheme.ts';
import { findSigningObstacle, isInBody, listRequiredInBody } from '../senders/scheme/placement.ts';
import {
  createSigner, signSample, type SignedRequest, type SigningContext, type UnsignedRequest,
} from '../senders/signing/sign-request.ts';
import { findHeaderProblems, hasRequestBody } from '../members/target-rules.ts';
import { chooseExampleMethod } from '../incoming/call-examples.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';
import { createSenderVerifier } from '../incoming/verification-member.ts';
import {
  findJsonPath, listPlaceholders, makeCustomSample, matchHeaderName, placeInJson, toFormFields,
  withEventId, withField, withMember,
} from './sample-body.ts';
import type { SampleCall } from './diagnostic-schema.ts';
import { makeHandshake } from './make-handshake.ts';

type SampleRequest = Omit<SampleCall, 'isAddressLimited'>;

/** Each sample is an event with an id of its own, so that it is no duplicate of the one before. */
type SampleInputs = { readonly id: string; readonly atMs: number };

export function makeSample(
  webhook: ReadyIncomingWebhook, input: JsonObject, inputs: SampleInputs,
): SampleRequest {
  const { preset, verifier } = createSenderVerifier(webhook);
  const { scheme, settings, quirk } = verifier;
  const signing = { scheme, settings, quirk };
  const path = `/webhook/in/${webhook.pathSegment}`;
  if (input['handshake'] === true) {
    return makeHandshakeSample(preset, { signing, webhook, path, inputs });
  }
  if (input['event'] !== undefined && scheme.event === undefined) {
    throw new AppError('conflict', `${preset.sender} names no event in what it sends: leave the `
      + 'event out');
  }
  const method = chooseExampleMethod(webhook.methods);
  const obstacle = findSigningObstacle(scheme, method) ?? findMisfit(scheme, method, input);
  if (obstacle !== null) throw new AppError('conflict', `it cannot be tested: ${obstacle}`);
  const { headers, ...unsignedParts } = makeUnsignedParts(
    preset, scheme, webhook.eventIdSources, input, inputs.id);
  const hasBody = hasRequestBody(method);
  const signedRequest = signAsSender(preset, signing, webhook, {
    ...unsignedParts, ...hasBody ? {} : NO_BODY, ...inputs, method,
  });
  return {
    method, path: withQuery(path, signedRequest.search),
    headers: {
      ...headers, ...signedRequest.headers, ...buildEventHeader(scheme.event, headers, input),
    },
    body: hasBody ? signedRequest.body.toString('base64') : null,
  };
}

const NO_BODY = { body: Buffer.alloc(0), contentType: null };

/** Says why the payload or the event cannot be sent; null: it can. */
function findMisfit(scheme: Scheme, method: string, { payload, event }: JsonObject): string | null {
  if (hasRequestBody(method)) {
    const needsObject = listRequiredInBody(scheme).some(([, source]) => 'json' in source);
    return payload === undefined || isJsonObject(payload) || !needsObject ? null
      : 'something of the sender stands beside the payload, which must be a JSON object';
  }
  if (payload !== undefined) return `a ${method} request has no body: leave the payload out`;
  const isNamed = toSourceList(scheme.event).some((source) => !isInBody(source));
  return event === undefined || isNamed ? null
    : `a ${method} request has no body, where the event would stand: leave the event out`;
}

/** `headers` are those beside the signature. */
function makeUnsignedParts(
  preset: Preset, scheme: Scheme, eventIdSources: ReadyIncomingWebhook['eventIdSources'],
  input: JsonObject, id: string,
): Pick<UnsignedRequest, 'body' | 'contentType' | 'search'> & {
  readonly headers: Readonly<Record<string, string>>;
} {
  if (preset.scheme !== null) {
    const sample = withEventId(preset.sample, eventIdSources, id);
    return { headers: {}, search: '', ...sample, ...makePresetBody(sample, scheme, input) };
  }
  const { payload, event } = input;
  const custom = makeCustomSample(scheme, payload, event === undefined ? null : String(event));
  const { body, contentType, headers = {} } = withEventId(custom, eventIdSources, id);
  const { search } = custom;
  return { headers, search, contentType, body: Buffer.from(withTime(body, scheme, '')) };
}

type HandshakeInput = {
  readonly signing: Omit<SigningContext, 'secrets'>; readonly webhook: ReadyIncomingWebhook;
  readonly path: string; readonly inputs: SampleInputs;
};

function makeHandshakeSample(
  preset: Preset, { signing, webhook, path, inputs }: HandshakeInput,
): SampleRequest {
  const { origins: [origin = ''] = [] } = webhook.verification ?? {};
  const { secret } = webhook;
  if (takesSecret(signing.scheme) && secret === undefined) {
    throw new AppError('conflict', 'its handshake brings the secret, so that only the sender can '
      + 'ask while there is none');
  }
  const handshake = makeHandshake(signing.scheme, {
    ...signing.settings, origins: origin, ...secret === undefined ? {} : { secret },
  });
  if (handshake === null) {
    throw new AppError('conflict', `${preset.sender} asks nothing before it sends: it has no `
      + 'handshake');
  }
  const { method, search, headers, isSigned, contentType } = handshake;
  const body = Buffer.from(handshake.body ?? '');
  const signedRequest = isSigned ? signAsSender(preset, signing, webhook, {
    body, contentType, ...inputs, method, search,
  }) : { headers: {}, search, body };
  return {
    method, path: withQuery(path, signedRequest.search), headers: {
      ...handshake.body === null ? {} : { 'Content-Type': contentType }, ...headers,
      ...signedRequest.headers,
    },
    body: method === 'POST' ? signedRequest.body.toString('base64') : null,
  };
}

/** Throws `conflict` if the stored secret cannot sign. */
function signAsSender(
  { sender }: Preset, signing: Omit<SigningContext, 'secrets'>,
  { secret, verification }: ReadyIncomingWebhook, unsignedRequest: UnsignedRequest,
): SignedRequest {
  if (secret === undefined) {
    if (verification === undefined) {
      const { body, contentType, search } = unsignedRequest;
      return { headers: contentType === null ? {} : { 'Content-Type': contentType }, search, body };
    }
    throw new AppError('conflict', 'the webhook has no secret to sign with: set one');
  }
  const signer = createSigner({
    ...signing, secrets: [{ text: secret, role: 'current', validUntilMs: Infinity }],
  });
  if (!('problem' in signer)) return signSample(signer, unsignedRequest);
  throw new AppError('conflict', `only the sender can sign (${sender}), as the secret here is a `
    + 'public key or no key at all: have it send a request, or diagnose one that came');
}

function makePresetBody(
  sample: Preset['sample'], scheme: Scheme, { event, payload }: JsonObject,
): { readonly body: Buffer; readonly contentType: string } {
  const { text, contentType } = payload === undefined
    ? { text: sample.body, contentType: sample.contentType }
    : encodePayload(payload, sample, scheme);
  const textWithEvent = event === undefined ? text
    : withEvent(text, contentType, scheme.event, String(event));
  return { body: Buffer.from(withTime(textWithEvent, scheme, sample.body)), contentType };
}

function encodePayload(
  payload: JsonValue, sample: Preset['sample'], scheme: Scheme,
): { readonly text: string; readonly contentType: string } {
  const { contentType } = sample;
  if (contentType === FORM_TYPE && isJsonObject(payload)) {
    return { text: new URLSearchParams(toFormFields(payload)).toString(), contentType };
  }
  // Signing fills the placeholders of those values of the sender that the payload lacks.
  const document = isJsonObject(payload) ? placeInJson(payload, listPlaceholders(scheme)) : payload;
  return { text: encodeJson(document), contentType: JSON_TYPE };
}

/** A time in JSON becomes a number, as Linear's, unless the sample has a text, as Mailgun's. */
function withTime(body: string, { timestamp }: Scheme, sampleBody: string): string {
  const isNumber = timestamp?.unit === 's' || timestamp?.unit === 'ms';
  return !isNumber || sampleBody.includes('"{timestamp}"') ? body
    : body.replace('"{timestamp}"', '{timestamp}');
}

/** Names the event in the body, unless a header names it. */
function withEvent(
  body: string, contentType: string, sources: ValueSources | undefined, event: string,
): string {
  const list = toSourceList(sources);
  if (list.some((source) => 'header' in source)) return body;
  if (contentType === FORM_TYPE) return withField(body, list, event);
  const path = findJsonPath(sources);
  return path === null ? body : withMember(body, path, event);
}

/** The header that names the event, as the sample spells it. Throws `invalid`. */
function buildEventHeader(
  sources: ValueSources | undefined, sampleHeaders: Readonly<Record<string, string>>,
  { event }: JsonObject,
): Readonly<Record<string, string>> {
  const source = toSourceList(sources).find((one) => 'header' in one || 'cloudEvent' in one);
  if (event === undefined || source === undefined) return {};
  const name = 'header' in source ? source.header : 'ce-type';
  const header = { [matchHeaderName(sampleHeaders, name)]: String(event) };
  const [problem] = findHeaderProblems(header);
  if (problem !== undefined) throw invalid([{ ...problem, pointer: '/event' }]);
  return header;
}

function withQuery(path: string, search: string): string {
  return search === '' ? path : `${path}?${search}`;
}
