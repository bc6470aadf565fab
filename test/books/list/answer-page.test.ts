/** Pages by the indexes beside those of a naive list, step by step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerPage } from '../../../src/books/list/answer-page.ts';
import { ConcurrentChanges } from '../../../src/books/list/concurrent-changes.ts';
import { NEEDS_SCAN } from '../../../src/books/list/needs-scan.ts';
import type { PageResult } from '../../../src/books/list/scan.ts';
import { encodeCursor } from '../../../src/books/query/cursor.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { readSortValues } from '../../../src/books/query/sort-keys.ts';
import { EngineHarness } from '../../support/engine-harness.ts';
import { IS_LONG, longTest } from '../../support/long.ts';
import { naiveList } from '../../support/naive-list.ts';
import type { NaiveBook, NaiveQuery } from '../../support/naive-list.ts';
import { ORDER_KEYS } from '../../support/order-harness.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { randomBook, randomQuery, searchOf } from '../../support/random-books.ts';

const SEEDS = IS_LONG ? 200 : 5;
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
type Page = NaivePage & {
  readonly plan: string; readonly reason: string; readonly steps: number;
};

test('whatever is written between its steps, a page is that of its last step', async () => {
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
        const answer = await getPage(shelf, { query, limit, after, between }, told);
        const name = answer === null ? NEEDS_SCAN : answer.plan;
        const sort = String(query['sort'] ?? 'id').split(',')[0];
        for (const key of [name, `${name} by ${sort}`]) counts.set(key, (counts.get(key) ?? 0) + 1);
        const { books, hasMore }: NaivePage = answer ?? expectPage(shelf, { query, limit, after });
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
  assert.ok(often(NEEDS_SCAN) > rounds / 10, told);
  for (const key of [...ORDER_KEYS, 'id']) {
    for (const sign of ['', '-']) {
      assert.ok(often(`order-walk by ${sign}${key}`) > 0, `${sign}${key}: ${told}`);
    }
  }
});

longTest('matches at the end of an order are sorted once the walk has taken four times as long',
  async () => {
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
      assert.equal(await getPage(shelf, { query, limit: 2, after: null }), null);
      shelf.runAllTurns();
      for (let round = 0; round < 3; round += 1) {
        const between = (): void => {
          shelf.put(lateBook());
          shelf.runTurns(below(random, 3));
        };
        const page = await getPage(shelf, { query, limit: 2, after: null, between }, sort);
        assert.equal(page?.plan, 'sorted-matches', sort);
        assert.match(page?.reason ?? '', /the walk was left after [\d,]+, as the matches stand/);
        shelf.runAllTurns();
      }
    }
  });

test('a book that changes at the end of a page comes again where a key before its id moves it',
  async () => {
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
      const page = await getPage(shelf, { query: { sort }, limit: 100, after }, sort);
      assert.equal(page?.books.some(({ id }) => id === after.id), isMoved, sort);
    }
  });

test('a page that lacks an order tells by which key', async () => {
  const shelf = createSortedShelf(10);
  const ask = (sort: string): Promise<Page | null> =>
    getPage(shelf, { query: { hasIsbn: 'false', sort }, limit: 2, after: null });
  // This has the column made.
  await ask('title');
  shelf.runAllTurns();
  assert.match(String((await ask('author'))?.reason), /there is no index by author yet$/);
});

test('a page is found again when a book that was taken for it changes', async () => {
  const shelf = createSortedShelf(100);
  const request = { query: { sort: 'title' }, limit: 40, after: null };
  const undisturbed = await getPage(shelf, request);
  assert.equal(undisturbed?.plan, 'order-walk');
  let steps = 0;
  const between = (): void => {
    steps += 1;
    if (steps === 2) shelf.delete('id-3');
  };
  const page = await getPage(shelf, { ...request, between });
  assert.equal(page?.books.some(({ id }) => id === 'id-3'), false);
  assert.ok(page !== null && page.steps > undisturbed.steps, `${page?.steps} steps`);
});

test('a page that changes again and again is left to a scan', async () => {
  const shelf = createSortedShelf(100);
  let steps = 0;
  const page = await getPage(shelf, {
    query: { sort: 'title' }, limit: 40, after: null,
    between() {
      // One that was taken already, and not changed before.
      const book = shelf.books.get(`id-${steps}`);
      if (book !== undefined) shelf.put({ ...book, title: `${book.title} again` });
      steps += 1;
    },
  });
  assert.equal(page, null);
});

test('an index that is dropped in the midst of a walk is not walked through any more', async () => {
  for (const sort of ['title', 'updatedAt', '-updatedAt', '-updatedAt,-id']) {
    const shelf = createSortedShelf(600);
    const sorted = naiveList([...shelf.books.values()], { sort });
    let steps = 0;
    const page = await getPage(shelf, {
      query: { sort }, limit: 200, after: null,
      between() {
        steps += 1;
        if (steps === 3) shelf.dropAll();
        // It does not follow any more, and could not read the books that it holds.
        for (const { id } of sorted.slice(20 * (steps + 1), 20 * (steps + 2))) shelf.delete(id);
      },
    }, sort);
    assert.equal(page, null, sort);
  }
});

test('a pending book that changes after it was counted is counted as it is', async () => {
  const shelf = createSortedShelf(100);
  const { metadata, ...book } = randomBook(createRandom(1), 'id-99');
  const put = (id: string, hasIsbn: boolean): void => {
    const { isbn, ...rest } = book;
    shelf.put(hasIsbn ? { ...rest, isbn: '9780441172719', id } : { ...rest, id });
  };
  shelf.indexes.findColumn('isbn');
  shelf.runAllTurns();
  for (const hasIsbn of [true, false]) {
    for (let index = 50; index < 100; index += 1) put(`id-${index}`, hasIsbn);
    let steps = 0;
    const page = await getPage(shelf, {
      query: { sort: 'title', hasIsbn: 'true' }, limit: 2, after: null,
      between() {
        steps += 1;
        put(`id-${49 + steps}`, !hasIsbn);
      },
    });
    assert.notEqual(page, null);
    assert.ok(steps >= 3, `${steps} steps`);
  }
});

test('a page is left to a scan when over 500 books are pending', async () => {
  const shelf = createSortedShelf(600);
  const request = { query: { sort: 'title' }, limit: 3, after: null };
  const touch = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      shelf.put(randomBook(createRandom(index), `id-${index}`));
    }
  };
  touch(500);
  assert.equal((await getPage(shelf, request))?.plan, 'order-walk');
  touch(501);
  assert.equal(await getPage(shelf, request), null);
  shelf.runAllTurns();
  assert.equal((await getPage(shelf, request))?.plan, 'order-walk');
});

test('a page is left to a scan when over 100 books change meanwhile', async () => {
  for (const [changed, plan] of [[100, 'order-walk'], [101, undefined]] as const) {
    const shelf = createSortedShelf(600);
    const random = createRandom(1);
    let steps = 0;
    const page = await getPage(shelf, {
      query: { sort: 'title' }, limit: 20, after: null,
      between() {
        if (steps === 0) {
          for (let index = 0; index < changed; index += 1) {
            shelf.put({ ...randomBook(random, `id-${100 + index}`), title: `${index} zzz` });
          }
        }
        steps += 1;
      },
    });
    assert.equal(page?.plan, plan);
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

/** A page by the indexes, held to the naive list; null where a scan is needed. */
async function getPage(
  shelf: EngineHarness, request: PageRequest, told = '',
): Promise<Page | null> {
  const { collection, indexes, search } = shelf;
  const { query: naiveQuery, limit, after, between = () => {} } = request;
  const query = parseBookQuery(cursorSearch(request));
  const changes = new ConcurrentChanges(collection);
  const finding = search.find(query.filter, changes, { isWanted: () => true });
  const candidates = await shelf.runUntil(finding, between);
  const answer = answerPage({ collection, indexes, candidates, changes, query }, limit);
  let result: PageResult | typeof NEEDS_SCAN | null = null;
  let steps = 1;
  for (let step = answer.next(); result === null; steps += 1) {
    if (step.done === true) {
      result = step.value;
    } else {
      between();
      step = answer.next();
    }
  }
  changes.stop();
  if (result === NEEDS_SCAN) return null;
  const page = expectPage(shelf, { query: naiveQuery, limit, after });
  const { entries, total, plan } = result;
  const planned = `${told}, limit ${limit}: ${plan.name}, ${plan.reason}`;
  assert.deepEqual(entries.slice(0, limit).map(({ id }) => id), idsOf(page.books), planned);
  assert.deepEqual(
    entries.slice(0, limit).map(({ bytes }) => JSON.parse(bytes.toString())), page.books, planned);
  assert.equal(total, page.total, planned);
  assert.equal(entries.length > limit, page.hasMore, planned);
  return { ...page, plan: plan.name, reason: plan.reason, steps };
}

function expectPage(shelf: EngineHarness, { query, limit, after }: PageRequest): NaivePage {
  const all = naiveList([...shelf.books.values()], query);
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
