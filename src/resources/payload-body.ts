/**
 * Request bodies with a member `payload`, which may be any JSON and is taken byte for byte. There
 * null is a value and not an absent member; an absent payload counts as `{}`.
 */
import { parseObject } from '../base/fields.ts';
import { findMemberText } from '../base/json/find-member.ts';
import type { JsonObject, ObjectSchema } from '../base/schema.ts';
import { parseJsonBody } from '../server/exchange/read-body.ts';
import type { Exchange } from '../server/http-route.ts';

export const NO_PAYLOAD = Buffer.from('{}');

/** The members by the schema, the payload among them, and the JSON text of the payload. */
type PayloadBody = { readonly members: JsonObject; readonly payloadJson: Buffer };

/** Throws what `Exchange.readJson` throws, and `invalid`. */
export async function readPayload(exchange: Exchange, schema: ObjectSchema): Promise<PayloadBody> {
  return parsePayload(schema, await exchange.readJsonBytes());
}

/** `readPayload` for a body that was read before. */
export function parsePayload(schema: ObjectSchema, body: Buffer): PayloadBody {
  const members = parseObject(schema, parseJsonBody(body));
  return { members, payloadJson: findMemberText(body, 'payload') ?? NO_PAYLOAD };
}
