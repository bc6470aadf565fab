/** Pieces of route descriptions: schemas, responses and parameters that many routes share. */
import { JSON_DEPTH_MAX } from '../base/json/parse.ts';
import type { ObjectSchema, Schema } from '../base/schema.ts';
import type { Exchange, ParameterSpec, ResponseSpec } from '../server/http-route.ts';

export const JSON_TYPE = 'application/json';

export const TEXT = { kind: 'string' } as const satisfies Schema;
export const TIME = { kind: 'string', format: 'date-time' } as const satisfies Schema;
export const COUNT = {
  kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER,
} as const satisfies Schema;

/** Only the limit of bodies bounds it: measuring it again would cost as much as storing it. */
export const ANY_JSON: Schema =
  { kind: 'json', isObject: false, bytesMax: Infinity, depthMax: JSON_DEPTH_MAX };

export function arraySchema(items: Schema): Schema {
  return { kind: 'array', items, maxItems: Number.MAX_SAFE_INTEGER };
}

/** An object in a response: `nullable` members may be null, `optional` ones absent. */
export function objectSchema(
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

export function jsonResponse(description: string, schema: Schema, status = 200): ResponseSpec {
  return { status, description, mediaType: JSON_TYPE, schema };
}

/** A list in pages; `count` describes what `X-Total-Count` counts. */
export function pagedListResponse(description: string, items: Schema, count: string): ResponseSpec {
  return {
    ...jsonResponse(description, arraySchema(items)),
    headers: {
      'X-Total-Count': count, Link: 'The next page, `rel="next"`, while there is more',
    },
  };
}

/** A list that is too short to need pages, as `sendList` sends it. */
export function listResponse(description: string, items: Schema): ResponseSpec {
  return { ...jsonResponse(description, arraySchema(items)), headers: LIST_HEADERS };
}

export const LIST_HEADERS = { 'X-Total-Count': 'How many there are' };

export function sendList(exchange: Exchange, items: readonly unknown[]): void {
  exchange.sendJson(200, items, ['X-Total-Count', String(items.length)]);
}

export function pathParameter(name: string, description: string): ParameterSpec {
  return { name, in: 'path', description, schema: TEXT, isRequired: true };
}
