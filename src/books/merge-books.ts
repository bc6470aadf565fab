/**
 * Merges a book into another: some members become as the other has them, and the other book is
 * deleted, all in one transaction. For a minute `Repository.restore` of the other takes that back.
 *
 * The book keeps of the other, whatever members are named, its id and the own ids of its sources
 * (merged-ids.ts), and the fields in `metadata.source` of formats that the book has not. Metadata
 * that are united keep more (merge-metadata.ts), and imports of a format that was new to the book
 * go on changing it. The book also keeps own ids that it loses with its metadata: else the next
 * import of their source would add it again.
 */
import type { FieldError } from '../base/errors.ts';
import { invalid, readObjectInto } from '../base/fields.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import { describeObject } from '../base/schema-types.ts';
import { notFoundError } from '../resources/not-found.ts';
import { decodeRecord } from '../resources/record.ts';
import type { Precondition, Repository } from '../resources/repository.ts';
import { createRepresentation } from '../resources/representation.ts';
import type { Representation } from '../resources/representation.ts';
import type { Store, Transaction } from '../store/store-port.ts';
import { bookSchema } from './book.ts';
import {
  MEMBER_SCHEMAS, METADATA_PREFIX, READING_PREFIX, combineLists, joinMembers, separateMembers,
} from './book-members.ts';
import { bookResource } from './book-resource.ts';
import { COMBINED_MEMBERS, METADATA } from './merge-choice.ts';
import { listDroppedValues } from './merge-losses.ts';
import {
  addSources, isNewFormat, keepDroppedValues, uniteMetadata,
} from './merge-metadata.ts';
import {
  MERGED_IDS_MAX, MERGED_ID_LENGTH_MAX, formatSourceId, mergedIdsOf, putMergedIds,
} from './merged-ids.ts';
import { loadTables } from './transfer/formats.ts';
import type { FormatTable } from './transfer/mapping/format-table.ts';
import { findOwnId, findSource } from './transfer/mapping/metadata-source.ts';

const READING = 'reading';

/** The names that a merge takes: members of a book that callers write, and single ones. */
const MEMBER_NAMES: readonly string[] = [...new Set([
  ...Object.keys(bookSchema.members), ...MEMBER_SCHEMAS.keys(),
])].filter((name) => bookSchema.members[name]?.readOnly === undefined);
const COMBINED_NAMES: readonly string[] = [...COMBINED_MEMBERS, METADATA];
// Each might be named twice.
const NAMES_MAX = 2 * MEMBER_NAMES.length;

export const mergeSchema = describeObject({
  kind: 'object', name: 'BookMerge',
  members: {
    from: {
      isRequired: true, schema: { kind: 'string', minLength: 1, maxLength: 128 },
      description: 'The id of the other book, which is deleted.',
      option: { placeholder: '<id>', completes: 'books' },
    },
    members: {
      default: [],
      schema: {
        kind: 'array', maxItems: NAMES_MAX, items: { kind: 'string', values: MEMBER_NAMES },
      },
      description: 'The members that become as the other book has them, absent ones too. All '
        + 'others stay; without names, all.',
      option: { suggests: MEMBER_NAMES },
    },
    combine: {
      default: [],
      schema: {
        kind: 'array', maxItems: NAMES_MAX, items: { kind: 'string', values: COMBINED_NAMES },
      },
      description: 'The members that become what both books have, whether `members` names them or '
        + 'not: the items of the book, and behind them those of the other that it has not, '
        + 'whatever their case. `metadata` become those of both, and keep, as far as they have '
        + 'room, what either book has otherwise, of any member: that of the other book in '
        + '`source.<its id>.members`.',
      option: { suggests: COMBINED_NAMES },
    },
  },
});

export type MergeRequest = {
  /** The id of the book that takes in the other. */
  readonly id: string;
  readonly body: unknown;
  readonly precondition?: Precondition | undefined;
  /** See `WriteOptions`. */
  readonly hops?: number | undefined;
  /** Called inside the transaction, which may run again. */
  readonly onMerged?: (transaction: Transaction, merge: Merge) => void;
};

type Merge = {
  readonly representation: Representation;
  /** The members that the other book has otherwise, where the value is not kept beside. */
  readonly lostNames: readonly string[];
};

const { noun, collection: { name: COLLECTION } } = bookResource;

/**
 * Throws `not_found` without the book, then what `precondition` throws, then `invalid` for a body
 * that breaks a rule, and for a book that would.
 */
export async function mergeBooks(
  { store, repository }: { readonly store: Store; readonly repository: Repository },
  { id, body, precondition, hops, onMerged }: MergeRequest,
): Promise<Representation> {
  const { stager } = repository;
  const tables = await loadTables();
  // The ids of events come from the inputs of their change.
  const [inputs, removalInputs] = [stager.createInputs(hops), stager.createInputs(hops)];
  const { from, bytes, merged } = await store.transact((transaction) => {
    const bytes = transaction.find(COLLECTION, id);
    if (bytes === undefined) throw notFoundError(noun, id);
    precondition?.(createRepresentation(bookResource, id, bytes));
    const { from, ...names } = parseMerge(transaction, id, body);
    const [book, other] = [decodeRecord(bytes), decodeRecord(from.bytes)];
    const members = mergeMembers(book, other, names);
    const mergedIds = listMergedIds(tables, book, other, names);
    checkMergedIds(mergedIds);
    const { fields } = stager.parse(members, { id, bytes }, 'replace', inputs.nowMs);
    const version = stager.encode(id, putMergedIds(fields, mergedIds), bytes, inputs.nowMs);
    const { change, representation } = stager.put(transaction, version, inputs);
    const removal = stager.remove(transaction, from, removalInputs);
    stager.check(transaction, change, inputs);
    stager.check(transaction, removal, removalInputs);
    onMerged?.(transaction, { representation, lostNames: listLostNames(other, fields) });
    return { from, bytes, merged: representation };
  });
  repository.holdMerged(from, { id, bytes, replacedBy: merged.bytes });
  return merged;
}

/** The members that become as the other book has them, and those that become as both have them. */
type NamedMembers = { readonly members: readonly string[]; readonly combine: readonly string[] };

type ParsedMerge = NamedMembers & {
  readonly from: { readonly id: string; readonly bytes: Buffer };
};

/** Throws `invalid` with everything that is wrong. */
function parseMerge(transaction: Transaction, id: string, body: unknown): ParsedMerge {
  const errors: FieldError[] = [];
  const { from, members, combine } = readObjectInto(mergeSchema, body, errors) ?? {};
  const fromId = typeof from === 'string' ? from : null;
  const bytes = fromId === null ? undefined : transaction.find(COLLECTION, fromId);
  if (fromId === id) {
    errors.push({ pointer: '/from', detail: 'is the book itself: name the one that ends' });
  } else if (fromId !== null && bytes === undefined) {
    errors.push({ pointer: '/from', detail: 'is the id of no book' });
  }
  if (errors.length > 0 || fromId === null || bytes === undefined) throw invalid(errors);
  return {
    from: { id: fromId, bytes }, members: listNames(members), combine: listNames(combine),
  };
}

function listNames(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The book with the named members as the other has them, absent ones too, or as both have them. */
function mergeMembers(
  book: JsonObject, other: JsonObject, { members: names, combine }: NamedMembers,
): JsonObject {
  const [members, otherMembers] = [separateMembers(book), separateMembers(other)];
  const isNamed = (name: string): boolean => names.includes(name)
    || (name.startsWith(READING_PREFIX) && names.includes(READING));
  const result = new Map<string, JsonValue>();
  for (const name of MEMBER_SCHEMAS.keys()) {
    const [own, others] = [members[name], otherMembers[name]];
    let value = isNamed(name) ? others : own;
    if (name === METADATA && combine.includes(name)) value = uniteMetadata(book, other);
    else if (name === METADATA && !isNamed(name)) value = addSources(own, others);
    else if (combine.includes(name)) value = combineLists(own, others);
    if (value !== undefined) result.set(name, value);
  }
  const mergedBook = joinMembers(Object.fromEntries(result));
  return combine.includes(METADATA) ? keepDroppedValues(mergedBook, book, other) : mergedBook;
}

function listLostNames(other: JsonObject, mergedBook: JsonObject): readonly string[] {
  const names = listDroppedValues(other, mergedBook).filter(({ keptIn }) => keptIn === null)
    // Names of metadata are the caller's own texts, which a header may not hold.
    .map(({ name }) => name.startsWith(METADATA_PREFIX) ? METADATA : name);
  return [...new Set(names)];
}

/** The ids that the merged book has, each once, in the order in which they came. */
function listMergedIds(
  tables: readonly FormatTable[], book: JsonObject, other: JsonObject,
  { members, combine }: NamedMembers,
): readonly string[] {
  const isUnited = combine.includes(METADATA);
  // The book goes on hearing the imports of a format that it gets whole.
  const deafTables = tables.filter(({ name }) => !(isUnited && isNewFormat(book, name)));
  const listSourceIds = ({ metadata }: JsonObject): readonly string[] =>
    deafTables.flatMap(({ name, ownIdFields }) => {
      const ownId = findOwnId(findSource(name, metadata) ?? {}, ownIdFields);
      return ownId === null ? [] : [formatSourceId(name, ownId)];
    });
  const ids = new Set([
    ...mergedIdsOf(book), String(other['id']), ...mergedIdsOf(other), ...listSourceIds(other),
    ...members.includes(METADATA) && !isUnited ? listSourceIds(book) : [],
  ]);
  ids.delete(String(book['id']));
  return [...ids];
}

function checkMergedIds(ids: readonly string[]): void {
  const isLong = ids.some((id) => id.length > MERGED_ID_LENGTH_MAX);
  if (ids.length <= MERGED_IDS_MAX && !isLong) return;
  throw invalid([{
    pointer: '/from',
    detail: isLong
      ? `has an id of its source, in \`metadata.source\`, that is longer than `
        + `${MERGED_ID_LENGTH_MAX} characters: shorten it there, or take it out`
      : `cannot be taken in: the book would keep ${ids.length} ids of merged books and of their `
        + `sources (\`mergedIds\`), and at most ${MERGED_IDS_MAX} are kept`,
  }]);
}
