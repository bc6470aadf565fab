/** The probe says when nothing was committed; what it says excuses reads that are old. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { EngineProbe } from './engine-probe.ts';

async function withProbe(
  commit: (count: number) => Promise<boolean>,
  use: (probe: EngineProbe, count: () => number) => Promise<void>,
): Promise<void> {
  let count = 0;
  const probe = new EngineProbe(() => commit(count += 1));
  try {
    await use(probe, () => count);
  } finally {
    await probe.close();
  }
}

test('while commits go through there is no outage', () => withProbe(
  async () => true,
  async (probe, count) => {
    await until('some commits', () => count() > 5);
    assert.deepEqual(probe.outages, []);
  },
));

test('commits that fail are one outage, until the first that does not', () => withProbe(
  async (count) => {
    if (count === 3) throw new Error('refused');
    return count !== 2 && count !== 4;
  },
  async (probe, count) => {
    await until('a commit that has failed', () => count() > 2);
    assert.equal(probe.outages.length, 1);
    await until('commits that have not', () => count() > 6);
    const [outage] = probe.outages;
    await until('more of them', () => count() > 8);
    assert.deepEqual(probe.outages, [outage]);
    assert.ok(outage !== undefined && outage.endMs - outage.beginMs > 90, 'three pauses');
  },
));

test('a commit that is late is an outage from its begin on', async () => {
  let end = (): void => {};
  const late = new Promise<boolean>((resolve) => {
    end = () => resolve(true);
  });
  await withProbe((count) => count === 2 ? late : Promise.resolve(true), async (probe, count) => {
    await until('the commit', () => count() === 2);
    const beganMs = performance.now();
    await until('it is late', () => probe.outages.length === 1);
    const [open] = probe.outages;
    assert.ok(open !== undefined && open.beginMs <= beganMs && open.endMs > beganMs + 100);
    end();
    await until('more commits', () => count() > 3);
    const [over, ...others] = probe.outages;
    assert.deepEqual(others, []);
    assert.ok(over !== undefined && over.beginMs === open.beginMs && over.endMs > open.endMs);
  });
});
