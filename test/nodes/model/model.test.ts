/** The checker finds each fault that is planted into a model of the protocol, and none without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_LONG, someOf } from '../../support/long.ts';
import { check } from '../checker/check.ts';
import { BUGS, isBug } from './bugs.ts';
import { live } from './run.ts';

/** Those that break the most rules come first. */
const SEEDS = [4, 5, 2, 1, 3, 6, 7, 8, 9, 10, 11, 12];
const SOUND_SEEDS = IS_LONG ? SEEDS : SEEDS.slice(0, 1);

test('lives of the protocol as it is keep every promise', async () => {
  for (const seed of SOUND_SEEDS) {
    const history = await live(seed, null);
    assert.deepEqual(check(history).slice(0, 3), [], `seed ${seed}`);
    const count = (outcome: string): number =>
      history.writes.filter((write) => write.outcome === outcome).length;
    assert.ok(count('ok') > 50 && count('refused') > 5 && history.reads.length > 100,
      `seed ${seed} is no life: ${count('ok')} ok, ${count('refused')} refused`);
  }
});

for (const [bug, rule] of someOf(Object.entries(BUGS), 3)) {
  test(`found: ${bug}`, async () => {
    assert.ok(isBug(bug));
    const found = new Set<string>();
    for (const seed of SEEDS) {
      if (found.has(rule)) break;
      for (const violation of check(await live(seed, bug))) found.add(violation.rule);
    }
    assert.ok(found.has(rule), `${SEEDS.length} lives broke only: ${[...found].join(', ')}`);
  });
}
