/** Pieces of route descriptions: schemas, responses and parameters that many routes share. */
import { JSON_DEPTH_MAX } from '../base/json/parse.ts';
import type { ArraySchema, Schema } from '../base/schema.ts';
import type { AnswerOf, SchemaOf } from '../base/schema-types.ts';
import type { Exchange, ParameterSpec, ResponseSpec } from '../server/http-route.ts';

export const JSON_TYPE = 'application/json';

export const TEXT = { kind: 'string' } as const satisfies Schema;
export const TIME = { kind: 'string', format: 'date-time' } as const satisfies Schema;
export const COUNT = {
  kind: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER,
} as const satisfies Schema;

export const FLAG = { kind: 'boolean' } as const satisfies Schema;

/** Only the limit of bodies bounds the value: measuring it again costs as much as storing it. */
export const ANY_JSON = {
  kind: 'json', isObject: false, bytesMax: Infinity, depthMax: JSON_DEPTH_MAX,
} as const satisfies Schema;

/** Any object, in answers and where its handler checks it. */
export const JSON_OBJECT = {
  kind: 'json', isObject: true, bytesMax: Infinity, depthMax: Infinity,
} as const satisfies Schema;

export function arraySchema<const Items extends Schema>(
  items: Items,
): { readonly kind: 'array'; readonly items: Items; readonly maxItems: number } {
  return { kind: 'array', items, maxItems: Number.MAX_SAFE_INTEGER };
}

/** The counts of a time series, one for each interval. */
export const COUNTS = arraySchema(COUNT);

/** How far back counts can be read that are kept through a restart. */
export const HISTORY_WINDOWS = ['1h', '24h', '7d'] as const;
export type HistorySpan = typeof HISTORY_WINDOWS[number];

/**
 * The milliseconds of a time series, one element for each interval. An element is null if nothing
 * was counted, which our schemas cannot say.
 */
export const NULLABLE_DURATIONS: SchemaOf<readonly (number | null)[], ArraySchema> =
  arraySchema(ANY_JSON);

/** Headers in the order they came: names and values, each an array of both. */
export const HEADER_PAIRS: SchemaOf<readonly (readonly [string, string])[], ArraySchema> =
  arraySchema(arraySchema(TEXT));

/** A member of a response: its schema, and what it means where its name does not say it. */
type AnswerMember = Schema | readonly [schema: Schema, description: string];
type AnswerMembers = Readonly<Record<string, AnswerMember>>;

/** An object in a response: `nullable` members may be null, `optional` ones absent. */
export function objectSchema<
  const Members extends AnswerMembers, const Nullable extends keyof Members & string = never,
  const Optional extends keyof Members & string = never,
>(
  name: string, members: Members,
  { nullable = [], optional = [] }: {
    readonly nullable?: readonly Nullable[]; readonly optional?: readonly Optional[];
  } = {},
): SchemaOf<AnswerShape<Members, Nullable, Optional>> {
  const nullableNames = new Set<string>(nullable);
  const optionalNames = new Set<string>(optional);
  const entries = Object.entries(members).map(([member, described]) => {
    const [schema, description] = 'kind' in described ? [described] : described;
    return [member, {
      schema, description, isNullable: nullableNames.has(member),
      isRequired: !optionalNames.has(member),
    }];
  });
  return { kind: 'object', name, members: Object.fromEntries(entries) };
}

type AnswerShape<Members extends AnswerMembers, Nullable, Optional> =
  & { readonly [Name in Exclude<keyof Members, Optional>]: AnswerValue<Members, Name, Nullable> }
  & { readonly [Name in keyof Members & Optional]?: AnswerValue<Members, Name, Nullable> };
type AnswerValue<Members extends AnswerMembers, Name extends keyof Members, Nullable> =
  | AnswerOf<Members[Name] extends readonly [infer Described, string] ? Described : Members[Name]>
  | (Name extends Nullable ? null : never);

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
