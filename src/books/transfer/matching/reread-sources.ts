/**
 * Reads again what the metadata of a book have from records of other programs, by the tables that
 * an import reads them by, and sets what the book has not yet, member by member: what was imported
 * before a table read a member lies in `metadata.source` until then. What the book has stays.
 *
 * Afterwards the metadata are as an import of those records leaves them: a field that a member
 * holds whole is gone, and the digests (last-import.ts) say what the records say. So the same file
 * finds nothing to change. A field whose member has another value here stays: nothing else holds
 * it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../base/clock.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { decodeRecord, encodeRecord, nextTimestamps } from '../../../resources/record.ts';
import type { Store } from '../../../store/store-port.ts';
import { READING_PREFIX, joinMembers, separateMembers } from '../../book-members.ts';
import { bookResource } from '../../book-resource.ts';
import type { FormatTable } from '../mapping/format-table.ts';
import { mapRecord } from '../mapping/map-record.ts';
import { SOURCE_MEMBERS, findOwnId, findSource, putSource } from '../mapping/metadata-source.ts';
import type { BookImport, ImportedBook } from './book-import.ts';
import { describeChanges } from './describe-changes.ts';
import { createSaidCheck, updateDigests } from './last-import.ts';
import type { RereadSource } from './last-import.ts';
import { fillRecord } from './merge-record.ts';

type RereadDeps = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
};

export type RereadMode = {
  /** The tables of the formats that are read again. */
  readonly tables: readonly FormatTable[];
  readonly isDryRun: boolean;
  readonly isVerbose: boolean;
};

const { collection: { name: COLLECTION, key: KEY } } = bookResource;

/** The import of records that are books of the catalog, known by their ids. */
export function createReread({ store, clock }: RereadDeps, mode: RereadMode): BookImport {
  const collection = store.collection(COLLECTION);
  return {
    importBatch(records) {
      const nowMs = clock.now();
      const ids = records.map(({ id }) => id ?? '');
      if (mode.isDryRun) {
        return Promise.resolve(ids.map((id) =>
          rereadBook(id, collection.findBytes(id), mode, nowMs, () => {})));
      }
      return store.transact((transaction) => ids.map((id) =>
        rereadBook(id, transaction.find(COLLECTION, id), mode, nowMs, (json) => {
          transaction.put(COLLECTION, id, json);
        })));
    },
    close() {},
  };
}

/** `put` stores the book, where it changes. */
function rereadBook(
  id: string, bytes: Buffer | undefined, { tables, isVerbose }: RereadMode, nowMs: number,
  put: (json: string) => void,
): ImportedBook {
  // It was deleted since it was listed.
  if (bytes === undefined) return { id, outcome: 'unchanged', leftOut: [] };
  const { [KEY]: _, createdAt, updatedAt, ...members } = decodeRecord(bytes);
  const { members: version, putAside } = rereadSources(members, tables);
  const told = { leftOut: [], ...putAside.length === 0 ? {} : { putAside } };
  if (isDeepStrictEqual(version, members)) return { id, outcome: 'unchanged', ...told };
  put(encodeRecord(KEY, id, nextTimestamps(KEY, id, bytes, nowMs), version));
  const changes = isVerbose ? { changes: describeChanges(members, version) } : {};
  return { id, outcome: 'updated', ...told, ...changes };
}

type RereadBook = {
  /** The members of a book without its id and dates. */
  readonly members: JsonObject;
  /** The dates that are not of the reading that the book has: their fields stay. */
  readonly putAside: readonly string[];
};

function rereadSources(book: JsonObject, tables: readonly FormatTable[]): RereadBook {
  let members = book;
  const putAside = new Set<string>();
  for (const table of tables) {
    const { exportOf = () => '' } = table;
    const names = Object.keys(findSource(table.name, members['metadata']) ?? {})
      .filter((name) => name !== SOURCE_MEMBERS);
    for (const exportName of new Set(names.map(exportOf))) {
      const exportNames = names.filter((name) => exportOf(name) === exportName);
      const reread = rereadSource(members, table, exportNames);
      members = reread.members;
      for (const name of reread.putAside) putAside.add(name);
    }
  }
  return { members, putAside: [...putAside] };
}

/** `names`: of the fields from one export of the program. */
function rereadSource(
  book: JsonObject, table: FormatTable, names: readonly string[],
): RereadBook {
  const allFields = Object.entries(findSource(table.name, book['metadata']) ?? {});
  const stored = Object.fromEntries(allFields.filter(([name]) => names.includes(name)));
  const otherFields = Object.fromEntries(allFields.filter(([name]) => !names.includes(name)));
  const fields = new Map(renameFields(table, stored));
  const { metadata: bookMetadata = {}, ...members } = book;
  const isFromRecord = createSaidCheck(book, table.name);
  const heldMembers = selectHeldMembers(book, isFromRecord);
  const { metadata, ...said } = mapRecord(table, {
    line: 1, key: findOwnId(stored, table.ownIdFields), type: '', fields,
  }, joinMembers(heldMembers)).body;
  const result = fillRecord(members, said, null);
  const unread = findSource(table.name, metadata) ?? {};
  const unheld = listUnheldFields(table, separateMembers(said), separateMembers(result.members));
  const keptFields = Object.fromEntries([...fields]
    .filter(([name]) => Object.hasOwn(unread, name) || unheld.has(name)));
  const record = selectTableMembers(table, said);
  const readNames = Object.keys(record).filter((name) => heldMembers[name] === undefined);
  // All of it was read before, and told. An import would keep other fields of those that are left.
  if (isDeepStrictEqual(keptFields, stored) && isDeepStrictEqual(result.members, members)
    && readNames.every((name) => isFromRecord(record, name))) {
    return { members: book, putAside: result.refusedNames };
  }
  const version = putSource({ ...result.members, metadata: bookMetadata }, table.name,
    { ...otherFields, ...keptFields });
  const source: RereadSource = {
    format: table.name, fieldsBefore: stored,
    record: metadata === undefined ? record : { ...record, metadata }, readNames,
  };
  return { members: updateDigests(version, source, book), putAside: result.refusedNames };
}

/**
 * The single members that no field is read for. Series and reading are read as the record has them,
 * as the book may have got other ones here, but for those of which the digests prove that they came
 * from it: their fields may be gone.
 */
function selectHeldMembers(
  book: JsonObject, isFromRecord: (members: JsonObject, name: string) => boolean,
): JsonObject {
  const { metadata, ...members } = separateMembers(book);
  return Object.fromEntries(Object.entries(members).filter(([name]) =>
    !(name === 'series' || name.startsWith(READING_PREFIX)) || isFromRecord(members, name)));
}

/** Names of BibTeX have no case: a file that was read before a row was there kept its own. */
function renameFields(
  { rows }: FormatTable, stored: JsonObject,
): readonly (readonly [name: string, value: JsonValue])[] {
  const names = new Set(rows.flatMap(({ from }) => from));
  return Object.entries(stored).map(([name, value]) => {
    const lower = name.toLowerCase();
    const isOther = !names.has(name) && names.has(lower) && !Object.hasOwn(stored, lower);
    return [isOther ? lower : name, value];
  });
}

/** The fields that say of a member what the book does not hold. */
function listUnheldFields(
  { rows }: FormatTable, said: JsonObject, held: JsonObject,
): ReadonlySet<string> {
  return new Set(rows.filter(({ member }) => said[member] !== undefined
    && !isDeepStrictEqual(said[member], held[member])).flatMap(({ from }) => from));
}

/** The single members that a record of the format can say. */
function selectTableMembers({ rows }: FormatTable, said: JsonObject): JsonObject {
  const names = new Set<string>(rows.map(({ member }) => member));
  return Object.fromEntries(Object.entries(separateMembers(said))
    .filter(([name]) => names.has(name)));
}
