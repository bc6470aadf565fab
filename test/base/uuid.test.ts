import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdSource, deriveIds, isUuid, timeOfUuidV7 } from '../../src/base/uuid.ts';

function sourceAt(times: readonly number[]) {
  let index = 0;
  const now = () => times[Math.min(index++, times.length - 1)] ?? 0;
  return createIdSource({ now });
}

test('an id is a UUIDv7 of its time', () => {
  const id = sourceAt([0x0123456789ab])();
  assert.match(id, /^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(timeOfUuidV7(id), 0x0123456789ab);
  assert.ok(isUuid(id));
});

test('ids rise within one millisecond', () => {
  const next = sourceAt([1_700_000_000_000]);
  const ids = Array.from({ length: 20_000 }, next);
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(new Set(ids).size, ids.length);
});

test('ids rise when the clock steps back', () => {
  const next = sourceAt([2000, 1000, 1500, 2000, 2001]);
  const ids = Array.from({ length: 5 }, next);
  assert.deepEqual(ids, ids.toSorted());
});

test('recognizes UUIDs in lower case only', () => {
  const good = '0190b2e0-7c3e-7abc-8def-0123456789ab';
  assert.ok(isUuid(good));
  for (const bad of [good.toUpperCase(), good.slice(1), `${good}0`, good.replace('-', '_'), '']) {
    assert.ok(!isUuid(bad), bad);
  }
});

test('derived ids go on where some are left out, over every carry', () => {
  for (const tail of ['000000fffffe', '7ffffefffffd', 'ffffff000000', '800000ffffff']) {
    const seed = `0190b2e0-7c3e-7abc-8def-${tail}`;
    const ids = Array.from({ length: 6 }, deriveIds(seed));
    const last = BigInt(`0x${tail}`) % 2n ** 47n;
    assert.deepEqual(ids.map((id) => BigInt(`0x${id.slice(-12)}`)),
      [1n, 2n, 3n, 4n, 5n, 6n].map((step) => last + step));
    assert.ok(ids.every((id) => isUuid(id) && id.startsWith(seed.slice(0, -12))));
    for (const skipped of [1, 2, 4]) {
      assert.deepEqual(Array.from({ length: 6 - skipped }, deriveIds(seed, skipped)),
        ids.slice(skipped));
    }
  }
});

test('derived ids are the same each time, rise, and end before the next id of their source', () => {
  for (const fill of [0x00, 0xa5, 0xff]) {
    const next = createIdSource({ now: () => 1_700_000_000_000 }, (pool) => void pool.fill(fill));
    const [before, seed, after] = [next(), next(), next()];
    const ids = Array.from({ length: 5000 }, deriveIds(seed));
    assert.deepEqual(Array.from({ length: 5000 }, deriveIds(seed)), ids);
    assert.ok(ids.every(isUuid));
    assert.deepEqual([before, ...ids, after], [before, ...ids, after].toSorted());
    assert.equal(new Set([before, seed, ...ids, after]).size, 5003);
  }
});

test('the counter of a millisecond starts below half, whatever chance says', () => {
  const next = createIdSource({ now: () => 5 }, (pool) => pool.fill(0xff));
  assert.deepEqual([next(), next()], [
    '00000000-0005-77ff-bfff-ffffffffffff', '00000000-0005-7800-8000-ffffffffffff',
  ]);
});

test('ids go on past one of another source, and past what is derived from it', () => {
  const derived = deriveIds(sourceAt([5000])())();
  const source = createIdSource({ now: () => 1000 });
  const before = source();
  source.advancePast(derived);
  const ids = [before, derived, source(), source()];
  assert.deepEqual(ids, ids.toSorted());
  source.advancePast(before);
  source.advancePast('no id');
  assert.ok(source() > (ids.at(-1) ?? ''));
  // The counter of its millisecond may be full.
  source.advancePast('00000000-2000-7fff-bfff-000000000000');
  assert.equal(timeOfUuidV7(source()), 0x2001);
});
