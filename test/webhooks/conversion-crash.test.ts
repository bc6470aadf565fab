/**
 * A crash at any operation on the disk while a data directory of a release before 1.1 is opened,
 * converted and worked off: what had been accepted and not done is done, what was done is not done
 * again, and the books are right.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertDeliveries } from '../../src/webhooks/deliveries/convert-deliveries.ts';
import { decodeDelivery, isFormerDelivery } from '../../src/webhooks/deliveries/delivery-codec.ts';
import { isFinishedMarkId, isFormerEvent } from '../../src/webhooks/deliveries/event-record.ts';
import { isRouteDeliveryId } from '../../src/webhooks/deliveries/route-delivery-id.ts';
import { about, imagesOf, sample } from '../support/crashes.ts';
import { IS_LONG } from '../support/long.ts';
import { toOldDisk } from '../support/old-format.ts';
import { Disk } from '../support/simulated-disk.ts';
import { putOldRecords, type OldDelivery, type OldWork } from './old-records.ts';
import { openRelayOn, recordsIn, type DiskRelay } from './relay-on-disk.ts';

const IMAGES = IS_LONG ? 100 : 8;
const LATER_IMAGES = IS_LONG ? 15 : 3;
/** Of each form. In a long run the conversion takes several transactions for each collection. */
const COUNT = IS_LONG ? 60 : 15;
const LATENCY_MS = 20;
const ROUTES = ['first', 'second'] as const;
const LATER_MS = Date.UTC(2026, 0, 1, 1);

type OldDirectory = { readonly disk: Disk; readonly work: OldWork };

async function createOldDirectory(isCompacted: boolean): Promise<OldDirectory> {
  const relay = await openRelayOn(new Disk());
  const { configurations, incoming } = relay.webhooks.resources;
  const hooks = [await relay.addHook('one'), await relay.addHook('two')] as const;
  for (const route of ROUTES) {
    await configurations.add({ identifier: route, actionType: 'scripted', options: { route } });
  }
  const view = await incoming.add({
    pathSegment: 'hook', inbox: 'all', answer: 'accepted',
    routes: ROUTES.map((name) => ({ name, actionConfiguration: name })),
  });
  const work = await putOldRecords(relay.store, {
    hooks, forwardUrl: 'http://there/', routes: ROUTES,
    incoming: String(JSON.parse(view.bytes.toString()).identifier),
  }, COUNT);
  if (isCompacted) await relay.store.compact();
  await relay.close();
  return { disk: toOldDisk(relay.files), work };
}

/** Nothing is pending, and all deliveries and requests have the present form. */
function isFinished(relay: DiskRelay): boolean {
  const { store } = relay;
  if (store.collection('fan-outs').size > 0) return false;
  return [...recordsIn(store, { name: 'deliveries' })].every(([id, json]) => {
    const record = Buffer.from(json);
    return !json.includes('"status":"pending"')
      && (isRouteDeliveryId(id) || !isFormerDelivery(record));
  }) && [...recordsIn(store, { name: 'requests' }).values()].every((json) =>
      !json.includes('"status":"pending"'));
}

/** The statuses of deliveries and of the routes of requests, as a start finds them. */
function statusesIn(relay: DiskRelay): ReadonlyMap<string, string> {
  const statuses = new Map<string, string>();
  for (const [id, json] of recordsIn(relay.store, { name: 'deliveries' })) {
    if (!isRouteDeliveryId(id)) statuses.set(id, decodeDelivery(Buffer.from(json)).status);
  }
  for (const id of recordsIn(relay.store, { name: 'requests' }).keys()) {
    for (const { name, status } of relay.webhooks.requests.find(id)?.routes ?? []) {
      statuses.set(`${id} ${name}`, status);
    }
  }
  return statuses;
}

/** Opens what a crash has left, has it done, beside a compaction if need be, and checks it. */
async function checkDisk(disk: Disk, work: OldWork, isCompacted = false): Promise<DiskRelay> {
  const relay = await openRelayOn(disk, { startMs: LATER_MS, latencyMs: LATENCY_MS });
  try {
    const before = statusesIn(relay);
    relay.webhooks.start();
    if (isCompacted) {
      await relay.clock.advance(2 * LATENCY_MS);
      await Promise.all([relay.store.compact(), relay.clock.advance(2 * LATENCY_MS)]);
    }
    await relay.finish(() => isFinished(relay));
    assert.ok(isFinished(relay), 'all is done and converted');
    checkDeliveries(relay, work, before);
    checkRequests(relay, work, before);
    await checkBooks(relay, work);
  } finally {
    await relay.close();
  }
  return relay;
}

function checkDeliveries(
  { sent, webhooks }: DiskRelay, { deliveries }: OldWork, before: ReadonlyMap<string, string>,
): void {
  for (const { id, n, status, body, isForward } of deliveries) {
    assert.equal(webhooks.deliveries.find(id)?.status,
      status === 'pending' ? 'delivered' : status, `delivery ${n}`);
    // A forward is told by its body alone.
    const bodies = sent.filter((one) => isForward
      ? one.host === 'there' && one.body === body : one.id === id).map((one) => one.body);
    // One that was still to be written has no record yet.
    const isDue = (before.get(id) ?? 'pending') === 'pending';
    assert.deepEqual(bodies, isDue ? [body] : [], `what is sent of ${n}`);
  }
}

function checkRequests(
  { runs, webhooks }: DiskRelay, { requests }: OldWork, before: ReadonlyMap<string, string>,
): void {
  for (const { id, n } of requests) {
    const { status, routes = [] } = webhooks.requests.find(id) ?? {};
    assert.equal(status, 'done', `request ${n}`);
    for (const { name, attempts } of routes) {
      const times = runs.filter((run) => run.request === id && run.route === name).length;
      const isDue = before.get(`${id} ${name}`) === 'pending';
      assert.deepEqual([times, attempts.length], [isDue ? 1 : 0, 1], `route ${name} of ${n}`);
    }
  }
}

async function checkBooks(relay: DiskRelay, { deliveries, requests }: OldWork): Promise<void> {
  const { accepted, problems, ...counts } = await relay.webhooks.deliveries.reconcile();
  assert.deepEqual([problems, accepted], [[], deliveries.length]);
  const count = (status: OldDelivery['status']): number =>
    deliveries.filter((delivery) => delivery.status === status).length;
  assert.deepEqual([counts.delivered, counts.failed, counts.cancelled, counts.pending],
    [count('delivered') + count('pending'), count('failed'), count('cancelled'), 0]);
  const books = await relay.webhooks.requests.reconcile();
  assert.deepEqual([books.problems, books.accepted, books.done],
    [[], requests.length, requests.length]);
  // Events whose deliveries were still being written are left to the next start.
  await convertDeliveries(relay.store, new AbortController().signal);
  for (const [id, json] of recordsIn(relay.store, { name: 'events' })) {
    assert.ok(!isFinishedMarkId(id) && !isFormerEvent(Buffer.from(json)), id);
    const { name, hooks, deliveries: listed } = JSON.parse(json);
    assert.equal(hooks?.length, name === null ? undefined : listed.length, `webhooks of ${id}`);
  }
}

for (const isCompacted of [false, true]) {
  const what = isCompacted ? 'a generation' : 'a journal';
  test(`a crash at any moment of the conversion of ${what} loses nothing and repeats nothing`,
    async () => {
      const { disk, work } = await createOldDirectory(isCompacted);
      const whole = await checkDisk(disk.clone(), work, isCompacted);
      const images = imagesOf(whole.files, { seeds: 2, pageBytes: 512, tornEvery: 97 });
      const sizes = new Set<number>();
      for (const [place, image] of sample(images, IMAGES, 1).entries()) {
        await about(image.origin, async () => {
          const next = await checkDisk(image.disk.clone(), work);
          sizes.add(next.sent.length);
          if (place % 8 === 0) await checkSecondCrash(next, work);
        });
      }
      assert.ok(sizes.size >= 3, `crashes came in between: ${[...sizes].join()}`);
    });
}

async function checkSecondCrash({ files }: DiskRelay, work: OldWork): Promise<void> {
  const images = imagesOf(files, { seeds: 1, pageBytes: 512, tornEvery: Infinity });
  for (const { disk, origin } of sample(images, LATER_IMAGES, 2)) {
    await about(origin, () => checkDisk(disk.clone(), work));
  }
}
