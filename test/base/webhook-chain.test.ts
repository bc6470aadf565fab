import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHops } from '../../src/base/webhook-chain.ts';

test('of several counts of hops the highest counts, and none that is not sound', () => {
  for (const [header, hops] of [
    [undefined, 0], ['3', 3], ['5, 2', 5], [['2', '7', '1'], 7], ['x, -4, 1e3', 0],
  ] as const) {
    assert.equal(parseHops(header), hops, String(header));
  }
});
