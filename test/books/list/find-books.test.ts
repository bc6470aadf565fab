/** Pages beside those of a naive list, step by step, while somebody writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrentChanges } from '../../../src/books/list/concurrent-changes.ts';
import { encodeCursor } from '../../../src/books/query/cursor.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { readSortValues } from '../../../src/books/query/book-sort.ts';
import { EngineHarness, ORDER_KEYS } from '../../support/engine-harness.ts';
import { IS_LONG, longTest } from '../../support/long.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook, NaiveQuery } from '../../support/naive-list.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { pageSteps } from '../../support/page-steps.ts';
import { randomBook, randomQuery, searchOf } from '../../support/random-books.ts';
import { runAll } from '../../support/turns.ts';

const SEEDS = IS_LONG ? 200 : 6;
const ROUNDS = 50;
const ID_BOUND = 200;

type PageRequest = {
  readonly query: NaiveQuery;
  readonly limit: number;
  /** The last book of the page before, as it was there. */
  readonly after: NaiveBook | null;
  /** Called between two steps. */
  readonly between?: () => void;
};
type NaivePage = {
  readonly books: readonly NaiveBook[]; readonly total: number; readonly hasMore: boolean;
};
type Page = NaivePage & { readonly plan: string; readonly reason: string };

test('whatever is written between its steps, a page has each book that stays', () => {
  const counts = new Map<string, number>();
  let lasted = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const shelf = new EngineHarness();
    shelf.change(random, 300, ID_BOUND);
    for (let round = 0; round < ROUNDS; round += 1) {
      const query = randomQuery(random);
      const told = `seed ${seed}, round ${round}: ${decodeURIComponent(searchOf(query))}`;
      const unchanged = new Map(shelf.books);
      const seen: NaiveBook[] = [];
      const writes = { left: below(random, 80) };
      const between = (): void => disturb(random, shelf, writes);
      for (let after: NaiveBook | null = null, page = 0; page < 200; page += 1) {
        const limit = 1 + below(random, random() < 0.3 ? 120 : 30);
        const { plan, books, hasMore }: Page =
          getPage(shelf, { query, limit, after, between }, told);
        const sort = String(query['sort'] ?? 'id').split(',')[0];
        for (const key of [plan, `${plan} by ${sort}`]) {
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        seen.push(...books);
        after = books.at(-1) ?? null;
        if (!hasMore) break;
        between();
      }
      for (const [id, book] of unchanged) {
        if (shelf.books.get(id) !== book) unchanged.delete(id);
      }
      const lasting = naiveList([...unchanged.values()], query);
      const isLasting = ({ id }: NaiveBook): boolean => unchanged.has(id);
      assert.deepEqual(idsOf(seen.filter(isLasting)), idsOf(lasting), told);
      lasted += lasting.length;
    }
    shelf.indexes.close();
  }
  const rounds = SEEDS * ROUNDS;
  assert.ok(lasted > 10 * rounds, `${lasted} books lasted`);
  const often = (name: string): number => counts.get(name) ?? 0;
  const told = JSON.stringify([...counts].sort());
  assert.ok(often('order-walk') > rounds / 2, told);
  assert.ok(often('sorted-matches') > rounds / 10, told);
  assert.ok(often('scan') + often('scan-candidates') > rounds / 10, told);
  for (const key of [...ORDER_KEYS, 'id']) {
    for (const sign of ['', '-']) {
      assert.ok(often(`order-walk by ${sign}${key}`) > 0, `${sign}${key}: ${told}`);
    }
  }
});

longTest('matches at the end of an order are sorted once the walk has taken four times as long',
  () => {
    for (const sort of ['title', '-title', 'title,-createdAt', 'author', 'datePublished', 'id']) {
      const random = createRandom(sort.length);
      const shelf = new EngineHarness();
      const [key = ''] = sort.split(',');
      const isFirst = key.startsWith('-');
      for (let count = 0; count < 6000; count += 1) {
        const { inLanguage, ...book } = randomBook(random, `id-${10_000 + count}`);
        shelf.put(book);
      }
      const lateBook = (): NaiveBook => {
        const text = isFirst ? ' ' : `\u{10FFFD} ${below(random, 5)}`;
        // Metadata stand last in a stored book.
        const id = `id-${isFirst ? 1 : 9}${1000 + below(random, 40)}`;
        const { metadata, ...book } = randomBook(random, id);
        return {
          ...book, title: text, authors: [{ name: text, familyName: text }], datePublished: '9999',
          inLanguage: 'late',
        };
      };
      for (let count = 0; count < 60; count += 1) shelf.put(lateBook());
      // One that the walk takes before it is left.
      const { metadata, ...middle } = randomBook(random, 'id-15000');
      shelf.put({ ...middle, inLanguage: 'late' });
      const query = { inLanguage: 'late', sort };
      assert.equal((getPage(shelf, { query, limit: 2, after: null })).plan, 'scan');
      shelf.runAllTurns();
      for (let round = 0; round < 3; round += 1) {
        const between = (): void => {
          shelf.put(lateBook());
          shelf.runTurns(below(random, 3));
        };
        const page = getPage(shelf, { query, limit: 2, after: null, between }, sort);
        assert.equal(page.plan, 'sorted-matches', sort);
        assert.match(page.reason, /the walk was left after [\d,]+, as the matches stand/);
        shelf.runAllTurns();
      }
    }
  });

test('a book that changes at the end of a page comes again where a key before its id moves it',
  () => {
    const moved = { title: '~', datePublished: '9999', updatedAt: '2030-01-01T00:00:00.000Z' };
    for (const [sort, isMoved] of [
      ['id', false], ['-id', false], ['-id,datePublished', false], ['id,title,author', false],
      ['title,-id', true], ['datePublished,id,title', true], ['updatedAt', true],
    ] as const) {
      const shelf = createSortedShelf(40);
      shelf.indexes.findOrder('datePublished');
      shelf.runAllTurns();
      const after = naiveList([...shelf.books.values()], { sort })[9];
      assert.ok(after !== undefined);
      shelf.put({ ...after, ...moved });
      const page = getPage(shelf, { query: { sort }, limit: 100, after }, sort);
      assert.equal(page.books.some(({ id }) => id === after.id), isMoved, sort);
    }
  });

test('a page that lacks an order tells by which key', () => {
  const shelf = createSortedShelf(10);
  const ask = (sort: string): Page =>
    getPage(shelf, { query: { hasIsbn: 'false', sort }, limit: 2, after: null });
  // This has the column made.
  ask('title');
  shelf.runAllTurns();
  assert.match(ask('author').reason, /there is no index by author yet$/);
});

test('a book that changes after it was taken for a page stays as it was found', () => {
  for (const change of ['delete', 'put'] as const) {
    const shelf = createSortedShelf(100);
    const request = { query: { sort: 'title' }, limit: 40, after: null };
    const undisturbed = getPage(shelf, request);
    assert.equal(undisturbed.plan, 'order-walk');
    const book = shelf.books.get('id-3');
    assert.ok(book !== undefined);
    let steps = 0;
    const between = (): void => {
      steps += 1;
      if (steps !== 2) return;
      if (change === 'put') shelf.put({ ...book, title: '0' });
      else shelf.delete('id-3');
    };
    const page = getPage(shelf, { ...request, between });
    assert.deepEqual(page.books, undisturbed.books);
  }
});

test('a walk through an index that is dropped meanwhile goes on as the index was', () => {
  for (const sort of ['title', 'updatedAt', '-updatedAt', '-updatedAt,-id']) {
    const shelf = createSortedShelf(600);
    const sorted = naiveList([...shelf.books.values()], { sort });
    let steps = 0;
    const page = getPage(shelf, {
      query: { sort }, limit: 200, after: null,
      between() {
        steps += 1;
        if (steps === 3) shelf.dropAll();
        // It does not follow any more.
        for (const { id } of sorted.slice(20 * (steps + 1), 20 * (steps + 2))) shelf.delete(id);
      },
    }, sort);
    assert.equal(page.plan, 'order-walk', sort);
  }
});

test('a pending book that changes after it was counted is counted as it is', () => {
  const shelf = createSortedShelf(100);
  const { metadata, ...book } = randomBook(createRandom(1), 'id-99');
  const put = (id: string, hasIsbn: boolean): void => {
    const { isbn, ...rest } = book;
    shelf.put(hasIsbn ? { ...rest, isbn: '9780441172719', id } : { ...rest, id });
  };
  shelf.indexes.findColumn('hasIsbn');
  shelf.runAllTurns();
  for (const hasIsbn of [true, false]) {
    for (let index = 50; index < 100; index += 1) put(`id-${index}`, hasIsbn);
    let steps = 0;
    const page = getPage(shelf, {
      query: { sort: 'title', hasIsbn: 'true' }, limit: 2, after: null,
      between() {
        steps += 1;
        put(`id-${49 + steps}`, !hasIsbn);
      },
    });
    assert.equal(page.plan, 'order-walk');
    assert.ok(steps >= 2, `${steps} steps`);
  }
});

test('however many books are pending or change meanwhile, an index answers', () => {
  const shelf = createSortedShelf(2000);
  const request = { query: { sort: 'title' }, limit: 20, after: null };
  const touch = (first: number, count: number): void => {
    for (let index = first; index < first + count; index += 1) {
      shelf.put(randomBook(createRandom(index), `id-${index}`));
    }
  };
  touch(0, 900);
  let steps = 0;
  const between = (): void => {
    if (steps === 0) touch(800, 400);
    steps += 1;
  };
  assert.equal(getPage(shelf, { ...request, between }).plan, 'order-walk');
  shelf.runAllTurns();
  assert.equal(getPage(shelf, request).plan, 'order-walk');
});

test('a title that is an ISBN is not that ISBN', () => {
  const shelf = createSortedShelf(10);
  const { createdAt, updatedAt } = randomBook(createRandom(1), 'id-1');
  const book = { id: 'id-1', createdAt, updatedAt, title: '9780140328721', authors: [] };
  shelf.put(book);
  shelf.put({ ...book, id: 'id-2', title: 'a', isbn: '9780140328721' });
  const query = { q: '9780140328721', isbn: '9780140328721' };
  for (const ids of [['id-2'], ['id-2']]) {
    assert.deepEqual(idsOf(getPage(shelf, { query, limit: 5, after: null }).books), ids);
    shelf.runAllTurns();
  }
});

/** Books whose order by title, which has its index, is that of their numbers. */
function createSortedShelf(count: number): EngineHarness {
  const shelf = new EngineHarness();
  for (let index = 0; index < count; index += 1) {
    const title = String(1000 + index);
    shelf.put({ ...randomBook(createRandom(index), `id-${index}`), title });
  }
  shelf.indexes.findOrder('title');
  shelf.indexes.findOrder('updatedAt');
  shelf.runAllTurns();
  return shelf;
}

/** Somebody writes, and the indexes are made, follow, or are dropped. */
function disturb(random: Random, shelf: EngineHarness, writes: { left: number }): void {
  if (writes.left > 0 && random() < 0.5) {
    const count = below(random, 4);
    shelf.change(random, count, ID_BOUND);
    writes.left -= count;
  }
  shelf.runTurns(below(random, random() < 0.2 ? 400 : 8));
  if (random() < 0.01) shelf.dropAll();
}

/** A page, held to the naive list. */
function getPage(
  shelf: EngineHarness, request: PageRequest, told = '',
): Page {
  const { collection, indexes } = shelf;
  const { limit, between = () => {} } = request;
  const unchanged = new Map(shelf.books);
  const versions = new Map<string, NaiveBook[]>();
  const note = (): void => {
    for (const [id, book] of shelf.books) {
      const known = versions.get(id) ?? [];
      if (known.at(-1) !== book) versions.set(id, [...known, book]);
    }
  };
  const disturbAndNote = (): void => {
    between();
    note();
  };
  note();
  const changes = new ConcurrentChanges(collection);
  const text = cursorSearch(request);
  const steps = pageSteps({ collection, indexes, changes, search: text, limit });
  const { entries, total, plan } = runAll(steps, disturbAndNote);
  changes.stop();
  for (const [id, book] of unchanged) {
    if (shelf.books.get(id) !== book) unchanged.delete(id);
  }
  const found = entries.map(({ bytes }): NaiveBook => JSON.parse(bytes.toString()));
  const page = { books: found.slice(0, limit), total, hasMore: found.length > limit };
  const planned = `${told}, limit ${limit}: ${plan.name}, ${plan.explain()}`;
  if (changes.changedSlots.size === 0) {
    assert.deepEqual(page, expectPage(shelf.books, request), planned);
  }
  checkChangedPage(request, { found, total, unchanged, versions }, planned);
  return { ...page, plan: plan.name, reason: plan.explain() };
}

/** A page that was found while books changed, each of which may be as it was at some time. */
function checkChangedPage(
  request: PageRequest,
  { found, total, unchanged, versions }: {
    readonly found: readonly NaiveBook[]; readonly total: number;
    readonly unchanged: ReadonlyMap<string, NaiveBook>;
    readonly versions: ReadonlyMap<string, readonly NaiveBook[]>;
  },
  planned: string,
): void {
  const { query, limit } = request;
  const { sort = 'id' } = query;
  assert.ok(found.length <= limit + 1, planned);
  assert.equal(new Set(idsOf(found)).size, found.length, planned);
  assert.deepEqual(idsOf(naiveList(found, query)), idsOf(found), `in order: ${planned}`);
  for (const book of found) {
    const texts = versions.get(book.id)?.map((one) => JSON.stringify(one)) ?? [];
    assert.ok(texts.includes(JSON.stringify(book)), `${JSON.stringify(book)}: ${planned}`);
  }
  const lasting = expectPage(unchanged, { ...request, limit: Infinity });
  const changedCount = [...versions.keys()].filter((id) => !unchanged.has(id)).length;
  assert.ok(total >= lasting.total, planned);
  assert.ok(total <= lasting.total + changedCount, planned);
  const last = found.at(-1);
  const isCut = found.length > limit && last !== undefined;
  const reached = !isCut ? lasting.books
    : naiveList([...lasting.books.filter(({ id }) => id !== last.id), last], { sort });
  const end = isCut ? reached.indexOf(last) + 1 : reached.length;
  const isReached = new Set(idsOf(reached.slice(0, end)));
  assert.deepEqual(idsOf(found.filter(({ id }) => unchanged.has(id))),
    idsOf(lasting.books.filter(({ id }) => isReached.has(id))), planned);
}

function expectPage(
  books: ReadonlyMap<string, NaiveBook>, { query, limit, after }: PageRequest,
): NaivePage {
  const all = naiveList([...books.values()], query);
  const { sort } = query;
  const order: NaiveQuery = sort === undefined ? {} : { sort };
  // Behind the books that stand in the same place.
  const placed = after === null ? all : naiveList([...all, after], order);
  const later = placed.slice(after === null ? 0 : placed.lastIndexOf(after) + 1);
  return { books: later.slice(0, limit), total: all.length, hasMore: later.length > limit };
}

/** The query string, with the cursor of the page before. */
function cursorSearch({ query, after }: PageRequest): string {
  const search = searchOf({ ...query, typos: 'off' });
  if (after === null) return search;
  const { fingerprint, corrections, sort } = parseBookQuery(search);
  const bytes = Buffer.from(JSON.stringify(after));
  const position = { id: after.id, sortValues: readSortValues(sort, bytes) };
  return `${search}&cursor=${encodeURIComponent(encodeCursor(position, fingerprint, corrections))}`;
}

function idsOf(books: readonly NaiveBook[]): readonly string[] {
  return books.map(({ id }) => id);
}
