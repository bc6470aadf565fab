/** What `POST /api/events` and `POST /api/outgoing-webhooks/{id}/deliveries` say of an event. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  assertRefused, startRelayFor, type Answer, type Relay, type RelayOptions,
} from '../relay.ts';

const DAY_MS = 86_400_000;
const YEAR_S = 365 * 86_400;

type Caller = {
  readonly relay: Relay;
  readonly webhook: string;
  /** One for each of the two routes. */
  readonly asks: readonly ((terms: object, headers?: Record<string, string>) => Promise<Answer>)[];
};

async function start(t: TestContext, options?: RelayOptions): Promise<Caller> {
  const relay = await startRelayFor(t, options);
  const { json } = await relay.ask('POST', '/api/outgoing-webhooks',
    { name: 'target', targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.*' });
  const webhook = String(json['identifier']);
  const payload = { n: 1 };
  return {
    relay, webhook, asks: [
      (terms, headers) =>
        relay.ask('POST', '/api/events', { name: 'order.paid', payload, ...terms }, headers),
      (terms, headers) => relay.ask('POST', '/api/outgoing-webhooks/target/deliveries',
        { payload, ...terms }, headers),
    ],
  };
}

/** The time of `text` is within a minute of now and that many milliseconds. */
function assertNear(text: unknown, aheadMs: number): void {
  assert.ok(Math.abs(Date.parse(String(text)) - Date.now() - aheadMs) < 60_000, String(text));
}

const readRecords = ({ store }: Relay, name: string): Record<string, unknown>[] => {
  const collection = store.collection(name);
  return Array.from({ length: collection.slotBound }, (_, slot) => collection.bytesAt(slot))
    .filter((bytes) => bytes !== undefined).map((bytes) => JSON.parse(bytes.toString()));
};

test('a time or a number of seconds, of up to a year, and a key are taken', async (t) => {
  const { relay, asks } = await start(t);
  const cases: readonly [object, number][] = [
    [{ delaySeconds: 3600 }, 3_600_000],
    [{ delaySeconds: YEAR_S }, YEAR_S * 1000],
    [{ deliverAt: new Date(Date.now() + DAY_MS).toISOString() }, DAY_MS],
    [{ deliverAt: new Date(Date.now() + DAY_MS).toISOString(), delaySeconds: null }, DAY_MS],
    [{ key: 'k'.repeat(200), delaySeconds: 1000 }, 1_000_000],
    [{ key: '"order" 💡', delaySeconds: 1000 }, 1_000_000],
  ];
  for (const [terms, aheadMs] of cases) {
    for (const ask of asks) {
      const { status, text } = await ask(terms);
      assert.equal(status, 202, text);
      const event = readRecords(relay, 'events').at(-1) ?? {};
      assertNear(event['deliverAt'], aheadMs);
      assert.equal(event['key'], (terms as { key?: string }).key);
    }
  }
  assert.equal(relay.store.collection('delayed-events').size, cases.length);
});

test('a time that is past means now', async (t) => {
  const { relay, asks } = await start(t);
  const terms = [{}, { delaySeconds: 0 }, { deliverAt: '2000-01-01T00:00:00Z' }, { key: 'k' }];
  for (const [index, term] of terms.entries()) {
    for (const ask of asks) {
      const { status, text } = await ask(term);
      assert.equal(status, 202, text);
    }
    assert.equal(relay.store.collection('deliveries').size, 2 * index + 2);
  }
  assert.equal(relay.store.collection('delayed-events').size, 0);
  assert.ok(readRecords(relay, 'events').every((event) => event['deliverAt'] === undefined));
  assert.ok(readRecords(relay, 'deliveries').every(({ queuedAt }) => queuedAt === undefined));
});

test('what breaks a rule is refused with what would do', async (t) => {
  const { relay, asks } = await start(t);
  const inTime = new Date(Date.now() + DAY_MS).toISOString();
  const late = new Date(Date.now() + YEAR_S * 1000 + 60_000).toISOString();
  const cases: readonly [object, string, RegExp][] = [
    [{ deliverAt: inTime, delaySeconds: 5 }, '/delaySeconds', /one of the two/],
    [{ deliverAt: late }, '/deliverAt', /within a year, no later than 20/],
    [{ deliverAt: 'tomorrow' }, '/deliverAt', /2026-01-31T12:00:00Z/],
    [{ deliverAt: 5 }, '/deliverAt', /./],
    [{ delaySeconds: YEAR_S + 1 }, '/delaySeconds', /31536000/],
    [{ delaySeconds: -1 }, '/delaySeconds', /0/],
    [{ delaySeconds: 0.5 }, '/delaySeconds', /integer|whole/],
    [{ delaySeconds: '5' }, '/delaySeconds', /./],
    [{ key: '' }, '/key', /empty/],
    [{ key: 'k'.repeat(201) }, '/key', /200/],
    [{ key: 7 }, '/key', /string/],
  ];
  for (const [terms, pointer, detail] of cases) {
    for (const ask of asks) {
      assertRefused(await ask(terms), pointer, detail);
    }
  }
  assert.equal(relay.store.collection('events').size, 0);
});

test('a delayed event answers with its id, and is cancelled by it', async (t) => {
  const { relay, asks: [emit] } = await start(t);
  const { json } = await emit?.({ delaySeconds: 3600 }) ?? {};
  const { event, deliveries } = { ...json } as { event: string; deliveries: string[] };
  assert.deepEqual(deliveries, []);
  const path = `/api/events/${event}`;
  const cancelled = await relay.ask('DELETE', path);
  assert.deepEqual([cancelled.status, cancelled.text], [204, '']);
  for (const name of ['events', 'delayed-events', 'deliveries']) {
    assert.equal(relay.store.collection(name).size, 0, name);
  }
  assert.equal((await relay.ask('DELETE', path)).status, 404);
});

test('an event that has begun is not cancelled, nor is what is none', async (t) => {
  const { relay, asks: [emit], webhook } = await start(t);
  const { json } = await emit?.({}) ?? {};
  const begun = await relay.ask('DELETE', `/api/events/${String({ ...json }['event'])}`);
  assert.equal(begun.status, 409);
  assert.match(begun.text, /has begun.*delivery:cancel/);
  await relay.webhooks.deliveries.queueForward({
    url: 'http://127.0.0.1:1/', method: 'POST', headers: {}, body: null,
  });
  const forward = readRecords(relay, 'events').find(({ name }) => name === null);
  for (const id of [String(forward?.['identifier']), webhook, 'nope', 'nope~', '%00']) {
    assert.equal((await relay.ask('DELETE', `/api/events/${id}`)).status, 404, id);
  }
});

test('the same Idempotency-Key makes one event of two requests', async (t) => {
  const { relay, asks } = await start(t);
  for (const ask of asks) {
    const headers = { 'Idempotency-Key': 'once' };
    const [first, second] = [
      await ask({ delaySeconds: 60 }, headers), await ask({ delaySeconds: 60 }, headers),
    ];
    assert.deepEqual([second.status, second.text], [202, first.text]);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assert.equal((await ask({ delaySeconds: 61 }, headers)).status, 422);
  }
  assert.equal(relay.store.collection('events').size, 2);
});

test('a full queue takes no delayed event and no delayed send', async (t) => {
  const { asks } = await start(t, { outgoing: { maxPending: 2 } });
  for (const ask of asks) assert.equal((await ask({ delaySeconds: 60 })).status, 202);
  for (const ask of asks) {
    const { status, text } = await ask({ delaySeconds: 60 });
    assert.equal(status, 503);
    assert.match(text, /outgoing\.maxPending/);
  }
});
