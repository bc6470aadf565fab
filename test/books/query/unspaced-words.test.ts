import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../../src/base/clock.ts';
import { createBookList } from '../../../src/books/list/book-list.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { WordIndex } from '../../../src/books/index/word-index.ts';
import { compile } from '../../support/compile.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { getList } from '../../support/list-harness.ts';
import { noSearch } from '../../support/no-search.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const TITLES = [
  '東京の歴史', '東京物語', '中华人民共和国史', '机器学习基础教程', 'データベース入門',
  'ประวัติศาสตร์ไทย', 'วิธีทำอาหารไทย', '대한민국의 역사', '한국민의 대화',
];
const CASES: readonly (readonly [search: string, titles: readonly string[]])[] = [
  ['q=歴史', ['東京の歴史']],
  ['q=東京', ['東京の歴史', '東京物語']],
  ['q=歴史東京', ['東京の歴史']],
  ['q=人民共和国', ['中华人民共和国史']],
  ['q=机器教程', ['机器学习基础教程']],
  ['q=データ入門', ['データベース入門']],
  ['q=ไทย', ['ประวัติศาสตร์ไทย', 'วิธีทำอาหารไทย']],
  ['q=อาหารทำ', ['วิธีทำอาหารไทย']],
  ['q=한국', ['한국민의 대화']],
  ['q=민국', ['대한민국의 역사']],
  ['q=한국민', ['한국민의 대화']],
  ['q=한민국 역사', ['대한민국의 역사']],
  ['author=春樹村上', TITLES],
  ['author=春村', []],
];

for (const withIndex of [false, true]) {
  const how = withIndex ? 'through the index' : 'by looking at every book';

  test(`words inside text without spaces are found ${how}`, async () => {
    const collection = new FakeCollection();
    const stamp = '2026-01-01T00:00:00.000Z';
    for (const [index, title] of TITLES.entries()) {
      collection.put({
        id: `id-${index}`, createdAt: stamp, updatedAt: stamp, title,
        authors: [{ name: '村上春樹' }],
      });
    }
    const turns = createTurns(systemClock);
    const search = withIndex
      ? new WordIndex({ collection, turns, clock: systemClock, memtableBooks: 4 })
      : noSearch;
    const list = createBookList({ collection, turns, search });
    for (const [query, titles] of CASES) {
      const { books } = await getList(list, query);
      assert.deepEqual(books.map(({ title }) => title), titles, query);
    }
  });
}

test('a query without such script never makes a segmenter', async (context) => {
  const made = context.mock.method(Intl, 'Segmenter', () => {
    throw new Error('made');
  });
  // A copy of its own, which has made none yet.
  const folder = createTemporaryFolder();
  const source = resolve(import.meta.dirname, '../../../src/books/query/words.ts');
  const words = await import(pathToFileURL(compile(source, folder)).href);
  for (const text of ['plain words', 'Les Misérables', 'Война и мир', '한국의 역사', '978-0-441']) {
    assert.equal(words.parseClauses(text, 'q').length > 0, true);
  }
  assert.equal(made.mock.callCount(), 0);
  assert.throws(() => words.parseClauses('東京', 'q'), /made/);
});
