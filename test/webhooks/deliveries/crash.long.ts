/**
 * A crash at any operation on the disk while events are delayed, begin and are cancelled, and while
 * others are sent durably: what was answered is there and begins once, and what was cancelled never
 * begins.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatTimestamp } from '../../../src/base/clock.ts';
import { decodeDelivery } from '../../../src/webhooks/deliveries/delivery-codec.ts';
import { deliveryCollection, type Delivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { about, imagesOf, sample } from '../../support/crashes.ts';
import { Disk } from '../../support/simulated-disk.ts';
import {
  createFlapping, numberIn, openRelayOn, recordsIn, type DiskRelay, type Sent,
} from '../relay-on-disk.ts';

const ROUNDS = 8;
const ROUND_MS = 2000;
/** The last of the cancels come when the event has begun. */
const RACE_TURNS = 25;
const IMAGES = 250;
const LATER_IMAGES = 20;
/** More than one transaction takes. */
const MANY_HOOKS = 251;
const MANY_IMAGES = 60;
const LATER_MS = Date.UTC(2026, 0, 1, 1);

/** Something that was asked for, and the moments in the disk's history at which it was answered. */
type Asked = {
  readonly n: number;
  readonly id: string;
  readonly deliverAtMs: number;
  readonly hosts: readonly string[];
  readonly answeredAt: number;
  cancelBegunAt: number;
  cancelledAt: number;
};

/** What has to be on disk at a moment, and what must not be. */
type Expected = { readonly present: readonly Asked[]; readonly absent: readonly Asked[] };

/** Asks a relay for events and sends, and remembers what it was answered. */
class Caller {
  readonly asked: Asked[] = [];
  readonly #relay: DiskRelay;

  constructor(relay: DiskRelay) {
    this.#relay = relay;
  }

  async emit(delayMs: number): Promise<Asked> {
    const deliverAtMs = this.#relay.clock.now() + delayMs;
    return this.#ask('/api/events', { name: 'thing.happened' }, deliverAtMs, ['one', 'two'],
      ({ event }) => String(event));
  }

  async send(hook: string, delayMs: number): Promise<Asked> {
    const deliverAtMs = this.#relay.clock.now() + delayMs;
    return this.#ask(`/api/outgoing-webhooks/${hook}/deliveries`, {}, deliverAtMs, ['one'],
      ({ eventId }) => String(eventId));
  }

  /** Cancels an event, unless it has begun. */
  async cancel(asked: Asked): Promise<void> {
    const { files } = this.#relay;
    asked.cancelBegunAt = files.history.length;
    const { status } = await this.#relay.ask('DELETE', `/api/events/${asked.id}`);
    assert.ok(status === 204 || status === 409, String(status));
    if (status === 204) asked.cancelledAt = files.history.length;
    else asked.cancelBegunAt = Infinity;
  }

  expectedAt(index: number): Expected {
    return {
      present: this.asked.filter(({ answeredAt, cancelBegunAt }) =>
        answeredAt <= index && index < cancelBegunAt),
      absent: this.asked.filter(({ cancelledAt }) => cancelledAt <= index),
    };
  }

  async #ask(
    path: string, members: object, deliverAtMs: number, hosts: readonly string[],
    idOf: (answer: Readonly<Record<string, unknown>>) => string,
  ): Promise<Asked> {
    const { ask, files } = this.#relay;
    const n = this.asked.length;
    const place = this.asked.push({
      n, id: '', deliverAtMs, hosts, answeredAt: Infinity, cancelBegunAt: Infinity,
      cancelledAt: Infinity,
    }) - 1;
    const { status, body } = await ask('POST', path, {
      ...members, payload: { n }, deliverAt: formatTimestamp(deliverAtMs),
    });
    assert.equal(status, 202, JSON.stringify(body));
    const asked = {
      n, id: idOf(Object(body)), deliverAtMs, hosts, answeredAt: files.history.length,
      cancelBegunAt: Infinity, cancelledAt: Infinity,
    };
    this.asked[place] = asked;
    return asked;
  }
}

/** Delays, sends and cancels, while events begin; some begin after the end alone. */
async function live(relay: DiskRelay, caller: Caller, hook: string): Promise<void> {
  const { clock, store } = relay;
  for (let round = 0; round < ROUNDS; round += 1) {
    const [kept, cancelled, sent, raced] = await Promise.all([
      caller.emit(ROUND_MS * (round % 4)), caller.emit(2 * ROUND_MS), caller.send(hook, 0),
      caller.emit(ROUND_MS / 2), caller.send(hook, ROUND_MS * 1.5), caller.emit(100 * ROUND_MS),
      caller.send(hook, 100 * ROUND_MS),
    ]);
    assert.notEqual(kept.id, sent.id);
    const sentLater = await caller.send(hook, 2 * ROUND_MS);
    if (round === 4) await store.compact();
    // At the very moment when it begins: one of both comes first.
    const racing = clock.advance(ROUND_MS / 2);
    for (let turn = 0; turn < RACE_TURNS * round; turn += 1) await nextTurn();
    await Promise.all([racing, caller.cancel(raced)]);
    await caller.cancel(cancelled);
    if (round % 2 === 0) await caller.cancel(sentLater);
    await clock.advance(ROUND_MS / 2);
  }
  await clock.advance(5 * ROUND_MS);
}

function deliveriesIn({ store }: Pick<DiskRelay, 'store'>): ReadonlyMap<string, Delivery> {
  return new Map([...recordsIn(store, deliveryCollection)].map(([id, json]) =>
    [id, decodeDelivery(Buffer.from(json))]));
}

const isPending = ({ status }: Pick<Delivery, 'status'>): boolean => status === 'pending';

/** Has all that is on the disk done, and checks that it is, and nothing else. */
async function checkDisk(
  disk: Disk, expected: Expected, sentBefore: readonly Sent[],
): Promise<DiskRelay> {
  const relay = await openRelayOn(disk, { startMs: LATER_MS, respond: createFlapping() });
  try {
    const events = recordsIn(relay.store, { name: 'events' });
    for (const { n, id } of expected.present) {
      assert.ok(events.has(id), `event ${n} was answered and is lost`);
    }
    const before = deliveriesIn(relay);
    for (const { id, body } of sentBefore) {
      assert.ok(before.has(id), `${body} was sent by a delivery that is lost`);
    }
    relay.webhooks.start();
    await relay.finish(() => ['delayed-events', 'fan-outs'].every((name) =>
      relay.store.collection(name).size === 0)
      && [...deliveriesIn(relay).values()].every((delivery) => !isPending(delivery)));
    for (const sent of relay.sent) {
      assert.ok(isPending(before.get(sent.id) ?? { status: 'pending' }),
        `${sent.body} was delivered and is sent again`);
    }
    await checkEvents(relay, events);
    checkAbsent(relay, expected.absent);
  } finally {
    await relay.close();
  }
  return relay;
}

/** Each event that was on the disk has begun once: one delivery for each that hears it. */
async function checkEvents(relay: DiskRelay, events: ReadonlyMap<string, string>): Promise<void> {
  const deliveries = [...deliveriesIn(relay).values()];
  assert.ok(deliveries.every(({ status }) => status === 'delivered'));
  assert.deepEqual([...recordsIn(relay.store, { name: 'events' }).keys()], [...events.keys()]);
  for (const [id, json] of events) {
    const hooks = deliveries.filter(({ eventId }) => eventId === id).map(({ hook }) => hook);
    const isForAll = JSON.parse(json).to === undefined;
    const count = isForAll ? relay.store.collection('outgoing-webhooks').size : 1;
    assert.deepEqual([hooks.length, new Set(hooks).size], [count, count], `event ${id}`);
  }
  for (const name of ['delayed-events', 'fan-outs']) {
    assert.equal(relay.store.collection(name).size, 0, name);
  }
  const { isReconciled, problems } = await relay.webhooks.deliveries.reconcile();
  assert.ok(isReconciled, problems.join('; '));
}

function checkAbsent(relay: DiskRelay, absent: readonly Asked[]): void {
  const events = relay.store.collection('events');
  for (const { n, id } of absent) {
    assert.equal(events.findBytes(id), undefined, `event ${n} was cancelled and is there`);
    assert.ok(!relay.sent.some((sent) => numberIn(sent) === n), `event ${n} began`);
  }
}

/** Nothing begins before its time, and nothing that was cancelled begins. */
function checkWhole({ sent }: DiskRelay, { asked }: Caller): void {
  for (const one of sent) {
    const { n, deliverAtMs, cancelledAt } = asked[numberIn(one)] ?? assert.fail(one.body);
    assert.ok(one.atMs >= deliverAtMs, `event ${n} began early`);
    assert.equal(cancelledAt, Infinity, `event ${n} was cancelled`);
  }
  const count = asked.filter(({ cancelledAt }) => cancelledAt < Infinity).length;
  // Each round cancels one in time, every other a send, and races with the begin of a third.
  assert.ok(count > 1.5 * ROUNDS && count < 2.5 * ROUNDS, `${count} were cancelled`);
}

test('a crash loses no delayed event, begins none twice, and none that was cancelled', async () => {
  const whole = await openRelayOn(new Disk(), { respond: createFlapping() });
  const hook = await whole.addHook('one');
  await whole.addHook('two');
  const begun = whole.files.history.length;
  whole.webhooks.start();
  const caller = new Caller(whole);
  await live(whole, caller, hook);
  await whole.close();
  checkWhole(whole, caller);
  const images = imagesOf(whole.files, { seeds: 2, pageBytes: 512, tornEvery: 97 })
    .filter(({ index }) => index >= begun);
  const sizes = new Set<number>();
  for (const [place, { disk, index, origin }] of sample(images, IMAGES, 1).entries()) {
    await about(origin, async () => {
      const sentBefore = whole.sent.filter((sent) => sent.index <= index);
      sizes.add(sentBefore.length);
      const expected = caller.expectedAt(index);
      const next = await checkDisk(disk.clone(), expected, sentBefore);
      if (place % 8 === 0) await checkSecondCrash(next, expected);
    });
  }
  assert.ok(sizes.size >= 8, `crashes came in between: ${[...sizes].join()}`);
});

/** A crash while what a first crash has left is done. */
async function checkSecondCrash({ files, sent }: DiskRelay, expected: Expected): Promise<void> {
  const images = imagesOf(files, { seeds: 1, pageBytes: 512, tornEvery: Infinity });
  for (const { disk, index, origin } of sample(images, LATER_IMAGES, 2)) {
    await about(origin, () =>
      checkDisk(disk.clone(), expected, sent.filter((one) => one.index <= index)));
  }
}

test('a crash while an event begins for many webhooks makes one delivery for each', async () => {
  const whole = await openRelayOn(new Disk());
  await Promise.all(Array.from({ length: MANY_HOOKS }, (_, index) =>
    whole.addHook(`host-${index}`)));
  const caller = new Caller(whole);
  await caller.emit(ROUND_MS);
  const begun = whole.files.history.length;
  whole.webhooks.start();
  await whole.finish(() => whole.sent.length === MANY_HOOKS);
  await whole.close();
  const images = imagesOf(whole.files, {
    seeds: 1, pageBytes: 4096, tornEvery: Infinity, from: begun,
  });
  for (const { disk, index, origin } of sample(images, MANY_IMAGES, 3)) {
    await about(origin, () => checkDisk(disk.clone(), caller.expectedAt(index),
      whole.sent.filter((sent) => sent.index <= index)));
  }
});
