/**
 * The catalog: books as a repository, and imports, whose books keep their ids and dates. It tells
 * of changes through a hook inside their transaction, and does not know who listens.
 */
import type { Clock } from '../base/clock.ts';
import { encodeChecked } from '../base/json/encode.ts';
import { parseJsonText } from '../base/json/exact-parser.ts';
import { lazyImport } from '../base/lazy-import.ts';
import type { Turns } from '../base/turns.ts';
import { notFoundError } from '../resources/not-found.ts';
import type { ChangeHook } from '../resources/record-stager.ts';
import { Repository } from '../resources/repository.ts';
import type { Representation } from '../resources/representation.ts';
import type { Store } from '../store/store-port.ts';
import { decodeBook } from './book.ts';
import type { Book, BookInput } from './book.ts';
import { bookResource } from './book-resource.ts';
import { mergeBooks } from './merge-books.ts';
import type { MergeRequest } from './merge-books.ts';
import type { BookImport, MatchMode } from './transfer/matching/book-import.ts';
import type { RereadMode } from './transfer/matching/reread-sources.ts';

const loadImports = lazyImport(() => import('./transfer/matching/catalog-import.ts'));
const loadReread = lazyImport(() => import('./transfer/matching/reread-sources.ts'));

type CatalogOptions = {
  readonly store: Store;
  readonly turns: Turns;
  readonly clock: Pick<Clock, 'now'>;
  readonly makeId: () => string;
  /** Called for each change of a book but those of imports. */
  readonly stageWithChange?: ChangeHook;
};

export type Catalog = Repository & {
  /**
   * Begins an import whose records are matched with the books that are there. Its caller has to
   * close it. The first batch waits until what finds the matches is made, in the background.
   */
  openImport(mode: MatchMode): Promise<BookImport>;
  /** Begins an import whose records are books, whose sources are read again by their tables. */
  openReread(mode: RereadMode): Promise<BookImport>;
  /** Counts records that an import has dealt with, whatever became of them. */
  countImported(recordCount: number): void;
  /** How many records all imports have dealt with since the catalog was opened. */
  importedCount(): number;
  /** See `mergeBooks`. */
  merge(request: MergeRequest): Promise<Representation>;
};

export function createCatalog(options: CatalogOptions): Catalog {
  let openImport: ((mode: MatchMode) => BookImport) | null = null;
  let importedCount = 0;
  const repository = new Repository({ ...options, resource: bookResource });
  return Object.assign(repository, {
    importedCount: () => importedCount,
    countImported: (recordCount: number) => {
      importedCount += recordCount;
    },
    merge: (request: MergeRequest) =>
      mergeBooks({ store: options.store, repository }, request),
    openReread: async (mode: RereadMode) =>
      loadReread(({ createReread }) => createReread(options, mode)),
    openImport: async (mode: MatchMode) => loadImports(({ createImportOpener }) => {
      openImport ??= createImportOpener(options);
      return openImport(mode);
    }),
  });
}

/** The catalog for programs that embed it: objects in, objects out. */
export interface BookShelf {
  /** Throws `not_found`. */
  get(id: string): Book;
  /** Throws `invalid`. */
  add(book: BookInput): Promise<Book>;
  /** Throws `not_found` and `invalid`, as does `patch`. */
  replace(id: string, book: BookInput): Promise<Book>;
  /** `patch` is a JSON Merge Patch: null removes a member. */
  patch(id: string, patch: object): Promise<Book>;
  /** Throws `not_found`. */
  delete(id: string): Promise<void>;
}

export function createBookShelf(catalog: Catalog): BookShelf {
  return {
    get(id) {
      const record = catalog.find(checkId(id));
      if (record === undefined) throw notFoundError('book', String(id));
      return decodeBook(record.bytes);
    },
    add: async (book) => decodeBook((await catalog.add(toJson(book))).bytes),
    replace: async (id, book) =>
      decodeBook((await catalog.replace(checkId(id), toJson(book))).bytes),
    patch: async (id, patch) => decodeBook((await catalog.patch(checkId(id), toJson(patch))).bytes),
    delete: async (id) => catalog.remove(checkId(id)),
  };
}

// A program in plain JavaScript may pass undefined, or anything else, as an id.
function checkId(id: unknown): string {
  if (typeof id === 'string') return id;
  throw notFoundError('book', String(id));
}

// A program may pass dates, undefined members, objects that change later: JSON has none of these.
function toJson(value: object): unknown {
  return parseJsonText(encodeChecked(value));
}
