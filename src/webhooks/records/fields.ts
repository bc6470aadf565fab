/**
 * A list of records filters by fields, each a row. A row says how a query names the field, how it
 * is read from a decoded record, and which column holds it. The parameters of a list, its filter,
 * and the tests of records and of their slots follow from the rows (record-list.ts).
 *
 * A filter has a criterion for each field; null stands for no criterion.
 */
import { parseTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type {
  JsonObject, MemberOption, MemberSchema, MemberSchemas, Schema,
} from '../../base/schema.ts';
import { quote } from '../../base/text/error-message.ts';
import { parseTime, timeSchema } from '../../base/time.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import { parseChoiceParameter, parseFlagParameter } from '../../server/query.ts';
import {
  SharedTextColumn, createFlagColumn, createRareTextColumn, createTimeColumn, isWithin,
  type RecordColumn, type TimeSpan,
} from './columns.ts';

type FieldQuery = ReadonlyMap<string, string>;

export interface RecordField<Item, Criterion> {
  /** The parameters of a query, by name. As members of a body they have bounds of length, too. */
  readonly parameters: Readonly<Record<string, {
    readonly description: string; readonly schema: Schema; readonly option?: MemberSchema['option'];
  }>>;
  /** null: the query has none of the parameters. Throws `malformed`. */
  parse(query: FieldQuery): Criterion | null;
  isMet(criterion: Criterion, item: Item): boolean;
  /** null: the list has a test of slots (`slotTests`). */
  readonly createColumn:
    ((itemAt: (slot: number) => Item | null) => RecordColumn<Item, Criterion>) | null;
  /**
   * Whether a change of the record may change the field: its column is then set again. Absent, as
   * in texts, flags and times below: it must not.
   */
  readonly isChanging?: boolean;
}

export type RecordFields<Item, Filter> = {
  readonly [Name in keyof Filter]-?: RecordField<Item, NonNullable<Filter[Name]>>;
};

/** A text: one that many records share, or of which most have one of their own. */
export function textField<Item>(
  name: string, description: string, read: (item: Item) => string | null,
  { maxLength = 200, isRare = false, option }: {
    readonly maxLength?: number; readonly isRare?: boolean; readonly option?: MemberOption;
  } = {},
): RecordField<Item, string> {
  return {
    parameters: {
      [name]: { description, schema: { kind: 'string', minLength: 1, maxLength }, option },
    },
    parse: (query) => parseTextOf(query, name),
    isMet: (text, item) => read(item) === text,
    createColumn: (itemAt) =>
      isRare ? createRareTextColumn(itemAt, read) : new SharedTextColumn(read),
  };
}

function parseTextOf(query: FieldQuery, name: string): string | null {
  const value = query.get(name);
  if (value !== '') return value ?? null;
  throw new AppError('malformed', `\`${name}\` must not be empty: leave it out`);
}

export function choiceField<Item, Value extends string>(
  name: string, description: string, values: readonly Value[], read: (item: Item) => Value | null,
  { isChanging = false, hasColumn = true }: {
    readonly isChanging?: boolean; readonly hasColumn?: boolean;
  } = {},
): RecordField<Item, Value> {
  return {
    parameters: {
      [name]: {
        description, schema: { kind: 'string', values },
        option: { placeholder: `<${name}>`, help: values.join(', ') },
      },
    },
    parse: (query) => parseChoiceParameter(query, name, values),
    isMet: (value, item) => read(item) === value,
    createColumn: hasColumn ? () => new SharedTextColumn(read) : null,
    isChanging,
  };
}

/** A boolean: `true` or `false` in a query. */
export function flagField<Item>(
  name: string, description: string, read: (item: Item) => boolean,
): RecordField<Item, boolean> {
  return {
    parameters: {
      [name]: { description, schema: { kind: 'boolean' }, option: { values: ['true', 'false'] } },
    },
    parse: (query) => parseFlagParameter(query, name),
    isMet: (flag, item) => read(item) === flag,
    createColumn: () => createFlagColumn(read),
  };
}

/** The time of a record, within the bounds that `since` and `until` give. */
export function timeField<Item>(
  descriptionStart: string, read: (item: Item) => string,
): RecordField<Item, TimeSpan> {
  const readMs = (item: Item): number => parseTimestamp(read(item));
  return {
    parameters: {
      since: {
        description: `${descriptionStart} at that time or later`, schema: timeSchema,
        option: {
          placeholder: '<time>',
          help: `${descriptionStart.toLowerCase()} then or later: 2026-01-31T12:00:00Z, or 1h `
            + 'before now',
        },
      },
      until: {
        description: `${descriptionStart} before that time`, schema: timeSchema,
        option: { placeholder: '<time>' },
      },
    },
    parse: (query) => {
      const span = { sinceMs: parseTimeOf(query, 'since'), untilMs: parseTimeOf(query, 'until') };
      return span.sinceMs === null && span.untilMs === null ? null : span;
    },
    isMet: (span, item) => isWithin(span, readMs(item)),
    createColumn: () => createTimeColumn(readMs),
  };
}

function parseTimeOf(query: FieldQuery, name: string): number | null {
  const value = query.get(name);
  if (value === undefined) return null;
  // A query's plus sign stands for a space, but in a time it was meant as a plus.
  const time = parseTime(value.replace(' ', '+'));
  if (time !== null) return time;
  throw new AppError('malformed', `\`${name}\` must be an RFC 3339 time such as `
    + `2026-01-31T12:00:00Z, not ${quote(value)}`);
}

/** Length bounds are left out: in a query, a text of another length matches nothing. */
export function describeQueryParameters<Filter>(
  fields: RecordFields<never, Filter>,
): readonly ParameterSpec[] {
  return parameterEntries(fields).map(([name, { schema, ...row }]) => ({
    name, in: 'query', ...row, schema: schema.kind !== 'string' ? schema
      : { kind: 'string', format: schema.format, values: schema.values },
  }));
}

export function describeBodyMembers<Filter>(
  fields: RecordFields<never, Filter>, names: readonly string[],
): MemberSchemas {
  return Object.fromEntries(parameterEntries(fields).filter(([name]) => names.includes(name)));
}

export function listParameterNames<Filter>(
  fields: RecordFields<never, Filter>,
): readonly string[] {
  return parameterEntries(fields).map(([name]) => name);
}

/** Throws `malformed`. */
export function parseFilter<Filter>(
  fields: RecordFields<never, Filter>, query: FieldQuery,
): Filter {
  return Object.fromEntries(
    fieldEntries(fields).map(([name, field]) => [name, field.parse(query)])) as Filter;
}

/** Makes the filter of a body that has members of `describeBodyMembers`. */
export function parseFilterBody<Filter>(
  fields: RecordFields<never, Filter>, body: JsonObject,
): Filter {
  const texts = Object.entries(body).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : []);
  return parseFilter(fields, new Map(texts));
}

export function createFieldTest<Item, Filter>(
  fields: RecordFields<Item, Filter>, filter: Filter,
): (item: Item) => boolean {
  const criteria = listCriteria(fields, filter);
  return (item) => criteria.every(([, field, criterion]) => field.isMet(criterion, item));
}

export function listCriteria<Item, Filter>(
  fields: RecordFields<Item, Filter>, filter: Filter,
): readonly (readonly [keyof Filter, RecordField<Item, unknown>, unknown])[] {
  return fieldEntries(fields).flatMap(([name, field]) => {
    const criterion = filter[name];
    return criterion === null ? [] : [[name, field, criterion] as const];
  });
}

export function fieldEntries<Item, Filter>(
  fields: RecordFields<Item, Filter>,
): readonly (readonly [keyof Filter, RecordField<Item, unknown>])[] {
  return Object.entries(fields) as [keyof Filter, RecordField<Item, unknown>][];
}

function parameterEntries<Filter>(fields: RecordFields<never, Filter>) {
  return fieldEntries(fields).flatMap(([, { parameters }]) => Object.entries(parameters));
}
