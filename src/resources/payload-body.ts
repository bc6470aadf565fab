/**
 * Request bodies with a member `payload`, which may be any JSON and is taken byte for byte. There
 * null is a value and not an absent member; an absent payload counts as `{}`.
 */
import { isJsonObject, parseObject } from '../base/fields.ts';
import { encodeJson } from '../base/json/encode.ts';
import { findMemberText } from '../base/json/find-member.ts';
import type { JsonObject, ObjectSchema } from '../base/schema.ts';
import { checkMediaType, findConsumedJson, parseJsonBody } from '../server/exchange/read-body.ts';
import type { Exchange } from '../server/http-route.ts';
import type { IdempotentBody } from './idempotency-keys.ts';
import { JSON_TYPE } from './route-specs.ts';

export const NO_PAYLOAD = Buffer.from('{}');

/** The members by the schema, the payload among them, and the JSON text of the payload. */
type PayloadBody = { readonly members: JsonObject; readonly payloadJson: Buffer };

/** Throws what `Exchange.readJson` throws, and `invalid`. */
export async function readPayload(exchange: Exchange, schema: ObjectSchema): Promise<PayloadBody> {
  checkMediaType(exchange.request, [JSON_TYPE]);
  const json = findConsumedJson(exchange.request);
  return json === undefined
    ? parsePayloadBytes(schema, await exchange.readBody()) : parsePayloadObject(schema, json);
}

/** `readPayload` for a body that was read before. */
export function parsePayload(schema: ObjectSchema, { json, bytes }: IdempotentBody): PayloadBody {
  return json === undefined ? parsePayloadBytes(schema, bytes) : parsePayloadObject(schema, json);
}

function parsePayloadBytes(schema: ObjectSchema, body: Buffer): PayloadBody {
  const members = parseObject(schema, parseJsonBody(body));
  return { members, payloadJson: findMemberText(body, 'payload') ?? NO_PAYLOAD };
}

function parsePayloadObject(schema: ObjectSchema, json: object): PayloadBody {
  const members = parseObject(schema, json);
  const payload = isJsonObject(json) ? json['payload'] : undefined;
  const payloadJson = payload === undefined ? NO_PAYLOAD : Buffer.from(encodeJson(payload));
  return { members, payloadJson };
}
