import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteCollector } from '../../../src/base/structures/byte-collector.ts';
import { heldBytes, heldBytesMax } from '../../support/memory.ts';
import { below, createRandom } from '../../support/random.ts';

test('bytes come out as they went in, whatever their pieces', () => {
  const random = createRandom(3);
  const collector = new ByteCollector();
  for (let round = 0; round < 200; round += 1) {
    const sizes = Array.from({ length: below(random, 40) }, () =>
      below(random, random() < 0.2 ? 40_000 : 600));
    const pieces = sizes.map((size) => Buffer.alloc(size, below(random, 256)));
    for (const piece of pieces) collector.add(piece);
    const expected = Buffer.concat(pieces);
    assert.equal(collector.length, expected.length);
    assert(collector.take().equals(expected), sizes.join());
    assert.equal(collector.length, 0);
  }
  collector.add(Buffer.from('left'));
  collector.clear();
  assert.equal(collector.take().length, 0);
});

test('a piece that stays the only one is not copied', () => {
  const collector = new ByteCollector();
  const piece = Buffer.from('whole');
  collector.add(piece);
  assert.equal(collector.take(), piece);
});

for (const sizes of [[1], [2, 5000], [4095], [4096]] as const) {
  test(`pieces of ${sizes.join(' and ')} bytes cost no more than twice their bytes`, () => {
    const collector = new ByteCollector();
    const before = heldBytes();
    while (collector.length < 4_194_304) {
      for (const size of sizes) collector.add(Buffer.allocUnsafeSlow(size));
    }
    const held = heldBytes() - before;
    assert(held < heldBytesMax(collector.length / 2), `${held} bytes for ${collector.length}`);
  });
}
