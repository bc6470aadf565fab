/** The checker finds each fault that is planted into a model of the protocol, and none without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_LONG } from '../../support/long.ts';
import { check } from '../checker/check.ts';
import { BUGS, isBug } from './bugs.ts';
import { live } from './run.ts';

const SEEDS = 12;
const SOUND_SEEDS = IS_LONG ? SEEDS : 4;

test('lives of the protocol as it is keep every promise', async () => {
  for (let seed = 1; seed <= SOUND_SEEDS; seed += 1) {
    const history = await live(seed, null);
    assert.deepEqual(check(history).slice(0, 3), [], `seed ${seed}`);
    const count = (outcome: string): number =>
      history.writes.filter((write) => write.outcome === outcome).length;
    assert.ok(count('ok') > 50 && count('refused') > 5 && history.reads.length > 100,
      `seed ${seed} is no life: ${count('ok')} ok, ${count('refused')} refused`);
  }
});

for (const [bug, rule] of Object.entries(BUGS)) {
  test(`found: ${bug}`, async () => {
    assert.ok(isBug(bug));
    const found = new Set<string>();
    for (let seed = 1; seed <= SEEDS && !found.has(rule); seed += 1) {
      for (const violation of check(await live(seed, bug))) found.add(violation.rule);
    }
    assert.ok(found.has(rule), `${SEEDS} lives broke only: ${[...found].join(', ')}`);
  });
}
