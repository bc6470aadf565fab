/** Which values a merged book gets at first of what two books have otherwise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseValues } from '../../src/books/merge-choice.ts';

/** The names of what comes from the other book, without the prefix. */
function listTaken(own: object, others: object): readonly string[] {
  const [members, otherMembers] = [own, others].map((reading) => Object.fromEntries(
    Object.entries(reading).map(([name, value]) => [`reading.${name}`, value])));
  return [...chooseValues(members ?? {}, otherMembers ?? {})]
    .filter(([, choice]) => choice === 'other').map(([name]) => name.replace('reading.', ''));
}

test('what the book lacks is of the other, and lists that both have are of both', () => {
  const choices = chooseValues(
    { title: 'A', keywords: ['a'], authors: [] },
    { title: 'B', keywords: ['b'], authors: [{ name: 'X' }], isbn: '1', series: [] });
  assert.deepEqual([...choices], [
    ['title', 'own'], ['keywords', 'both'], ['authors', 'other'], ['isbn', 'other'],
    ['series', 'own'], ['metadata', 'both'],
  ]);
});

test('a book that was read takes status and dates to one that was not, together', () => {
  const read = { status: 'read', startedOn: '2020-01-02', finishedOn: '2020-03' };
  for (const [own, others, names] of [
    [{ status: 'to-read' }, read, ['status', 'startedOn', 'finishedOn']],
    [{ status: 'reading', startedOn: '2020-02' }, read, ['status', 'startedOn', 'finishedOn']],
    [{ status: 'paused', startedOn: '2020-02' }, { status: 'read', finishedOn: '2020' },
      ['status', 'finishedOn']],
    [{ status: 'reading', startedOn: '2020-02' }, { status: 'read' }, ['status']],
    // It was begun again after the other had ended.
    [{ status: 'reading', startedOn: '2021' }, read, []],
    [{ status: 'reading' }, { status: 'abandoned', startedOn: '2020', finishedOn: '2021' },
      ['startedOn']],
    [{ status: 'to-read', rating: 3 }, { finishedOn: '2021', owned: true }, ['owned']],
    [{ status: 'read' }, { status: 'reading', startedOn: '2021' }, ['startedOn']],
    [{ status: 'abandoned' }, read, ['startedOn', 'finishedOn']],
    [{ rating: 3 }, read, ['status', 'startedOn', 'finishedOn']],
  ] as const) {
    assert.deepEqual(listTaken(own, others), names, JSON.stringify([own, others]));
  }
});

test('a book gets no date of another reading', () => {
  const others = { startedOn: '2020-01-02', finishedOn: '2020-03-04', owned: true };
  for (const [own, names] of [
    [{ finishedOn: '2023' }, ['owned']], [{ finishedOn: '2019' }, ['owned']],
    [{ finishedOn: '2020-03' }, ['startedOn', 'owned']],
  ] as const) assert.deepEqual(listTaken(own, others), names, JSON.stringify(own));
});

test('a title that has the subtitle in it gets none beside it', () => {
  const [long, short] = [{ title: 'A: B' }, { title: 'A', subtitle: 'B' }];
  assert.deepEqual([...chooseValues(long, short)],
    [['title', 'own'], ['subtitle', 'own'], ['metadata', 'both']]);
  assert.deepEqual([...chooseValues(long, { title: 'A', subtitle: 'b' })],
    [['title', 'own'], ['subtitle', 'own'], ['metadata', 'both']]);
  assert.deepEqual([...chooseValues({ title: 'A' }, short)],
    [['title', 'own'], ['subtitle', 'other'], ['metadata', 'both']]);
});

test('a date that would end a reading before its start stays behind', () => {
  assert.deepEqual(listTaken({ startedOn: '2019-05' }, { finishedOn: '2016', owned: true }),
    ['owned']);
  assert.deepEqual(listTaken({ finishedOn: '2016' }, { startedOn: '2019-05' }), []);
  assert.deepEqual(listTaken({ startedOn: '2019-05' }, { finishedOn: '2019' }), ['finishedOn']);
});
