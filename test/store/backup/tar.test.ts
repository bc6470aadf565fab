import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  TAR_BLOCK_BYTES, decodeTarHeader, encodeTarHeader, tarPadding,
} from '../../../src/store/backup/tar.ts';

for (const bytes of [0, 1, 511, 512, 8 ** 11 - 1, 8 ** 11, 2 ** 45]) {
  test(`a header for ${bytes} bytes comes back`, () => {
    const block = encodeTarHeader('books-000042.json', bytes, Date.UTC(2026, 0, 1));
    assert.equal(block.length, TAR_BLOCK_BYTES);
    assert.deepEqual(decodeTarHeader(block), { name: 'books-000042.json', bytes, isFile: true });
    assert.equal((bytes + tarPadding(bytes)) % TAR_BLOCK_BYTES, 0);
    assert.ok(tarPadding(bytes) < TAR_BLOCK_BYTES, 'a zero block would end the archive');
  });
}

test('a header with any byte changed is not one', () => {
  const good = encodeTarHeader('journal-000001.jsonl', 1000, 0);
  for (const offset of good.keys()) {
    const bad = Buffer.from(good);
    bad[offset] = (bad[offset] ?? 0) ^ 0x11;
    const header = decodeTarHeader(bad);
    const isChecksum = offset >= 148 && offset < 156;
    if (!isChecksum) assert.equal(header, null, `at ${offset}`);
  }
  assert.equal(decodeTarHeader(good.subarray(0, 500)), null);
  assert.equal(decodeTarHeader(Buffer.alloc(TAR_BLOCK_BYTES)), 'end');
});

test('directories and links are no files', () => {
  for (const type of ['1', '2', '5', 'x']) {
    const block = encodeTarHeader('books-000042.json', 0, 0);
    block.write(type, 156, 'latin1');
    const sum = 8 * 0x20 + block.reduce((total, byte, index) =>
      index >= 148 && index < 156 ? total : total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    const header = decodeTarHeader(block);
    assert.ok(header !== null && header !== 'end');
    assert.equal(header.isFile, false);
  }
});
