/**
 * Lists books: `GET /api/books` and `books.list(query)`. All books in id order are sent as they are
 * laid out in the store; every other query is a scan in small steps, which the word index narrows
 * down where it can. Both answers are streamed.
 */
import { AppError } from '../../base/errors.ts';
import type { Exchange, Handler } from '../../server/route.ts';
import type { Collection } from '../../store/port.ts';
import { decodeBook } from '../book.ts';
import type { Book } from '../book.ts';
import type { Asker, BookSearch } from '../index/search.ts';
import { Changes } from './changes.ts';
import type { Scan } from './filter.ts';
import { isSparse, pageOfSparse, scanPage, scanWhole } from './scan.ts';
import type { PageResult } from './scan.ts';
import {
  sourceOfEntries, sourceOfSlots, sourceOfWalk, streamBuffer, streamSource, streamWalk,
} from './source.ts';
import type { BookSource, PullNow } from './source.ts';
import { WholeBuffer } from './whole.ts';
import { parseBookListQuery, parseBookQuery } from '../query/parse.ts';
import type { BookListQuery, BookQuery } from '../query/parse.ts';
import { encodeCursor } from '../query/cursor.ts';
import { hasMemberConditions, hasTextConditions } from '../query/match.ts';
import { writeQueryString } from '../query/parameters.ts';
import { createGate } from '../../base/turns.ts';
import type { Gate, Turns, Work } from '../../base/turns.ts';

export type BookListing = {
  readonly books: readonly Book[];
  /** How many books match, on all pages. */
  readonly total: number;
  /** The cursor of the next page; null when there is none. */
  readonly cursor: string | null;
};

export interface BookList {
  /** `GET /api/books`. */
  readonly handle: Handler;
  /** Throws `malformed`. Waits while the search index is being built. */
  list(query?: BookListQuery): Promise<BookListing>;
}

const OWN_PROGRAM: Asker = { isWanted: () => true, isPatient: true };

// An answer without limit needs some 50 bytes a book until it is sorted, and 4 from then on.
const WHOLE_SCANS_MAX = 2;

export type BookListOptions = {
  readonly collection: Collection;
  readonly search: BookSearch;
  readonly turns: Turns;
};

export function createBookList(given: BookListOptions): BookList {
  const options = {
    ...given, gate: createGate(WHOLE_SCANS_MAX), whole: new WholeBuffer(given.collection),
  };
  return {
    handle: (exchange) => sendList(options, exchange),
    async list(query = {}) {
      const answer = await findAnswer(options, parseBookListQuery(query), OWN_PROGRAM);
      try {
        const books = await options.turns.run(decodeAll(answer.source));
        return { books: books ?? [], total: answer.total, cursor: answer.cursor };
      } finally {
        answer.close();
      }
    },
  };
}

type Parts = BookListOptions & {
  readonly gate: Gate; readonly whole: WholeBuffer;
};

type Answer = {
  readonly total: number;
  readonly cursor: string | null;
  readonly source: BookSource;
  /** Set where the answer can be sent without reading its books one by one. */
  readonly stream: PullNow | null;
  readonly close: () => void;
};

async function sendList(options: Parts, exchange: Exchange): Promise<void> {
  const query = parseBookQuery(exchange.search);
  const buffer = isWhole(query) && query.after === null ? options.whole.find() : null;
  if (buffer !== null) {
    return exchange.sendStream(200, [
      'Content-Type', 'application/json', 'X-Total-Count', String(options.collection.size),
      'Content-Length', String(buffer.length),
    ], streamBuffer(buffer));
  }
  const answer = await findAnswer(options, query, {
    isWanted: () => !exchange.response.destroyed, isPatient: exchange.isControl,
  });
  try {
    const headers = ['Content-Type', 'application/json', 'X-Total-Count', String(answer.total)];
    if (answer.cursor !== null) {
      const values = new Map([...query.values, ['cursor', answer.cursor]]);
      const next = exchange.linkTo(`${exchange.route.path}?${writeQueryString(values)}`);
      headers.push('Link', `<${next}>; rel="next"`);
    }
    await exchange.sendStream(200, headers, answer.stream ?? streamSource(answer.source));
  } finally {
    answer.close();
  }
}

async function findAnswer(
  options: Parts, query: BookQuery, asker: Asker,
): Promise<Answer> {
  if (isWhole(query)) return wholeAnswer(options.collection, query);
  const changes = new Changes(options.collection);
  try {
    return await scanAnswer(options, query, changes, asker);
  } catch (error) {
    changes.stop();
    throw error;
  }
}

/** Whether all books are asked for, or all after some id, in id order and without a limit. */
function isWhole({ filter, sort, limit }: BookQuery): boolean {
  return limit === null && sort.key === 'id' && !sort.isDescending
    && !hasMemberConditions(filter) && !hasTextConditions(filter);
}

function wholeAnswer(collection: Collection, { after }: BookQuery): Answer {
  const walk = collection.walk({ after: after?.id ?? null });
  return {
    total: collection.size,
    cursor: null,
    source: sourceOfWalk(collection, walk),
    stream: streamWalk(walk),
    close: () => {},
  };
}

async function scanAnswer(
  options: Parts, query: BookQuery, changes: Changes, asker: Asker,
): Promise<Answer> {
  const { isWanted } = asker;
  const { collection, search, turns, gate } = options;
  const candidates = await search.find(query.filter, changes, asker);
  const scan: Scan = { collection, query, candidates, changes };
  const { limit } = query;
  if (limit === null && !isSparse(scan)) {
    const whole = stillWanted(await gate.pass(() => turns.run(scanWhole(scan), isWanted)));
    const source = sourceOfSlots(whole.slots, changes);
    const close = (): void => changes.stop();
    return { total: whole.total, cursor: null, source, stream: null, close };
  }
  const work = limit === null ? pageOfSparse(scan, Infinity) : scanPage(scan, limit);
  const page = stillWanted(await turns.run(work, isWanted));
  changes.stop();
  return pageAnswer(page, query);
}

function pageAnswer({ entries, total }: PageResult, { limit, fingerprint }: BookQuery): Answer {
  const hasMore = limit !== null && entries.length > limit;
  const shown = limit === null ? entries : entries.slice(0, limit);
  const last = shown.at(-1);
  const cursor = hasMore && last !== undefined ? encodeCursor(last, fingerprint) : null;
  const source = sourceOfEntries(shown);
  return { total, cursor, source, stream: null, close: () => {} };
}

function* decodeAll(source: BookSource): Work<Book[]> {
  const books: Book[] = [];
  for (let bytes = source(); bytes !== undefined; bytes = source()) {
    books.push(decodeBook(bytes));
    yield;
  }
  return books;
}

function stillWanted<T>(result: T | null): T {
  if (result === null) throw new AppError('timeout', 'the client left before the answer was found');
  return result;
}
