/** What hookshelf tells of itself, and that none of it goes round in a circle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { AppError } from '../../../src/base/errors.ts';
import { SystemEvents } from '../../../src/webhooks/deliveries/system-events.ts';
import { SYSTEM_EVENTS } from '../../../src/webhooks/actions/event-name.ts';
import type { EmittedEvent } from '../../../src/webhooks/deliveries/event-publisher.ts';
import type { Transaction } from '../../../src/store/store-port.ts';
import { DOWN, Simulation, UP, type Request } from './sending/simulation.ts';

const GONE = { kind: 'answer', status: 410 } as const;
const FULL = new AppError('storage_full', 'no space left');

// `undefined` in place of what the simulation gives every webhook.
const ALL_AND_DISABLED = { triggerEvent: undefined, triggerEvents: ['*', 'webhook.disabled'] };
const ALL_AND_FAILED = { triggerEvent: undefined, triggerEvents: ['*', 'delivery.failed'] };

/** A webhook that fails for good at once, and one that is told of it. */
async function withListener(triggers: string | object): Promise<{
  readonly simulation: Simulation; readonly failing: string; told(): readonly Request[];
}> {
  const simulation = new Simulation({ outgoing: { retrySchedule: [] } });
  simulation.targets.set('failing', DOWN);
  simulation.targets.set('listening', UP);
  const failing = await simulation.addHook('failing');
  await simulation.addHook('listening',
    typeof triggers === 'string' ? { triggerEvent: triggers } : triggers);
  return {
    simulation, failing,
    told: () => simulation.requests.filter(({ host }) => host === 'listening'),
  };
}

function payloadOf(request: Request | undefined): Record<string, Record<string, unknown>> {
  return JSON.parse(request?.body ?? '{}');
}

test('a delivery that fails for good is told in the line of its result', async () => {
  const { simulation, failing, told } = await withListener('delivery.failed');
  const [id = ''] = await simulation.emit({ secret: 'not told' });
  await simulation.clock.advance(1000);
  const line = simulation.store.lines.find((operations) => operations.some(({ json }) =>
    json?.includes('"status":"failed"') === true));
  const written = line?.filter(({ collection }) => collection === 'deliveries');
  assert.deepEqual(written?.map(({ json }) => JSON.parse(json ?? '').event),
    ['thing.happened', 'delivery.failed']);
  const events = line?.filter(({ collection }) => collection === 'events');
  assert.deepEqual(events?.map(({ json }) => JSON.parse(json ?? '').source), ['own']);
  const [request] = told();
  assert.equal(told().length, 1);
  const { type, data } = payloadOf(request);
  assert.equal(type, 'delivery.failed');
  const { delivery } = data as { delivery: Record<string, unknown> };
  assert.deepEqual(Object.keys(delivery),
    ['identifier', 'hook', 'hookName', 'event', 'createdAt', 'attempts', 'lastAttempt']);
  assert.deepEqual([delivery['identifier'], delivery['hook'], delivery['event'],
    delivery['attempts']], [id, failing, 'thing.happened', 1]);
  assert.doesNotMatch(request?.body ?? '', /not told/);
  assert.deepEqual([request?.headers['x-hookshelf-event'], request?.headers['x-hookshelf-chain']],
    ['delivery.failed', '2']);
});

test('an attempt that is to be repeated is not told', async () => {
  const simulation = new Simulation({ outgoing: { retrySchedule: [5] } });
  await simulation.addHook('failing', {}, DOWN);
  await simulation.addHook('listening', { triggerEvent: 'delivery.failed' });
  await simulation.emit();
  await simulation.clock.advance(1000);
  assert.equal(simulation.webhooks.deliveries.totals().accepted, 1);
  await simulation.clock.advance(10_000);
  assert.equal(simulation.webhooks.deliveries.totals().accepted, 2);
});

const LISTENERS: readonly (readonly [string, object, number])[] = [
  ['delivery.failed', { triggerEvent: 'delivery.failed' }, 2],
  ['delivery.*', { triggerEvent: 'delivery.*' }, 2],
  // To all the event itself goes too; its failure there is told once, to the same webhook.
  ['all and delivery.failed', ALL_AND_FAILED, 4],
];
for (const [title, triggers, expected] of LISTENERS) {
  test(`a listener to ${title} that fails is not told of its own failure`, async () => {
    const { simulation } = await withListener(triggers);
    simulation.targets.set('listening', DOWN);
    await simulation.emit();
    await simulation.clock.advance(60_000);
    const { accepted, failed, pending } = simulation.webhooks.deliveries.totals();
    assert.deepEqual([accepted, failed, pending], [expected, expected, 0]);
  });
}

test('a failed forward is told with the hops of its chain', async () => {
  const { simulation, told } = await withListener('delivery.failed');
  const headers = { 'x-hookshelf-chain': '5' };
  await simulation.run(simulation.webhooks.deliveries.queueForward(
    { url: 'http://failing/', method: 'POST', headers, body: Buffer.from('{}') }));
  await simulation.clock.advance(1000);
  assert.equal(told()[0]?.headers['x-hookshelf-chain'], '6');
});

test('a failure at the end of a chain is logged, and written all the same', async () => {
  const { simulation, told } = await withListener('delivery.failed');
  await simulation.run(simulation.webhooks.events.emitJson(
    'thing.x', '{}', { source: 'api', hops: 7 }));
  await simulation.clock.advance(1000);
  assert.deepEqual([simulation.webhooks.deliveries.totals().failed, told().length], [1, 0]);
  const line = simulation.logLines.find((one) => /an event of our own could not be told/.test(one));
  const { hops, target } = JSON.parse(line ?? '{}');
  assert.equal(hops, 8);
  assert.match(target, /^the event delivery\.failed, which webhook \S+ sends to listening/);
});

test('a full queue keeps no result from disk', async () => {
  const simulation = new Simulation({ outgoing: { retrySchedule: [], maxPending: 1 } });
  await simulation.addHook('failing', {}, DOWN);
  for (let count = 0; count < 3; count += 1) {
    await simulation.addHook('listening', { triggerEvent: 'delivery.failed' });
  }
  await simulation.emit();
  await simulation.clock.advance(1000);
  const { accepted, failed } = simulation.webhooks.deliveries.totals();
  assert.deepEqual([accepted, failed], [1, 1]);
  assert.ok(simulation.logLines.some((line) => /could not be told/.test(line)));
});

test('a webhook on all events hears none about hookshelf, and a shop\'s own', async () => {
  const { simulation, told } = await withListener('*');
  await simulation.addHook('named', { triggerEvent: 'delivery.*' }, UP);
  await simulation.emit();
  await simulation.run(simulation.webhooks.events.emitJson(
    'delivery.shipped', '{}', { source: 'api', hops: 0 }));
  await simulation.clock.advance(1000);
  const heard = (host: string): unknown[] => simulation.requests
    .filter((request) => request.host === host).map(({ headers }) => headers['x-hookshelf-event']);
  assert.deepEqual([told().length, heard('listening')], [2, [undefined, undefined]]);
  assert.deepEqual(heard('named').map(String).sort(), ['delivery.failed', 'undefined']);
});

test('nobody listens for the store where all are on `*`', async () => {
  const { simulation } = await withListener('*');
  const { events } = simulation.webhooks;
  const answers = [false, true].map((isSystem) => events.mayKeep('store.unwritable', { isSystem }));
  assert.deepEqual(answers, [true, false]);
});

test('nobody else can emit an event of hookshelf\'s own', async () => {
  const { simulation } = await withListener('*');
  for (const name of SYSTEM_EVENTS) {
    await assert.rejects(simulation.webhooks.emit(name, {}), {
      code: 'invalid',
      message: `the name must not be ${name}, which hookshelf alone emits, about itself: `
        + 'choose another name',
    });
  }
  assert.equal(simulation.webhooks.deliveries.totals().accepted, 0);
});

test('a webhook that is disabled by 410 is told to all others, in the same line', async () => {
  const { simulation, failing, told } = await withListener(ALL_AND_DISABLED);
  simulation.targets.set('failing', GONE);
  const patch = { triggerEvents: ['thing.*', 'webhook.*'], triggerEvent: null,
    targetUrl: 'http://me:secret@failing/' };
  await simulation.run(simulation.webhooks.resources.outgoing.patch(failing, patch));
  await simulation.emit();
  await simulation.clock.advance(1000);
  const [disabled] = told().map(payloadOf)
    .filter(({ type }) => String(type) === 'webhook.disabled');
  const { webhook, reason } = disabled?.['data'] as { webhook: object; reason: string };
  assert.deepEqual([webhook, reason],
    [{ identifier: failing, name: null, targetUrl: 'http://***@failing/' }, 'gone']);
  const line = simulation.store.lines.find((operations) => operations.some(({ json }) =>
    json?.includes('"enabled":false') === true));
  assert.ok(line?.some(({ json }) => json?.includes('"event":"webhook.disabled"') === true));
  const toItself = simulation.store.lines.flat().filter(({ collection, json }) =>
    collection === 'deliveries' && json?.includes(`"hook":"${failing}"`) === true
    && json.includes('"event":"webhook.disabled"'));
  assert.deepEqual(toItself, []);
});

test('a listener that is gone itself ends the telling', async () => {
  const { simulation } = await withListener('webhook.disabled');
  await simulation.addHook('third', { triggerEvent: 'webhook.disabled' });
  simulation.targets.set('failing', GONE);
  simulation.targets.set('listening', GONE);
  simulation.targets.set('third', GONE);
  await simulation.emit();
  await simulation.clock.advance(60_000);
  const { accepted, failed, pending } = simulation.webhooks.deliveries.totals();
  assert.deepEqual([accepted, failed, pending], [3, 3, 0]);
});

test('what the store missed is told in one line once it writes again', async () => {
  const { simulation, told } = await withListener('store.*');
  simulation.store.setFailure(FULL);
  await simulation.clock.advance(90_000);
  assert.equal(told().length, 0);
  simulation.store.setFailure(null);
  await simulation.clock.advance(1000);
  const [unwritable, recovered] = told().map(payloadOf);
  assert.deepEqual([unwritable?.['type'], recovered?.['type']],
    ['store.unwritable', 'store.recovered']);
  const { since, reason } = unwritable?.['data'] ?? {};
  assert.equal(reason, 'no space left');
  assert.deepEqual(Object.keys(recovered?.['data'] ?? {}), ['since', 'until', 'reason']);
  assert.equal(Date.parse(String(recovered?.['data']?.['until'])) - Date.parse(String(since)),
    90_000);
  assert.equal(simulation.store.lines.filter((operations) => operations.some(({ json }) =>
    json?.includes('"event":"store.') === true && json.includes('"status":"pending"'))).length, 1);
});

test('a store that fails again while it is told is told from its first failure on', async () => {
  const { simulation, told } = await withListener('store.recovered');
  simulation.store.setFailure(FULL);
  await simulation.clock.advance(10_000);
  simulation.store.setFailure(null);
  simulation.store.failNextBatch(FULL);
  await simulation.clock.advance(1000);
  assert.equal(told().length, 0);
  simulation.store.setFailure(FULL);
  await simulation.clock.advance(9000);
  assert.equal(told().length, 0);
  simulation.store.setFailure(null);
  await simulation.clock.advance(1000);
  const { since, until } = payloadOf(told()[0])['data'] ?? {};
  assert.equal(Date.parse(String(until)) - Date.parse(String(since)), 20_000);
});

// Of what fails for less than a second nothing is said.
test('a store that fails, unnoticed, while another failure is told is told as well', async () => {
  const { simulation, told } = await withListener('store.recovered');
  simulation.store.setFailure(FULL);
  await simulation.clock.advance(10_000);
  simulation.store.setFailure(null);
  simulation.store.failNextBatch(FULL);
  await simulation.clock.advance(60_000);
  assert.equal(told().length, 1);
  const { since, until } = payloadOf(told()[0])['data'] ?? {};
  assert.ok(Date.parse(String(until)) - Date.parse(String(since)) >= 10_000);
});

test('a request that one of these events has caused is not told of', () => {
  const names: string[] = [];
  const events = {
    mayKeep: () => true,
    stageEvent(
      _: Transaction, { hops }: { hops: number }, name: string, payload: string,
    ): EmittedEvent {
      names.push(`${name} ${hops} ${payload}`);
      return { eventId: null, deliveries: [] };
    },
  };
  const find = (identifier: string) =>
    identifier === 'h1' ? { identifier, name: 'shop' } : undefined;
  const directory = { find, findNamed: find };
  const systemEvents = new SystemEvents(
    events, silentLogger, { incoming: directory, outgoing: directory });
  const transaction = { find: () => undefined } as unknown as Transaction;
  const RUN = { at: '', durationMs: 0, message: 'no' };
  const tell = (headers: readonly [string, string][]): void =>
    systemEvents.requestFailed(transaction, { nowMs: 0, seed: '' }, {
      id: 'r1', hook: 'h1', event: 'paid', receivedAt: '2026-01-01T00:00:00.000Z', headers,
      deliveries: [
        { route: 'a', status: 'delivered', attemptCount: 1, attempts: [] },
        { route: 'b', status: 'failed', attemptCount: 5, attempts: [RUN] },
      ],
    });
  tell([['X-Hookshelf-Event', 'request.failed'], ['X-Hookshelf-Chain', '3']]);
  assert.deepEqual(names, []);
  tell([['X-Hookshelf-Chain', '3'], ['X-Hookshelf-Event', 'push']]);
  assert.equal(names.length, 1);
  assert.match(names[0] ?? '', /^request\.failed 3 /);
  assert.match(names[0] ?? '', /"hook":"h1","hookName":"shop"/);
  assert.match(names[0] ?? '', /"routes":\[\{"name":"b","attempts":5,"message":"no"\}\]/);
});
