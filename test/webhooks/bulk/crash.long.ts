/** A crash at any operation of a job on the disk: nothing is done twice, and nothing left out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { openStore, type OpenedStore } from '../../../src/store/store.ts';
import { jobCollection, type Job } from '../../../src/webhooks/bulk/job.ts';
import { Jobs } from '../../../src/webhooks/bulk/jobs.ts';
import { about, imagesOf, sample } from '../../support/crashes.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { DIRECTORY } from '../../support/open-store.ts';
import { Disk } from '../../support/simulated-disk.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { until } from '../../support/until.ts';
import { createContext } from '../context.ts';
import { THINGS, addThings, createCountUp, thingsIn } from './fake-kind.ts';

const COUNT = 450;

type Opened = {
  readonly store: OpenedStore; readonly files: SimulatedFiles; readonly jobs: Jobs;
  close(): Promise<void>;
};

async function openOn(disk: Disk): Promise<Opened> {
  const files = new SimulatedFiles(disk);
  const clock = new ManualClock();
  const store = await openStore({
    directory: DIRECTORY, files, clock, logger: silentLogger, specs: [THINGS, jobCollection],
  });
  const kind = createCountUp(store);
  const jobs = new Jobs(createContext({ store, clock }), { 'count-up': kind });
  return {
    store, files, jobs,
    async close() {
      await jobs.close();
      await store.close();
    },
  };
}

/** What the job has counted is what was done, at this moment. */
function checkBooks({ store, jobs }: Opened): Job | undefined {
  const [job] = jobs.list();
  const times = thingsIn(store).map((thing) => thing.times);
  assert.ok(times.every((one) => one <= 1), 'nothing is done twice');
  assert.equal(times.filter((one) => one === 1).length, job?.done ?? 0);
  return job;
}

async function finish(opened: Opened): Promise<void> {
  const { jobs, store } = opened;
  jobs.start();
  await until('the job has ended', () => jobs.list()[0]?.status !== 'running');
  const { status, total, done, failed } = checkBooks(opened) ?? {};
  assert.deepEqual({ status, total, done, failed },
    { status: 'done', total: COUNT, done: COUNT, failed: 0 });
  assert.ok(thingsIn(store).every(({ times }) => times === 1));
}

test('a crash at any moment of a job repeats nothing and skips nothing', async () => {
  const whole = await openOn(new Disk());
  await addThings(whole.store, COUNT);
  await whole.jobs.add('count-up', {});
  const begun = whole.files.history.length;
  await finish(whole);
  await whole.close();
  const images = imagesOf(whole.files, { seeds: 2, pageBytes: 512, tornEvery: 7 })
    .filter(({ index }) => index >= begun);
  const seen = new Set<number>();
  for (const { disk, origin } of sample(images, 60, 1)) {
    await about(origin, async () => {
      const opened = await openOn(disk.clone());
      try {
        seen.add(checkBooks(opened)?.done ?? -1);
        await finish(opened);
      } finally {
        await opened.close();
      }
    });
  }
  assert.ok(seen.size >= 4, `crashes came in the middle: ${[...seen].join()}`);
});
