import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotColumns } from '../../../src/books/list/columns.ts';
import { encodeDate } from '../../../src/books/query/fields.ts';
import { FakeCollection } from '../../support/fake-collection.ts';

// A block of a column holds 4096 numbers of 8 bytes.
const BLOCK_BYTES = 4096 * 8;

test('what is remembered is bounded, and what is not is read again', () => {
  const collection = new FakeCollection();
  for (let count = 0; count < 5000; count += 1) {
    const year = String(1000 + count);
    collection.put({ id: `id-${String(count).padStart(5, '0')}`, datePublished: year });
  }
  let reads = 0;
  collection.onRead = () => {
    reads += 1;
  };
  const columns = new SlotColumns(collection, BLOCK_BYTES + 1);
  const [published, language] = [columns.published(), columns.language()];
  for (const round of [1, 2]) {
    for (const slot of [0, 4095, 4096, 4999]) {
      assert.equal(published.at(slot), encodeDate(String(1000 + slot)));
      assert.equal(columns.languageOf(language.at(slot)), null);
    }
    // The first 4096 dates fit; neither the others nor another column do.
    assert.equal(reads, round === 1 ? 8 : 8 + 6);
  }
});
