import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookSchema } from '../../../src/books/book.ts';
import { parseFields, selectMembers } from '../../../src/books/query/select-members.ts';
import { createRandom } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';

const TEXTS = ['plain', '"', '\\', '\\"', '{"title":"no"}', ']},{', 'é\n\u2028', '漢字', ''];
const NAMES = Object.keys(bookSchema.members);

test('the members of any book are those of JSON.parse, byte for byte', () => {
  const random = createRandom(1);
  for (let round = 0; round < 300; round += 1) {
    const text = (): string => pick(random, TEXTS);
    const values: readonly (() => unknown)[] = [
      text, () => round, () => -1.5e-7, () => true, () => null, () => [], () => ({}),
      () => [text(), text()], () => ({ title: text(), a: [{ isbn: text() }, [[]]] }),
    ];
    const book = Object.fromEntries(NAMES.map((name): [string, unknown] =>
      [name, pick(random, values)()]).filter(([name]) => name === 'id' || random() < 0.7));
    const names = NAMES.filter(() => random() < 0.3);
    const expected = Object.entries(book).filter(([name]) => name === 'id' || names.includes(name));
    const fields = parseFields(['id', ...names.toReversed()].join(','));
    const selection = selectMembers(Buffer.from(JSON.stringify(book)), fields).toString();
    assert.equal(selection, JSON.stringify(Object.fromEntries(expected)));
  }
});
