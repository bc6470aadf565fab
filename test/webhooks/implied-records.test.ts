/**
 * A delivery that was never tried is not written: the record of its event or request implies it.
 * So what a start recovers has to be, byte for byte, what was in memory, however a record was made.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recoverState } from '../../src/store/generations/recovery.ts';
import type { CollectionSpec } from '../../src/store/store-port.ts';
import { deliveryCollection } from '../../src/webhooks/deliveries/delivery.ts';
import { eventCollection } from '../../src/webhooks/deliveries/event-record.ts';
import { isRouteDeliveryId } from '../../src/webhooks/deliveries/route-delivery-id.ts';
import { requestCollection } from '../../src/webhooks/inbox/request-codec.ts';
import { webhookCollections } from '../../src/webhooks/webhooks.ts';
import { DIRECTORY } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { openRelayOn, recordsIn, type DiskRelay } from './relay-on-disk.ts';

const LATER = '2026-01-01T00:05:00.000Z';
const SEED = '019b0000-0000-7000-8000-000000000002';

const AT = '2026-01-01T00:00:00.000Z';
const EVENT_START = `{"identifier":"${SEED}","createdAt":"${AT}","name":"a.\\"b"`;
const REQUEST_START = `{"id":"${SEED}","status":"accepted","updatedAt":"${AT}","pinned":false`;
const REQUEST_END = '"hook":"h","method":"POST","path":"/","headers":[],"bodySha256":"","client":""'
  + ',"verdict":{"accepted":true}';
const BODY = ',"bodyBytes":0,"bodyText":""}';

/** Records, and what each implies, as every version has to make it. */
const IMPLICATIONS: readonly (readonly [CollectionSpec, string, readonly string[]])[] = [
  [eventCollection,
    `${EVENT_START},"source":"api","depth":1,"hooks":["one","two"],"payload":{"n":1}}`, [
      '{"identifier":"019b0000-0000-7000-8000-000000000003","status":"pending",'
      + `"updatedAt":"${AT}","message":"${SEED}","hook":"one","event":"a.\\"b"}`,
      '{"identifier":"019b0000-0000-7000-8000-000000000004","status":"pending",'
      + `"updatedAt":"${AT}","message":"${SEED}","hook":"two","event":"a.\\"b"}`,
    ]],
  [eventCollection, `${EVENT_START},"source":"api","depth":1,"deliverAt":"${LATER}","to":"one",`
    + '"hooks":["one"],"payloadText":"{\\n}"}', [
    '{"identifier":"019b0000-0000-7000-8000-000000000003","status":"pending",'
    + `"updatedAt":"${AT}","message":"${SEED}","hook":"one","event":"a.\\"b",`
    + `"queuedAt":"${LATER}","nextAttemptAt":"${LATER}"}`,
  ]],
  [eventCollection, `{"identifier":"${SEED}","createdAt":"${AT}","name":null,"source":"action",`
    + '"depth":1,"url":"http://one/","hooks":[null],"payload":{}}', [
    '{"identifier":"019b0000-0000-7000-8000-000000000003","status":"pending",'
    + `"updatedAt":"${AT}","message":"${SEED}"}`,
  ]],
  [requestCollection, `${REQUEST_START},${REQUEST_END}${BODY}`, [
    `{"identifier":"${SEED}.0","status":"pending","updatedAt":"${AT}","route":"default",`
    + '"hook":"h"}',
  ]],
  [requestCollection, `${REQUEST_START},"receivedAt":"${LATER}",${REQUEST_END},`
    + `"routes":["a","b"]${BODY}`, [
    `{"identifier":"${SEED}.0","status":"pending","updatedAt":"${LATER}","route":"a","hook":"h"}`,
    `{"identifier":"${SEED}.1","status":"pending","updatedAt":"${LATER}","route":"b","hook":"h"}`,
  ]],
];

test('what a record implies is part of the format of a journal, so it is the same in any version',
  () => {
    for (const [{ imply }, record, implied] of IMPLICATIONS) {
      assert.deepEqual(imply?.(Buffer.from(record)).map(({ collection, id, bytes }) =>
        [collection, id, String(bytes)]),
      implied.map((bytes) => ['deliveries', JSON.parse(bytes).identifier, bytes]));
    }
  });

/** Compares what is in memory with what a start finds on the disk. */
async function checkRecovered({ store, files }: DiskRelay, step: string): Promise<void> {
  const { collections } = await recoverState({
    directory: DIRECTORY, files: new SimulatedFiles(files.disk.crash({ kind: 'dropped' })),
    specs: webhookCollections,
  });
  for (const spec of webhookCollections) {
    const found = collections.get(spec.name);
    assert.ok(found !== undefined);
    assert.deepEqual(recordsIn({ collection: () => found }, spec), recordsIn(store, spec),
      `${spec.name} after ${step}`);
  }
}

/** The collections that each transaction of the journal puts to; `+`: the put implies others. */
function putsIn({ files }: DiskRelay): string[] {
  const descriptor = files.openSync(`${DIRECTORY}/journal-000001.jsonl`, 'read');
  const bytes = Buffer.alloc(files.sizeSync(descriptor));
  files.readSync(descriptor, bytes, 0);
  files.closeSync(descriptor);
  return String(bytes).trimEnd().split('\n').map((line) => JSON.parse(line).ops ?? [])
    .map((operations: { put: string; implies?: true }[]) => operations.map(({ put, implies }) =>
      implies === true ? `${put}+` : put).join(' '));
}

const TEN_MINUTES_MS = 600_000;
const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a="b"',
};
const LARGE = `"${'x'.repeat(20_000)}"`;

test('what is on the disk is what was in memory, however events and requests were made',
  async () => {
    const relay = await openRelayOn(new Disk(), {
      respond: ({ host }) => host === 'down' ? 503 : 200,
    });
    const { webhooks, store } = relay;
    const post = async (path: string, body: unknown): Promise<void> => {
      const answer = await relay.ask('POST', path, body);
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
    };
    const emit = (members: object): Promise<unknown> =>
      webhooks.events.emitJson('thing.happened', '{"n":1}', { source: 'api', hops: 0, ...members });
    const one = await relay.addHook('one');
    await relay.addHook('down');
    await webhooks.resources.configurations.add(
      { identifier: 'scripted', actionType: 'scripted', options: { route: 'a' } });
    for (const [pathSegment, members] of Object.entries({
      single: { actionConfiguration: 'scripted', answer: 'accepted' },
      several: { answer: 'accepted', routes: ['a', 'b', 'default'].map((name) =>
        ({ name, actionConfiguration: 'scripted' })) },
      named: { answer: 'accepted', routes: [{ name: 'a', actionConfiguration: 'scripted' }] },
      atOnce: { actionConfiguration: 'scripted' },
    })) await webhooks.resources.incoming.add({ pathSegment, inbox: 'all', ...members });
    const steps: Readonly<Record<string, readonly [string, () => Promise<unknown>]>> = {
      'an event': ['events+', () => post('/api/events', { name: 'thing.happened', payload: 1 })],
      'an event with key and trace': ['events+', () => emit({ key: 'é"k', trace: TRACE, hops: 3 })],
      'an event for one webhook': ['events+', () =>
        post(`/api/outgoing-webhooks/${one}/deliveries`, { payload: 1 })],
      'a delayed event for one webhook': ['events+', () =>
        post(`/api/outgoing-webhooks/${one}/deliveries`, { payload: 1, deliverAt: LATER })],
      'a delayed event': ['events delayed-events', () => emit({ deliverAt: LATER })],
      'an event beside its cause': ['events+', () => store.transact((transaction) =>
        webhooks.events.stageEvent(transaction, { nowMs: 7, seed: SEED, hops: 1 }, 'thing.made',
          '{\n}', { source: 'catalog' }))],
      'a forward': ['events+', () => webhooks.deliveries.queueForward(
        { url: 'http://one/', method: 'POST', headers: {}, body: Buffer.from([0xff, 0x22]) })],
      'a request': ['requests+', () => post('/webhook/in/single', { n: 1 })],
      'a request with a large body': ['request-bodies requests+', () =>
        post('/webhook/in/single', LARGE)],
      'a request to three routes': ['requests+', () => post('/webhook/in/several', {})],
      'a request to a route with a name': ['requests+', () => post('/webhook/in/named', {})],
      'a request that was run at once': ['requests deliveries', () =>
        post('/webhook/in/atOnce', {})],
      'a replay as a new request': ['requests+', () => post(
        `/api/requests/${[...recordsIn(store, requestCollection).keys()][0]}/replay`,
        { as: 'new' })],
    };
    for (const [step, [puts, run]] of Object.entries(steps)) {
      const count = putsIn(relay).length;
      await run();
      const written = putsIn(relay).slice(count);
      assert.ok(written.includes(puts), `${step}: ${written}`);
      await checkRecovered(relay, step);
    }
    webhooks.start();
    await relay.clock.advance(TEN_MINUTES_MS);
    await checkRecovered(relay, 'attempts');
    for (const id of recordsIn(store, deliveryCollection).keys()) {
      if (!isRouteDeliveryId(id)) await post(`/api/deliveries/${id}/resend`, { as: 'new' });
    }
    await relay.clock.advance(TEN_MINUTES_MS);
    await checkRecovered(relay, 'resends');
    await relay.close();
  });
