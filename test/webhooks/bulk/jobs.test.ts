import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { encodeJob, jobCollection, toPublicJob, type Job } from '../../../src/webhooks/bulk/job.ts';
import { Jobs } from '../../../src/webhooks/bulk/jobs.ts';
import { backfillCollection, putHold } from '../../../src/webhooks/deliveries/backfill-hold.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store.ts';
import { until } from '../../support/until.ts';
import { createContext } from '../context.ts';
import { THINGS, Trouble, addThings, createCountUp, idOf, putThing, thingsIn }
  from './fake-kind.ts';

const TURNS = 50;
const KINDS = ['count-up', 'count-more'] as const;

class Place {
  readonly store: MemoryStore;
  readonly clock = new ManualClock();
  readonly trouble = new Trouble();
  readonly jobs: Jobs;
  /** The messages of the log. */
  readonly logLines: string[] = [];

  constructor(store = createMemoryStore([THINGS, jobCollection])) {
    this.store = store;
    const kind = createCountUp(store, this.trouble);
    this.jobs = new Jobs(createContext({
      store, clock: this.clock,
      writeLog: (line) => this.logLines.push(JSON.parse(line).message),
    }), Object.fromEntries(KINDS.map((name) => [name, kind])));
  }

  /** Resolves when what has begun must have come to its end. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) {
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }

  /** The number of things that were counted up so often. */
  counted(times: number): number {
    return thingsIn(this.store).filter((thing) => thing.times === times).length;
  }

  /** Resolves while the third chunk is staged. */
  midway(): Promise<void> {
    let calls = 0;
    return new Promise((resolve) => {
      this.trouble.onStage = () => {
        calls += 1;
        // The store runs each transaction twice.
        if (calls === 6) resolve();
      };
    });
  }

  async ended({ id }: Job): Promise<Job> {
    await until('the job has ended', () => this.jobs.get(id).status !== 'running',
      { seen: () => JSON.stringify(this.jobs.get(id)) });
    return this.jobs.get(id);
  }
}

async function withPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const place = new Place();
  try {
    await use(place);
  } finally {
    await place.jobs.close();
  }
}

function counts({ status, total, done, failed }: Job): readonly unknown[] {
  return [status, total, done, failed];
}

test('does it once with every record that matches, and counts them', () =>
  withPlace(async (place) => {
    await addThings(place.store, 250);
    await addThings(place.store, 30, { first: 250, colour: 'blue' });
    place.jobs.start();
    const job = await place.jobs.add('count-up', { colour: 'red' });
    assert.deepEqual(toPublicJob(job), {
      id: job.id, kind: 'count-up', status: 'running', reason: null, total: 250, done: 0,
      failed: 0, hook: null,
    });
    assert.deepEqual(counts(await place.ended(job)), ['done', 250, 250, 0]);
    assert.deepEqual([place.counted(1), place.counted(0)], [250, 30]);
  }));

test('one runs of each bound token, and each keeps its own finished ones', () =>
  withPlace(async (place) => {
    await addThings(place.store, 5);
    const [unbound, first, second] = [
      await place.jobs.add('count-up', {}), await place.jobs.add('count-up', {}, { token: 't1' }),
      await place.jobs.add('count-up', {}, { token: 't2' }),
    ];
    for (const token of [undefined, 't1', 't2']) {
      await assert.rejects(place.jobs.add('count-up', {}, { token }), { code: 'conflict' });
    }
    place.jobs.start();
    for (const job of [unbound, first, second]) await place.ended(job);
    for (let count = 0; count < 110; count += 1) {
      await place.ended(await place.jobs.add('count-up', {}, { token: 't1' }));
    }
    assert.deepEqual([undefined, 't1', 't2'].map((token) =>
      place.jobs.list().filter((job) => job.token === token).length), [1, 100, 1]);
  }));

test('commits each chunk together with the progress of the job', () => withPlace(async (place) => {
  await addThings(place.store, 250);
  place.jobs.start();
  const before = place.store.lines.length;
  await place.ended(await place.jobs.add('count-up', {}));
  const [first, ...chunks] = place.store.lines.slice(before);
  assert.deepEqual(first?.map(({ collection }) => collection), ['jobs']);
  let done = 0;
  for (const line of chunks) {
    const things = line.filter(({ collection }) => collection === THINGS.name).length;
    const last = line.at(-1);
    assert.equal(last?.collection, 'jobs');
    done += things;
    assert.equal(JSON.parse(last?.json ?? '').done, done);
  }
  assert.equal(done, 250);
  assert.ok(chunks.length >= 3, 'it takes several chunks');
}));

test('bounds a chunk by its bytes', () => withPlace(async (place) => {
  await addThings(place.store, 10, { text: 'x'.repeat(200_000) });
  const sizes = new Set<number>();
  place.trouble.onStage = (count) => sizes.add(count);
  place.jobs.start();
  await place.ended(await place.jobs.add('count-up', {}));
  assert.deepEqual([...sizes].sort(), [2]);
}));

test('takes only what existed when it began', () => withPlace(async (place) => {
  await addThings(place.store, 150);
  const job = await place.jobs.add('count-up', {});
  await addThings(place.store, 20, { first: 150 });
  place.jobs.start();
  assert.deepEqual(counts(await place.ended(job)), ['done', 150, 150, 0]);
  assert.equal(place.counted(0), 20);
}));

test('leaves out what is added later under an id that is older', () => withPlace(async (place) => {
  await addThings(place.store, 600, { first: 1 });
  place.jobs.start();
  const midway = place.midway();
  const job = await place.jobs.add('count-up', {});
  await addThings(place.store, 1, { first: 0, colour: 'blue' });
  await place.store.transact((transaction) =>
    putThing(transaction, { id: `${idOf(600)}-`, colour: 'blue', times: 0 }));
  await midway;
  await place.store.transact((transaction) =>
    putThing(transaction, { id: `${idOf(599)}-`, colour: 'blue', times: 0 }));
  assert.deepEqual(counts(await place.ended(job)), ['done', 600, 600, 0]);
  assert.equal(place.counted(0), 3);
}));

test('leaves out what matches no more, and corrects the total', () => withPlace(async (place) => {
  await addThings(place.store, 10);
  const job = await place.jobs.add('count-up', { colour: 'red' });
  await place.store.transact((transaction) => {
    putThing(transaction, { id: idOf(3), colour: 'blue', times: 0 });
    transaction.delete(THINGS.name, idOf(4));
  });
  place.jobs.start();
  assert.deepEqual(counts(await place.ended(job)), ['done', 8, 8, 0]);
}));

test('only adds a job while it is not started', () => withPlace(async (place) => {
  await addThings(place.store, 10);
  const { id } = await place.jobs.add('count-up', {});
  await place.clock.advance(10_000);
  assert.deepEqual(counts(place.jobs.get(id)), ['running', 10, 0, 0]);
}));

test('goes on after a restart, and repeats and skips nothing', () => withPlace(async (first) => {
  await addThings(first.store, 1000);
  first.jobs.start();
  const midway = first.midway();
  const job = await first.jobs.add('count-up', {});
  await midway;
  await first.jobs.close();
  const { done, status } = first.jobs.get(job.id);
  assert.equal(status, 'running');
  assert.ok(done > 0 && done < 1000, `it was in the middle: ${done}`);
  assert.equal(first.counted(1), done);
  const second = new Place(first.store);
  second.jobs.start();
  assert.deepEqual(counts(await second.ended(job)), ['done', 1000, 1000, 0]);
  assert.equal(second.counted(1), 1000);
  await second.jobs.close();
}));

test('what a cancelled job has done stays done', () => withPlace(async (place) => {
  await addThings(place.store, 1000);
  place.jobs.start();
  const midway = place.midway();
  const { id } = await place.jobs.add('count-up', {});
  await midway;
  const cancelled = await place.jobs.cancel(id);
  assert.equal(cancelled.status, 'cancelled');
  assert.ok(cancelled.done < 1000);
  await place.jobs.close();
  assert.equal(place.counted(1), cancelled.done);
  assert.deepEqual(place.jobs.get(id), cancelled);
  assert.deepEqual(await place.jobs.cancel(id), cancelled, 'a second time changes nothing');
  await assert.rejects(place.jobs.cancel('nobody'), { code: 'not_found' });
}));

test('a job that has ended is not cancelled', () => withPlace(async (place) => {
  await addThings(place.store, 3);
  place.jobs.start();
  const job = await place.ended(await place.jobs.add('count-up', {}));
  assert.deepEqual(await place.jobs.cancel(job.id), job);
}));

test('refuses a second job of a kind while one runs', () => withPlace(async (place) => {
  await addThings(place.store, 3);
  const results = await Promise.allSettled([
    place.jobs.add('count-up', {}), place.jobs.add('count-up', {}),
    place.jobs.add('count-more', {}),
  ]);
  assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
  await assert.rejects(place.jobs.add('count-up', {}), { code: 'conflict', message: /wait/ });
  const [, one] = place.jobs.list();
  await place.jobs.cancel(one?.id ?? '');
  assert.equal((await place.jobs.add('count-up', {})).status, 'running');
}));

test('a job with nothing to do has ended at once', () => withPlace(async (place) => {
  assert.deepEqual(counts(await place.jobs.add('count-up', {})), ['done', 0, 0, 0]);
  await addThings(place.store, 3);
  assert.deepEqual(counts(await place.jobs.add('count-up', { colour: 'blue' })),
    ['done', 0, 0, 0]);
  assert.equal(await place.jobs.count('count-up', { colour: 'red' }), 3);
}));

test('waits while there is no room, and takes what there is room for', () =>
  withPlace(async (place) => {
    await addThings(place.store, 40);
    place.trouble.room = 0;
    place.jobs.start();
    const job = await place.jobs.add('count-up', {});
    await place.clock.advance(5000);
    assert.deepEqual(counts(place.jobs.get(job.id)), ['running', 40, 0, 0]);
    place.trouble.room = 3;
    await place.clock.advance(1000);
    assert.deepEqual(counts(await place.ended(job)), ['done', 40, 40, 0]);
    assert.equal(place.counted(1), 40);
  }));

for (const code of ['storage_full', 'unavailable'] as const) {
  test(`waits while the store takes no writes (${code})`, () => withPlace(async (place) => {
    await addThings(place.store, 10);
    const job = await place.jobs.add('count-up', {});
    place.store.failNextBatch(new AppError(code, 'no'));
    place.jobs.start();
    await place.clock.advance(1000);
    assert.deepEqual(counts(await place.ended(job)), ['done', 10, 10, 0]);
    assert.equal(place.counted(1), 10);
  }));
}

test('does nothing twice when a chunk that seemed lost is committed later', async () => {
  const store = createMemoryStore([THINGS, jobCollection]);
  await addThings(store, 250);
  let isOutcomeKnown = true;
  const place = new Place({
    ...store,
    transact(prepare) {
      const committing = store.transact(prepare);
      if (isOutcomeKnown) return committing;
      isOutcomeKnown = true;
      return Promise.reject(new AppError('unknown_outcome', 'perhaps'));
    },
  });
  const job = await place.jobs.add('count-up', {});
  isOutcomeKnown = false;
  place.jobs.start();
  assert.deepEqual(counts(await place.ended(job)), ['done', 250, 250, 0]);
  assert.equal(place.counted(1), 250);
  await place.jobs.close();
});

test('counts what cannot be done, and what fails with a bug, and does the others', () =>
  withPlace(async (place) => {
    await addThings(place.store, 300);
    for (const index of [0, 120, 299]) place.trouble.broken.add(idOf(index));
    for (const index of [1, 200]) place.trouble.refused.add(idOf(index));
    place.jobs.start();
    const job = await place.ended(await place.jobs.add('count-up', {}));
    assert.deepEqual(counts(job), ['done', 300, 295, 5]);
    assert.equal(place.counted(1), 295);
  }));

test('waits while it cannot write that a record failed, and logs the record once', async () => {
  const store = createMemoryStore([THINGS, jobCollection]);
  await addThings(store, 1);
  let isFull = false;
  const place = new Place({
    ...store,
    transact: (prepare) => store.transact((transaction) => {
      const result = prepare(transaction);
      if (isFull) throw new AppError('storage_full', 'no');
      return result;
    }),
  });
  place.trouble.broken.add(idOf(0));
  const job = await place.jobs.add('count-up', {});
  isFull = true;
  let stageCount = 0;
  place.trouble.onStage = () => {
    stageCount += 1;
  };
  place.jobs.start();
  await place.clock.advance(3000);
  assert.ok(stageCount < 20, `staged ${stageCount} times`);
  isFull = false;
  await place.clock.advance(1000);
  assert.deepEqual(counts(await place.ended(job)), ['done', 1, 0, 1]);
  assert.deepEqual(place.logLines.filter((line) => line.includes('failed')),
    ['a job failed with a record']);
  await place.jobs.close();
});

test('closes while a job waits, without waiting itself', () => withPlace(async (place) => {
  await addThings(place.store, 10);
  place.trouble.room = 0;
  place.jobs.start();
  const job = await place.jobs.add('count-up', {});
  await place.clock.advance(100);
  await place.jobs.close();
  assert.equal(place.jobs.get(job.id).status, 'running');
}));

test('closes at once when that comes while a chunk is refused', () => withPlace(async (place) => {
  await addThings(place.store, 1);
  place.trouble.room = 0;
  let closed: Promise<void> | null = null;
  place.trouble.onStage = () => {
    closed ??= place.jobs.close();
  };
  place.jobs.start();
  const job = await place.jobs.add('count-up', {});
  await until('it is closed', () => closed !== null);
  await closed;
  assert.equal(place.jobs.get(job.id).status, 'running');
}));

test('keeps the last hundred that have ended, and those that run', () =>
  withPlace(async (place) => {
    await addThings(place.store, 1);
    const running = await place.jobs.add('count-more', {});
    const added: string[] = [];
    for (let index = 0; index < 103; index += 1) {
      added.push((await place.jobs.add('count-up', { colour: 'none' })).id);
    }
    const kept = place.jobs.list().map(({ id }) => id);
    assert.deepEqual(kept, [...added.slice(3).reverse(), running.id]);
  }));

/** Adds a job that is to hold the deliveries of a webhook, and whose hold is not there. */
async function addHoldingJob({ kind = 'count-up' } = {}): Promise<{
  readonly place: Place; readonly store: MemoryStore;
  readonly job: Job & { readonly hook: string };
  /** For each change of a hold from now on, whether it is there. */
  readonly holds: readonly boolean[];
}> {
  const store = createMemoryStore([THINGS, jobCollection, backfillCollection]);
  const place = new Place(store);
  await addThings(store, 1);
  const job = { ...await place.jobs.add('count-up', {}), kind, hook: 'webhook' };
  await store.transact((transaction) => {
    transaction.put(jobCollection.name, job.id, encodeJob(job));
  });
  const holds: boolean[] = [];
  store.collection(backfillCollection.name).onChange(({ after }) => holds.push(after !== null));
  return { place, store, job, holds };
}

test('a job that stops lets go of the deliveries that it holds', async () => {
  const { place, store, job } = await addHoldingJob({ kind: 'unknown' });
  await store.transact((transaction) => putHold(transaction, job.hook, job.id));
  store.failNextBatch(new AppError('unavailable', 'not now'));
  place.jobs.start();
  await until('the hold is gone', async () => {
    await place.clock.advance(1000);
    return store.collection(backfillCollection.name).size === 0;
  });
  assert.equal(place.jobs.get(job.id).status, 'running');
  await place.jobs.close();
});

test('a job that goes on after it had stopped holds deliveries again until its end', async () => {
  const { place, job, holds } = await addHoldingJob();
  place.jobs.start();
  await until('the job has ended', async () => {
    await place.clock.advance(1000);
    return place.jobs.get(job.id).status === 'done';
  });
  assert.deepEqual(holds, [true, false]);
  await place.jobs.close();
});

test('a job that has stopped stays so until the next start, whatever else ends', async () => {
  const { place, holds } = await addHoldingJob({ kind: 'unknown' });
  place.jobs.start();
  await until('it has stopped', () => place.logLines.length > 0);
  await place.ended(await place.jobs.add('count-more', {}));
  await place.settle();
  assert.deepEqual(place.logLines, ['a job has stopped until the next start']);
  assert.deepEqual(holds, []);
  await place.jobs.close();
});

for (const code of ['unavailable', 'storage_full'] as const) {
  test(`a job waits with its hold while the store takes no writes (${code})`, async () => {
    const store = createMemoryStore([THINGS, jobCollection, backfillCollection]);
    const place = new Place(store);
    await addThings(store, 1);
    const job = { ...await place.jobs.add('count-up', {}), hook: 'webhook' };
    await store.transact((transaction) => {
      transaction.put(jobCollection.name, job.id, encodeJob(job));
    });
    store.failNextBatch(new AppError(code, 'not now'));
    place.jobs.start();
    await until('the job has ended', async () => {
      await place.clock.advance(1000);
      return place.jobs.get(job.id).status === 'done';
    }, { msMax: 10_000 });
    assert.deepEqual(place.logLines, ['a job waits to hold deliveries']);
    await place.jobs.close();
  });
}
