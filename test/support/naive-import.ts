/** What imports make of a catalog, record by record, by the simplest means: for property tests. */
import type { JsonObject, JsonValue } from '../../src/base/schema.ts';
import type { Match, MatchMode } from '../../src/books/transfer/matching/book-import.ts';

export type NaiveOutcome = { readonly outcome: string; readonly ids: readonly string[] };

export type NaiveImport = { readonly mode: MatchMode; readonly marks: Set<string> };

export class NaiveCatalog {
  readonly books = new Map<string, JsonObject>();

  /**
   * `newId` is that of a book without an id of its own; `marks` are the ids of the books that the
   * import has made or matched.
   */
  import(
    { mode, marks }: NaiveImport, id: string | null, record: JsonObject, newId: string,
  ): NaiveOutcome {
    const { matches, onMatch } = mode;
    const isKnown = id !== null && this.books.has(id);
    const bookId = readBookId(mode, record);
    let ids = isKnown ? [id] : [];
    if (ids.length === 0 && this.books.has(bookId)) ids = [bookId];
    for (const match of ids.length === 0 ? matches : []) {
      if (ids.length > 0) break;
      ids = [...this.books].filter(([, book]) => isSame(match, mode, book, record))
        .map(([other]) => other);
    }
    if (ids.length === 0 && matches.includes('title')) ids = this.#findYearless(record);
    if (ids.length > 1 && matches.includes('source')) {
      const [own = '', ...others] = [...this.books]
        .filter(([, book]) => isSame('source', mode, book, record)).map(([other]) => other);
      if (others.length === 0 && ids.includes(own)) ids = [own];
    }
    const [first] = ids;
    if (first === undefined) {
      this.books.set(id ?? newId, record);
      marks.add(id ?? newId);
      return { outcome: 'imported', ids: [id ?? newId] };
    }
    if (ids.length > 1) return { outcome: 'ambiguous', ids: ids.sort() };
    const isRepeated = !isKnown && marks.has(first);
    marks.add(first);
    const before = this.books.get(first) ?? {};
    const said = bookId === first ? replaceOwnId(mode, before, record)
      : omitVagueDate(record, first === id || onMatch === 'replace' ? {} : before);
    const updated = onMatch === 'fill'
      ? update(mode, said, before) : update(mode, before, said);
    const after = onMatch === 'replace' ? said : updated;
    if (isRepeated && toText(after) !== toText(before)) return { outcome: 'repeated', ids };
    if (onMatch === 'skip') return { outcome: 'exists', ids };
    if (isKnown && mode.isSameIdLeftAlone && onMatch !== 'replace') {
      return { outcome: toText(record) === toText(before) ? 'unchanged' : 'exists', ids };
    }
    if (toText(after) === toText(before)) return { outcome: 'unchanged', ids };
    this.books.set(first, after);
    return { outcome: onMatch === 'replace' ? 'replaced' : 'updated', ids };
  }

  /** The books of the same title and first author, if one of them, or the record, has no year. */
  #findYearless(record: JsonObject): string[] {
    const books = [...this.books].filter(([, book]) => readTitle(book) === readTitle(record));
    const mayBeOne = readYear(record) === '' || books.some(([, book]) => readYear(book) === '');
    return mayBeOne ? books.map(([id]) => id) : [];
  }
}

function readTitle({ title, authors }: JsonObject): string {
  const [author] = authors as readonly { readonly name: string }[];
  return `${plain(String(title))}|${plain(author?.name ?? '')}`;
}

function readYear({ datePublished = '' }: JsonObject): string {
  return String(datePublished).slice(0, 4);
}

function omitVagueDate(record: JsonObject, { datePublished = '' }: JsonObject): JsonObject {
  const { datePublished: date, ...others } = record;
  return String(datePublished).startsWith(`${String(date)}-`) ? others : record;
}

function isSame(
  match: Match, { source }: MatchMode, book: JsonObject, record: JsonObject,
): boolean {
  const read = (from: JsonObject): unknown => {
    if (match === 'isbn') return from['isbn'];
    if (match === 'source') return readSource(from, source?.format ?? '', source?.ownIdFields[0]);
    return `${readTitle(from)}|${readYear(from)}`;
  };
  return read(record) !== undefined && read(record) === read(book);
}

function readSource(from: JsonObject, format: string, name = ''): unknown {
  const { source } = (from['metadata'] ?? {}) as { readonly source?: JsonObject };
  return (source?.[format] as JsonObject | undefined)?.[name];
}

/** The own id where it may be the id of a book, else ''. */
function readBookId({ source }: MatchMode, record: JsonObject): string {
  if (source === null || source.bookIdPrefix === null) return '';
  const ownId = String(readSource(record, source.format, source.ownIdFields[0]));
  return ownId.startsWith(source.bookIdPrefix) ? ownId.slice(source.bookIdPrefix.length) : '';
}

/** The record with the own id of the book, or with none. */
function replaceOwnId(
  { source }: MatchMode, book: JsonObject, record: JsonObject,
): JsonObject {
  const { format = '', ownIdFields: [name = ''] = [] } = source ?? {};
  const ownId = readSource(book, format, name) as JsonValue | undefined;
  const copy = structuredClone(record) as Record<string, Record<string, JsonObject>>;
  const { [name]: _, ...fields } = copy['metadata']?.['source']?.[format] as JsonObject;
  const sources = copy['metadata']?.['source'] as Record<string, JsonValue>;
  sources[format] = ownId === undefined ? fields : { [name]: ownId, ...fields };
  if (toText(sources[format]) === '{}') Reflect.deleteProperty(sources, format);
  for (const [parent, member] of [[copy['metadata'], 'source'], [copy, 'metadata']] as const) {
    if (toText(parent?.[member]) === '{}') Reflect.deleteProperty(parent ?? {}, member);
  }
  return copy;
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

function update(
  { source: recordFormat }: MatchMode, book: JsonObject, record: JsonObject,
): JsonObject {
  const { authors, metadata, reading, ...members } = record;
  const hasAuthors = Array.isArray(authors) && authors.length > 0;
  const [stored, added] = [book['metadata'], metadata] as readonly (JsonObject | undefined)[];
  const storedSource = (stored?.['source'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const addedSource = Object.entries((added?.['source'] ?? {}) as Record<string, JsonObject>)
    .map(([format, fields]) => {
      const { Id: ownId } = storedSource[format] ?? {};
      // The own id stays where the other has none; records of our own formats tell none.
      const isAlone = ownId === undefined || recordFormat === null;
      return [format, isAlone ? fields : { Id: ownId, ...fields }] as const;
    });
  const source = { ...storedSource, ...Object.fromEntries(addedSource) };
  const merged: Record<string, JsonValue> = { ...stored, ...added };
  if (Object.keys(source).length > 0) merged['source'] = source;
  return {
    ...book, ...members, ...hasAuthors ? { authors } : {},
    ...reading === undefined ? {}
      : { reading: { ...book['reading'] as JsonObject, ...reading as JsonObject } },
    ...stored === undefined && added === undefined ? {} : { metadata: merged },
  };
}

/** Equal for equal books, whatever the order of their members. */
export function toText(value: JsonValue | undefined): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => left < right ? -1 : 1))
      : member);
}
