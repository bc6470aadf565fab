/** In which members two books differ. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareBooks, listMergeChoices }
  from '../../../../src/console/screens/books/compare-books.ts';

const BOOK = {
  id: 'a', title: 'Emma', authors: [{ name: 'Jane Austen' }], createdAt: '2026', updatedAt: '2026',
};

/** The paths of all members, those that differ with their values. */
function compare(first: object, second: object): readonly unknown[] {
  return compareBooks({ ...BOOK, ...first }, { ...BOOK, ...second })
    .map(({ path, values, isDifferent }) => isDifferent ? [path.join('.'), ...values]
      : path.join('.'));
}

test('books that differ in what the service gives alone are the same', () => {
  assert.deepEqual(compare({}, { id: 'b', createdAt: '2027', updatedAt: '2027' }),
    ['title', 'authors.0.name']);
});

test('members of objects and of lists of objects are compared by themselves', () => {
  for (const [first, second, differences] of [
    [{ title: 'Emma' }, { title: 'emma' }, [['title', 'Emma', 'emma']]],
    [{ isbn: '1' }, {}, [['isbn', '1', undefined]]],
    [{ authors: [] }, {}, [['authors.0.name', undefined, 'Jane Austen']]],
    [{}, { authors: [{ name: 'Jane Austen', address: { addressCountry: 'GB' } }, { name: 'B' }] }, [
      ['authors.0.address.addressCountry', undefined, 'GB'], ['authors.1.name', undefined, 'B'],
    ]],
    [{ keywords: ['a', 'b'] }, { keywords: ['a, b'] }, [['keywords', ['a', 'b'], ['a, b']]]],
    [{ keywords: [] }, {}, []],
    [{ metadata: { a: { b: 1 }, c: null } }, { metadata: { a: { b: '1' }, c: null } },
      [['metadata.a.b', 1, '1']]],
  ] as const) {
    assert.deepEqual(compare(first, second).filter(Array.isArray), differences);
  }
});

test('members come in the order of the first book, then those of the second alone', () => {
  assert.deepEqual(compare({ isbn: '1', publisher: 'P' }, { subtitle: 'S', publisher: 'P' })
    .map((member) => [member].flat()[0]),
  ['title', 'authors.0.name', 'isbn', 'publisher', 'subtitle']);
});

test('what two books differ in is chosen by the members that a merge takes', () => {
  const choices = listMergeChoices(
    { ...BOOK, keywords: [], series: [], reading: { rating: 4, status: 'read' }, mergedIds: ['x'] },
    {
      ...BOOK, id: 'b', updatedAt: '2027', isbn: '1', series: [{ name: 'A' }],
      authors: [{ name: 'Jane Austen', birthDate: '1775' }],
      reading: { rating: 4, finishedOn: '2024' },
    });
  assert.deepEqual(choices.map(({ name, values }) => [name, ...values]), [
    ['authors', [{ name: 'Jane Austen' }], [{ name: 'Jane Austen', birthDate: '1775' }]],
    ['reading.status', 'read', undefined], ['isbn', undefined, '1'],
    ['series', undefined, [{ name: 'A' }]], ['reading.finishedOn', undefined, '2024'],
    ['metadata', undefined, undefined],
  ]);
  assert.deepEqual(choices.map(({ path }) => path).at(-2), ['reading', 'finishedOn']);
  assert.deepEqual(listMergeChoices(BOOK, { ...BOOK, id: 'b' }), []);
});

test('at first a merge has what either book lacks, and the items of both lists', () => {
  const choices = listMergeChoices(
    { ...BOOK, keywords: ['a'], reading: { rating: 4, status: 'read' } },
    { ...BOOK, id: 'b', keywords: ['b'], reading: { rating: 5, shelves: ['own'] } });
  assert.deepEqual(choices.map(({ name, initial, canCombine }) => [name, initial, canCombine]), [
    ['keywords', 'both', true], ['reading.rating', 'own', false], ['reading.status', 'own', false],
    ['reading.shelves', 'other', false], ['metadata', 'both', true],
  ]);
});

test('at first a merge has no reading that ends before it starts', () => {
  const [choice] = listMergeChoices(
    { ...BOOK, reading: { startedOn: '2024' } }, { ...BOOK, reading: { finishedOn: '2023' } })
    .filter(({ name }) => name === 'reading.finishedOn');
  assert.equal(choice?.initial, 'own');
});
