/** What the tables of this room's routes are put together from. */
import { isJsonObject, parseObject } from '../base/fields.ts';
import { findMemberText } from '../base/json/member.ts';
import { JSON_DEPTH_MAX } from '../base/json/parse.ts';
import type { JsonObject, ObjectSchema, Schema } from '../base/schema.ts';
import { checkMediaType, parseJsonBody } from '../server/exchange/read-body.ts';
import { findConsumedJson } from '../server/exchange/mounting.ts';
import type { ResponseSpec, Exchange, ParameterSpec } from '../server/http-route.ts';
import type { GivenBody } from './idempotency.ts';

export const JSON_TYPE = 'application/json';
export const NO_PAYLOAD = Buffer.from('{}');

/** Bounded by the limit of bodies alone: measuring it again would cost as much as storing it. */
export function anyJson(): Schema {
  return { kind: 'json', isObject: false, bytesMax: Infinity, depthMax: JSON_DEPTH_MAX };
}

export function arrayOf(items: Schema): Schema {
  return { kind: 'array', items, maxItems: Number.MAX_SAFE_INTEGER };
}

export function text(): Schema {
  return { kind: 'string' };
}

/** Part of an answer: `nullable` members may be shown as null, `optional` ones not at all. */
export function objectOf(
  name: string, members: Readonly<Record<string, Schema>>,
  { nullable = [], optional = [] }: {
    readonly nullable?: readonly string[]; readonly optional?: readonly string[];
  } = {},
): ObjectSchema {
  const entries = Object.entries(members).map(([member, schema]) => [member, {
    schema, isNullable: nullable.includes(member), isRequired: !optional.includes(member),
  }]);
  return { kind: 'object', name, members: Object.fromEntries(entries) };
}

export function shown(description: string, schema: Schema, status = 200): ResponseSpec {
  return { status, description, mediaType: JSON_TYPE, schema };
}

/** A list in pages; `count` says what `X-Total-Count` counts. */
export function listed(description: string, items: Schema, count: string): ResponseSpec {
  return {
    ...shown(description, arrayOf(items)),
    headers: {
      'X-Total-Count': count, Link: 'The next page, `rel="next"`, while there is more',
    },
  };
}

/** A list that has no pages, as it is short: see `sendWholeList`. */
export function wholeList(description: string, items: Schema): ResponseSpec {
  return { ...shown(description, arrayOf(items)), headers: WHOLE_LIST_HEADERS };
}

export const WHOLE_LIST_HEADERS = { 'X-Total-Count': 'How many there are' };

export function sendWholeList(exchange: Exchange, items: readonly unknown[]): void {
  exchange.sendJson(200, items, ['X-Total-Count', String(items.length)]);
}

export function pathParameter(name: string, description: string): ParameterSpec {
  return { name, in: 'path', description, schema: { kind: 'string' }, isRequired: true };
}

/**
 * A body by its table, and the JSON text of the payload in it, byte for byte. That may be any JSON:
 * there null is a value, not an absent member, which counts as {}.
 */
export async function readPayload(exchange: Exchange, schema: ObjectSchema): Promise<PayloadRead> {
  checkMediaType(exchange.request, [JSON_TYPE]);
  const parsed = findConsumedJson(exchange.request);
  return parsed === undefined
    ? payloadIn(schema, await exchange.readBody()) : payloadOf(schema, parsed);
}

/** `readPayload` for a body that was read before. */
export function parsePayload(schema: ObjectSchema, { parsed, bytes }: GivenBody): PayloadRead {
  return parsed === undefined ? payloadIn(schema, bytes) : payloadOf(schema, parsed);
}

type PayloadRead = { readonly members: JsonObject; readonly payloadJson: Buffer };

function payloadIn(schema: ObjectSchema, body: Buffer): PayloadRead {
  const members = parseObject(schema, parseJsonBody(body));
  return { members, payloadJson: findMemberText(body, 'payload') ?? NO_PAYLOAD };
}

function payloadOf(schema: ObjectSchema, parsed: object): PayloadRead {
  const members = parseObject(schema, parsed);
  const payload = isJsonObject(parsed) ? parsed['payload'] : undefined;
  const payloadJson = payload === undefined ? NO_PAYLOAD : Buffer.from(JSON.stringify(payload));
  return { members, payloadJson };
}
