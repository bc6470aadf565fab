/**
 * A crash at any operation on the disk while a backfill runs and new events come in: the job goes
 * on or has ended, the webhook has one delivery of each event, and the new ones begin behind those
 * of the job, and do begin.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryCollection } from '../../../src/webhooks/deliveries/delivery.ts';
import { about, imagesOf, sample, type Image } from '../../support/crashes.ts';
import { IS_LONG } from '../../support/long.ts';
import { Disk } from '../../support/simulated-disk.ts';
import {
  createFlapping, numberIn, openRelayOn, recordsIn, type DiskRelay, type DiskRelayOptions,
  type Sent,
} from '../relay-on-disk.ts';

const KEYS = 5;
const MISSED = 120;
const NEW = 20;
const IMAGES = IS_LONG ? 120 : 8;
const LATER_MS = Date.UTC(2026, 0, 1, 1);
const EVER = '2025-01-01T00:00:00Z';
/** The job waits for room in the queue again and again, so that it takes its time. */
const PENDING_MAX = 30;
const OPTIONS: DiskRelayOptions = {
  events: { keep: 'all' }, outgoing: { maxPending: PENDING_MAX },
};

type Scenario = {
  readonly name: string;
  readonly members: object;
  readonly respond?: () => NonNullable<DiskRelayOptions['respond']>;
  /** What is done while the job runs. */
  readonly disturb?: (run: Run) => Promise<void>;
  readonly check: (run: Run, image: Image, next: DiskRelay) => void | Promise<void>;
};

/** A whole run, with the moments in the disk's history at which things were answered. */
type Run = {
  readonly relay: DiskRelay;
  readonly hook: string;
  job: string;
  jobAskedAt: number;
  jobAnsweredAt: number;
  /** When each of the new events was answered. */
  readonly newAnsweredAt: number[];
  disturbedAt: number;
  /** When the job has let go of the webhook's new deliveries. */
  releasedAt: number;
};

const keyOf = (n: number): number => n % KEYS;

/** Emits an event, as soon as there is room for it. */
async function emit({ ask, clock }: DiskRelay, n: number): Promise<void> {
  for (;;) {
    const { status } = await ask('POST', '/api/events', {
      name: 'thing.happened', payload: { n, key: keyOf(n) },
    });
    if (status === 202) return;
    assert.equal(status, 503);
    await clock.advance(100);
  }
}

async function runWhole({ members, respond, disturb }: Scenario): Promise<Run> {
  const relay = await openRelayOn(new Disk(), {
    ...OPTIONS, ...respond === undefined ? {} : { respond: respond() },
  });
  const { files, clock } = relay;
  await Promise.all(Array.from({ length: MISSED }, (_, n) => emit(relay, n)));
  await clock.advance(1000);
  const hook = await relay.addHook('late', members);
  relay.webhooks.start();
  const run: Run = {
    relay, hook, job: '', jobAskedAt: files.history.length, jobAnsweredAt: Infinity,
    newAnsweredAt: [], disturbedAt: Infinity, releasedAt: Infinity,
  };
  relay.store.collection('backfills').onChange(({ after }) => {
    if (after === null) run.releasedAt = files.history.length;
  });
  const { status, body } =
    await relay.ask('POST', `/api/outgoing-webhooks/${hook}/backfill`, { since: EVER });
  assert.equal(status, 202);
  run.job = String(Object(body).id);
  run.jobAnsweredAt = files.history.length;
  for (let n = 0; n < NEW; n += 1) {
    await emit(relay, MISSED + n);
    run.newAnsweredAt.push(files.history.length);
    if (n === 0) await disturb?.(run);
    await clock.advance(300);
    if (n === NEW / 2) await relay.store.compact();
  }
  await relay.finish(() => isIdle(relay));
  await relay.close();
  return run;
}

/** No job runs, and no delivery waits. */
function isIdle({ store }: DiskRelay): boolean {
  return [...recordsIn(store, { name: 'jobs' }).values()].every((json) =>
    JSON.parse(json).status !== 'running')
    && [...recordsIn(store, deliveryCollection).values()].every((json) =>
      JSON.parse(json).status !== 'pending');
}

/** Has all that is on the disk done. */
async function goOn({ disk }: Image, { respond }: Scenario): Promise<DiskRelay> {
  const relay = await openRelayOn(disk.clone(), {
    startMs: LATER_MS, ...OPTIONS, ...respond === undefined ? {} : { respond: respond() },
  });
  relay.webhooks.start();
  await relay.finish(() => isIdle(relay));
  return relay;
}

/** Checks what holds whatever has become of the job. */
async function checkBooks({ store, webhooks }: DiskRelay): Promise<void> {
  const byEvent = new Map<string, number>();
  for (const json of recordsIn(store, deliveryCollection).values()) {
    const { message, status } = JSON.parse(json);
    assert.notEqual(status, 'pending');
    byEvent.set(message, (byEvent.get(message) ?? 0) + 1);
  }
  assert.deepEqual([...byEvent].filter(([, count]) => count > 1), [], 'an event goes there twice');
  assert.equal(store.collection('backfills').size, 0, 'the hold is left');
  const { isReconciled, problems } = await webhooks.deliveries.reconcile();
  assert.ok(isReconciled, problems.join('; '));
}

/** The job as it is on disk; undefined without one. */
function jobIn({ store }: DiskRelay, { job }: Run): { status: string; done: number } | undefined {
  const json = recordsIn(store, { name: 'jobs' }).get(job);
  return json === undefined ? undefined : JSON.parse(json);
}

/** What was sent before the crash and after it, in this order. */
function sentAround({ relay }: Run, { index }: Image, next: DiskRelay): readonly Sent[] {
  return [...relay.sent.filter((sent) => sent.index <= index), ...next.sent];
}

/** Each event that is on the disk was sent, the missed ones if there is a job; none is left. */
async function checkAllSent(run: Run, image: Image, next: DiskRelay): Promise<void> {
  const job = jobIn(next, run);
  if (image.index >= run.jobAnsweredAt) assert.equal(job?.status, 'done', 'the job was answered');
  const numbers = new Set(sentAround(run, image, next).map(numberIn));
  const missed = Array.from({ length: MISSED }, (_, n) => n);
  assert.deepEqual(missed.filter((n) => !numbers.has(n)), job === undefined ? missed : []);
  checkNewSent(run, image, next);
  const { body } = await next.ask('POST', `/api/outgoing-webhooks/${run.hook}/backfill`,
    { since: EVER, dryRun: true });
  assert.equal(Object(body).count, job === undefined ? MISSED : 0, 'twice is the same as once');
}

function checkNewSent(run: Run, image: Image, next: DiskRelay): void {
  const numbers = new Set(sentAround(run, image, next).map(numberIn));
  const lost = run.newAnsweredAt.flatMap((at, place) =>
    at > image.index || numbers.has(MISSED + place) ? [] : [MISSED + place]);
  assert.deepEqual(lost, []);
}

/** Each first attempt comes behind those of all events before. */
function checkOrder(sent: readonly Sent[], name: string): void {
  const seen = new Set<number>();
  let last = -1;
  for (const n of sent.map(numberIn)) {
    if (!seen.has(n)) assert.ok(n > last, `${name}: ${n} began after ${last}`);
    seen.add(n);
    last = Math.max(last, n);
  }
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a backfill', members: { maxInFlight: 4 },
    async check(run, image, next) {
      await checkAllSent(run, image, next);
      checkOrder(sentAround(run, image, next), 'the webhook');
    },
  },
  {
    name: 'a backfill in order by key, with a target that fails',
    members: { maxInFlight: 4, order: { key: 'payload.key' } }, respond: createFlapping,
    async check(run, image, next) {
      await checkAllSent(run, image, next);
      for (let key = 0; key < KEYS; key += 1) {
        checkOrder(sentAround(run, image, next).filter((sent) => keyOf(numberIn(sent)) === key),
          `key ${key}`);
      }
    },
  },
  {
    name: 'a backfill that is cancelled', members: { maxInFlight: 4 },
    async disturb(run) {
      const { status } = await run.relay.ask('DELETE', `/api/jobs/${run.job}`);
      assert.equal(status, 200);
      run.disturbedAt = run.relay.files.history.length;
    },
    check(run, image, next) {
      checkNewSent(run, image, next);
      if (image.index < run.disturbedAt) return;
      const whole = jobIn(run.relay, run);
      assert.equal(whole?.status, 'cancelled');
      const job = jobIn(next, run);
      assert.deepEqual([job?.status, job?.done], [whole?.status, whole?.done]);
      const made = new Set(sentAround(run, image, next).map(numberIn).filter((n) => n < MISSED));
      assert.equal(made.size, job?.done, 'the job went on although it was cancelled');
    },
  },
  {
    name: 'a backfill whose webhook is removed', members: { maxInFlight: 4 },
    async disturb(run) {
      const { status } = await run.relay.ask('DELETE', `/api/outgoing-webhooks/${run.hook}`);
      assert.equal(status, 204);
      run.disturbedAt = run.relay.files.history.length;
    },
    check(run, image, next) {
      if (image.index < run.disturbedAt) return;
      assert.equal(next.sent.length, 0, 'something is sent to a webhook that is gone');
      assert.notEqual(jobIn(next, run)?.status, 'running');
    },
  },
];

for (const scenario of SCENARIOS) {
  test(`a crash at any moment of ${scenario.name} loses and repeats nothing`, async () => {
    const run = await runWhole(scenario);
    const { relay: whole, jobAskedAt } = run;
    const images = imagesOf(whole.files, {
      seeds: 2, pageBytes: 512, tornEvery: 997, from: jobAskedAt,
    });
    const inJob = images.filter(({ index }) => index <= run.releasedAt + 2);
    assert.ok(run.newAnsweredAt.some((at) => at < run.releasedAt), 'new events came meanwhile');
    const counts = new Set<number>();
    for (const image of [...sample(inJob, IMAGES, 1), ...sample(images, IMAGES / 2, 2)]) {
      await about(image.origin, async () => {
        const next = await goOn(image, scenario);
        try {
          counts.add(next.sent.length);
          await checkBooks(next);
          await scenario.check(run, image, next);
        } finally {
          await next.close();
        }
      });
    }
    assert.ok(counts.size >= 3, `crashes came in between: ${[...counts].join()}`);
  });
}
