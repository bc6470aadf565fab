/**
 * A list of records filters by fields, each a row. A row says how a query names the field, how it
 * is read from a record as it is stored, and which column holds it. The parameters of a list, its
 * filter, and the tests of records and of their slots follow from the rows (record-list.ts).
 *
 * A filter has a criterion for each field; null stands for no criterion.
 */
import { AppError } from '../../base/errors.ts';
import type { JsonObject, StringSchema } from '../../base/schema.ts';
import { quote } from '../../base/text/error-message.ts';
import { parseTime, timeSchema } from '../../base/time.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import { parseChoiceParameter } from '../../server/query.ts';
import type { Collection, FindRecord } from '../../store/store-port.ts';
import {
  FlagColumn, RareTextColumn, SharedTextColumn, TimeColumn, isWithin, type RecordColumn,
  type TimeSpan,
} from './columns.ts';

type FieldQuery = ReadonlyMap<string, string>;

/** Reads what a field has of a record. */
type Read<Value> = (record: Buffer, id: string, find: FindRecord) => Value;

export interface RecordField<Criterion> {
  /** The parameters of a query, by name. As members of a body they have bounds of length, too. */
  readonly parameters: Readonly<Record<string, {
    readonly description: string; readonly schema: StringSchema;
  }>>;
  /** null: the query has none of the parameters. Throws `malformed`. */
  parse(query: FieldQuery): Criterion | null;
  isMet(criterion: Criterion, record: Buffer, id: string, find: FindRecord): boolean;
  /** null: the list knows by itself which slots meet a criterion. */
  readonly createColumn:
    ((collection: Collection, find: FindRecord) => RecordColumn<Criterion>) | null;
  /** Whether the field of a record changes. */
  readonly isChanging?: boolean;
}

export type RecordFields<Filter> = {
  readonly [Name in keyof Filter]-?: RecordField<NonNullable<Filter[Name]>>;
};

/** A text: one that many records share, or of which most have one of their own. */
export function textField(
  name: string, description: string, read: Read<string | null>,
  { maxLength = 200, isRare = false }: {
    readonly maxLength?: number; readonly isRare?: boolean;
  } = {},
): RecordField<string> {
  return {
    parameters: { [name]: { description, schema: { kind: 'string', minLength: 1, maxLength } } },
    parse: (query) => query.get(name) ?? null,
    isMet: (text, record, id, find) => read(record, id, find) === text,
    createColumn: (collection, find) => {
      const readText = (record: Buffer, id: string): string | null => read(record, id, find);
      return isRare ? new RareTextColumn(collection, readText) : new SharedTextColumn(readText);
    },
  };
}

/** One of some texts. */
export function choiceField<Value extends string>(
  name: string, description: string, values: readonly Value[], read: Read<Value>,
  { isChanging = false, hasColumn = true }: {
    readonly isChanging?: boolean; readonly hasColumn?: boolean;
  } = {},
): RecordField<Value> {
  return {
    parameters: { [name]: { description, schema: { kind: 'string', values } } },
    parse: (query) => parseChoiceParameter(query, name, values),
    isMet: (value, record, id, find) => read(record, id, find) === value,
    createColumn: hasColumn ? (_, find) =>
      new SharedTextColumn((record, id) => read(record, id, find)) : null,
    isChanging,
  };
}

const FLAGS = ['true', 'false'] as const;

/** A fact that holds or does not. */
export function flagField(
  name: string, description: string, read: Read<boolean>,
): RecordField<boolean> {
  return {
    parameters: { [name]: { description, schema: { kind: 'string', values: FLAGS } } },
    parse: (query) => {
      const flag = parseChoiceParameter(query, name, FLAGS);
      return flag === null ? null : flag === 'true';
    },
    isMet: (flag, record, id, find) => read(record, id, find) === flag,
    createColumn: (_, find) => new FlagColumn((record, id) => read(record, id, find)),
  };
}

/** The time of a record, within the bounds that `since` and `until` give. */
export function timeField(verb: string, readMs: (record: Buffer) => number): RecordField<TimeSpan> {
  return {
    parameters: {
      since: { description: `${verb} at that time or later`, schema: timeSchema },
      until: { description: `${verb} before that time`, schema: timeSchema },
    },
    parse: (query) => {
      const span = { sinceMs: parseTimeOf(query, 'since'), untilMs: parseTimeOf(query, 'until') };
      return span.sinceMs === null && span.untilMs === null ? null : span;
    },
    isMet: (span, record) => isWithin(span, readMs(record)),
    createColumn: () => new TimeColumn(readMs),
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

/** Describes the parameters of a list's query. A query bounds no lengths. */
export function listFieldParameters<Filter>(
  fields: RecordFields<Filter>,
): readonly ParameterSpec[] {
  return listMembers(fields).map(([name, { description, schema: { kind, format, values } }]) =>
    ({ name, in: 'query', description, schema: { kind, format, values } }));
}

/** Describes those of the same names as members of a body. */
export function fieldMembers<Filter>(
  fields: RecordFields<Filter>, names: readonly string[],
): Readonly<Record<string, { readonly description: string; readonly schema: StringSchema }>> {
  return Object.fromEntries(listMembers(fields).filter(([name]) => names.includes(name)));
}

/** Makes the filter of a query. Throws `malformed`. */
export function parseFilter<Filter>(fields: RecordFields<Filter>, query: FieldQuery): Filter {
  return Object.fromEntries(
    listFields(fields).map(([name, field]) => [name, field.parse(query)])) as Filter;
}

/** Makes the filter of a body that has members of `fieldMembers`. */
export function parseFilterBody<Filter>(fields: RecordFields<Filter>, body: JsonObject): Filter {
  const texts = Object.entries(body).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : []);
  return parseFilter(fields, new Map(texts));
}

type FieldTest = (record: Buffer, id: string, find: FindRecord) => boolean;

/** Makes a test of records as they are stored. */
export function createRecordTest<Filter>(fields: RecordFields<Filter>, filter: Filter): FieldTest {
  const tests = listCriteria(fields, filter).map(([, field, criterion]): FieldTest =>
    (record, id, find) => field.isMet(criterion, record, id, find));
  return (record, id, find) => tests.every((isMet) => isMet(record, id, find));
}

/** Lists the criteria that a filter has, each with its field. */
export function listCriteria<Filter>(
  fields: RecordFields<Filter>, filter: Filter,
): readonly (readonly [keyof Filter, RecordField<unknown>, unknown])[] {
  return listFields(fields).flatMap(([name, field]) => {
    const criterion = filter[name];
    return criterion === null ? [] : [[name, field, criterion] as const];
  });
}

export function listFields<Filter>(
  fields: RecordFields<Filter>,
): readonly (readonly [keyof Filter, RecordField<unknown>])[] {
  return Object.entries(fields) as [keyof Filter, RecordField<unknown>][];
}

function listMembers<Filter>(fields: RecordFields<Filter>) {
  return listFields(fields).flatMap(([, { parameters }]) => Object.entries(parameters));
}
