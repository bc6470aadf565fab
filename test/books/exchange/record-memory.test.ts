import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSplitter } from '../../../src/books/exchange/exchange.ts';
import { heldBytes, heldBytesMax } from '../../support/memory.ts';

const BYTES = 1_000_000;

for (const [format, start, end] of [
  ['json', '[{"title":"', '"}]'], ['jsonl', '{"title":"', '"}\n'], ['csv', 'title\n"', '"\n'],
] as const) {
  test(`a ${format} record in one-byte pieces takes no more than twice its bytes`, () => {
    const splitter = createSplitter(format);
    splitter.push(Buffer.from(start));
    const before = heldBytes();
    for (let count = 0; count < BYTES; count += 1) splitter.push(Buffer.from('x'));
    const held = heldBytes() - before;
    assert(held < heldBytesMax(BYTES), `${held} bytes are held for ${BYTES}`);
    const records = [...splitter.push(Buffer.from(end)), ...splitter.end()];
    assert.deepEqual(records.map(({ problem }) => problem), [undefined]);
  });
}
