/** The probe says when nothing was committed; what it says excuses reads that are old. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/children.ts';
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
    await until(() => count() > 5, 'some commits');
    assert.deepEqual(probe.outages, []);
  },
));

test('commits that fail are one outage, until the first that does not', () => withProbe(
  async (count) => {
    if (count === 3) throw new Error('refused');
    return count !== 2 && count !== 4;
  },
  async (probe, count) => {
    await until(() => count() > 2, 'a commit that has failed');
    assert.equal(probe.outages.length, 1);
    await until(() => count() > 6, 'commits that have not');
    const [outage] = probe.outages;
    await until(() => count() > 8, 'more of them');
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
    await until(() => count() === 2, 'the commit');
    const beganMs = performance.now();
    await until(() => probe.outages.length === 1, 'it is late');
    const [open] = probe.outages;
    assert.ok(open !== undefined && open.beginMs <= beganMs && open.endMs > beganMs + 100);
    end();
    await until(() => count() > 3, 'more commits');
    const [over, ...others] = probe.outages;
    assert.deepEqual(others, []);
    assert.ok(over !== undefined && over.beginMs === open.beginMs && over.endMs > open.endMs);
  });
});
