import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { encodeForward } from '../../../src/webhooks/deliveries/queued-forward.ts';
import { startRelay, startRelayFor, type Answer, type Relay } from '../relay.ts';

let relay: Relay;
let webhookId = '';
const ids: Record<string, string> = {};
before(async () => {
  relay = await startRelay({ events: { keep: 'all' }, outgoing: { retrySchedule: [3600] } });
  const { json } = await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.paid' });
  webhookId = String(json['identifier']);
  for (const name of ['order.made', 'order.paid', 'orderly', 'a "quoted" name']) {
    const { json: { event } } = await relay.ask('POST', '/api/events', { name, payload: { name } });
    ids[name] = String(event);
  }
  const { json: { event } } = await relay.control('/api/events', { name: 'here', payload: [] });
  ids['here'] = String(event);
  await relay.store.transact((transaction) => {
    // What a queued forward sends stands in the same collection.
    const at = { identifier: '00000000-0000-7000-8000-000000000000', createdAt: '2026-01-01' };
    const forward = { url: 'http://x/', method: 'GET', headers: { name: 'x' }, body: null };
    transaction.put('events', at.identifier,
      encodeForward(at, { ...forward, hiddenParameters: [] }));
  });
});
after(() => relay.close());

const list = (query = ''): Promise<Answer> => relay.ask('GET', `/api/events${query}`);
const namesOf = ({ text }: Answer): string[] =>
  (JSON.parse(text) as { name: string }[]).map(({ name }) => name);

const NEWEST_FIRST = ['here', 'a "quoted" name', 'orderly', 'order.paid', 'order.made'];

test('events are listed newest first; forwards are none', async () => {
  const answer = await list();
  assert.deepEqual(namesOf(answer), NEWEST_FIRST);
  assert.equal(answer.headers['x-total-count'], '5');
});

const FILTERS: readonly [query: string, names: readonly string[]][] = [
  ['?name=order.paid', ['order.paid']],
  ['?name=order.*', ['order.paid', 'order.made']],
  ['?name=order', []],
  ['?name=*', NEWEST_FIRST],
  ['?name=a+%22quoted%22+name', ['a "quoted" name']],
  ['?source=command', ['here']],
  ['?source=api&name=order.*', ['order.paid', 'order.made']],
  ['?source=own', []],
  ['?heard=true', ['order.paid']],
  ['?heard=false', NEWEST_FIRST.filter((name) => name !== 'order.paid')],
  ['?key=k', []],
  ['?since=2026-01-01T00:00:00Z', NEWEST_FIRST],
  ['?until=2026-01-01T00:00:00Z', []],
];
for (const [query, names] of FILTERS) {
  test(`the list of events with ${query} is ${JSON.stringify(names)}`, async () => {
    const answer = await list(query);
    assert.deepEqual(namesOf(answer), names);
    assert.equal(answer.headers['x-total-count'], String(names.length));
  });
}

test('events are listed by a webhook that they have or had deliveries to', async (t) => {
  const small = await startRelayFor(t, { outgoing: { retrySchedule: [3600] } });
  const add = async (name: string, triggerEvent: string): Promise<string> => {
    const { json } = await small.ask('POST', '/api/outgoing-webhooks',
      { name, triggerEvent, targetUrl: 'http://127.0.0.1:1/' });
    return String(json['identifier']);
  };
  const [one, other] = [await add('one', 'a'), await add('other', '*')];
  const read = async (hook: string): Promise<unknown> => {
    const answer = await small.ask('GET', `/api/events?hook=${hook}`);
    const names = namesOf(answer);
    assert.equal(answer.headers['x-total-count'], String(names.length));
    return names;
  };
  assert.deepEqual(await read('one'), []);
  await small.ask('POST', '/api/events', { name: 'a' });
  const { json: { event } } = await small.ask('POST', '/api/events', { name: 'b' });
  for (const hook of ['one', one]) assert.deepEqual(await read(hook), ['a']);
  for (const hook of ['other', other]) assert.deepEqual(await read(hook), ['b', 'a']);
  for (const hook of ['nobody', one.slice(1), '"', ',']) assert.deepEqual(await read(hook), []);
  // A delivery that is made later, by a resend or a backfill.
  const identifier = String(event);
  await small.store.transact((transaction) => transaction.put('event-receivers', identifier,
    JSON.stringify({ identifier, deliveries: ['late'], hooks: [one] })));
  assert.deepEqual(await read('one'), ['b', 'a']);
  assert.deepEqual((await small.ask('GET', '/api/deliveries?hook=one')).headers['x-total-count'],
    '1');
  await small.ask('DELETE', `/api/outgoing-webhooks/${one}`);
  assert.deepEqual([await read('one'), await read(one)], [[], ['b', 'a']]);
});

test('events are listed by their key, whole and with other criteria', async (t) => {
  const small = await startRelayFor(t, { events: { keep: 'all' } });
  for (const [name, key] of [['a', 'k1'], ['b', 'k1'], ['c', 'k10'], ['d', undefined]]) {
    await small.ask('POST', '/api/events', { name, key });
  }
  for (const [query, names] of [
    ['key=k1', ['b', 'a']], ['key=k10', ['c']], ['key=k', []], ['key=k1&name=a', ['a']],
    ['key=k1&heard=true', []],
  ] as const) {
    assert.deepEqual(namesOf(await small.ask('GET', `/api/events?${query}`)), names, query);
  }
});

test('since takes events of that time, and until takes none of them', async () => {
  const { text } = await list();
  const events = JSON.parse(text) as { createdAt: string }[];
  const [newest, oldest] = [events.at(0)?.createdAt, events.at(-1)?.createdAt];
  assert.ok(namesOf(await list(`?since=${newest}`)).includes('here'));
  assert.deepEqual(namesOf(await list(`?until=${oldest}`)), []);
});

test('events are listed page by page, and the filter stays', async () => {
  const first = await list('?source=api&limit=2');
  assert.deepEqual(namesOf(first), ['a "quoted" name', 'orderly']);
  assert.equal(first.headers['x-total-count'], '4');
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? '';
  const second = await relay.ask('GET', next);
  assert.deepEqual(namesOf(second), ['order.paid', 'order.made']);
  assert.equal(second.headers['link'], undefined);
});

const BAD_QUERIES =
  ['?name=order*', '?name=', '?source=me', '?heard=yes', '?since=today', '?webhook=x', '?limit=0'];
for (const query of BAD_QUERIES) {
  test(`the list of events with ${query} is refused with 400`, async () => {
    assert.equal((await list(query)).status, 400);
  });
}

test('events are searched for words and conditions, newest first', async () => {
  const cases: readonly [query: string, names: readonly string[]][] = [
    ['?q=order', ['orderly', 'order.paid', 'order.made']], ['?q=QUOTED', ['a "quoted" name']],
    // The name of this one is not in its payload.
    ['?q=here', ['here']],
    // A word of an id is long, as each id begins with the time and has many short pieces.
    [`?q=${ids['orderly']}`, ['orderly']], [`?q=${ids['orderly']?.slice(-12)}`, ['orderly']],
    [`?q=${ids['orderly']?.slice(0, 4)}`, []],
    ['?where=payload.name=orderly', ['orderly']], ['?q=order&heard=true', ['order.paid']],
    ['?q=order&source=own', []],
  ];
  for (const [query, names] of cases) {
    const answer = await list(query);
    assert.deepEqual(namesOf(answer), names, query);
    assert.equal(answer.headers['x-search-complete'], 'true');
  }
});

test('a page of a search has a hundred events without a limit, and says how far it came',
  async (t) => {
    // A search ends at its page or after a quarter of a second, which never passes here.
    const clock: Clock = { ...systemClock, monotonicMs: () => 0 };
    const small = await startRelayFor(t, { events: { keep: 'all' }, clock });
    for (let n = 0; n < 102; n += 1) {
      await small.ask('POST', '/api/events', { name: 'order.made', payload: { n } });
    }
    const { headers, text } = await small.ask('GET', '/api/events?q=order');
    const events = JSON.parse(text) as { createdAt: string }[];
    assert.equal(events.length, 100);
    assert.deepEqual([headers['x-search-complete'], headers['x-search-until']],
      ['false', events.at(-1)?.createdAt]);
    const next = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1] ?? '';
    const last = await small.ask('GET', next);
    assert.equal(JSON.parse(last.text).length, 2);
    assert.deepEqual([last.headers['x-search-complete'], last.headers['x-search-until']],
      ['true', undefined]);
  });

test('an event is shown with its deliveries', async () => {
  const { json, headers } = await relay.ask('GET', `/api/events/${ids['order.paid']}`);
  const { createdAt, deliveries, ...event } = json;
  assert.deepEqual(event, {
    id: ids['order.paid'], name: 'order.paid', source: 'api', key: null, deliverAt: null, hops: 1,
    payloadBytes: '{"name":"order.paid"}'.length, heard: true,
  });
  assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const [delivery] = deliveries as Record<string, unknown>[];
  assert.deepEqual([delivery?.['hook'], delivery?.['status']], [webhookId, 'pending']);
  assert.match(String(headers['etag']), /^"/);
  const path = `/api/deliveries/${String(delivery?.['identifier'])}`;
  assert.equal((await relay.ask('GET', path)).json['eventId'], ids['order.paid']);
});

test('the payload is as it was sent, byte for byte, and no browser renders it', async () => {
  const payload = '{ "a" : 1.0,\n "b":"\\u00e9" }';
  const { json: { event } } = await relay.ask('POST', '/api/events',
    Buffer.from(`{"name":"odd","payload":${payload}}`));
  const { text, headers } = await relay.ask('GET', `/api/events/${String(event)}/payload`);
  assert.equal(text, payload);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(String(headers['content-disposition']), /^attachment/);
});

test('what is no event is answered with 404 and why it may be gone', async () => {
  const forward = '00000000-0000-7000-8000-000000000000';
  for (const id of ['nope', forward, `${ids['orderly']}~`]) {
    for (const path of [`/api/events/${id}`, `/api/events/${id}/payload`]) {
      const { status, json } = await relay.ask('GET', path);
      assert.equal(status, 404, path);
      assert.match(String(json['detail']), /events\.keep.*events\.retentionDays/);
    }
  }
});

test('an event that is resent as new has the later delivery, too', async (t) => {
  const small = await startRelay();
  t.after(() => small.close());
  await small.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'x' });
  const { json } = await small.ask('POST', '/api/events', { name: 'x' });
  const [id] = json['deliveries'] as string[];
  await small.ask('POST', `/api/deliveries/${id}/cancel`);
  const { json: copy } = await small.ask('POST', `/api/deliveries/${id}/resend`, { as: 'new' });
  const { json: shown } = await small.ask('GET', `/api/events/${String(json['event'])}`);
  assert.deepEqual(
    (shown['deliveries'] as { identifier: string }[]).map(({ identifier }) => identifier),
    [id, copy['identifier']]);
});

test('an event is heard from its first later delivery on, and shows a hundred', async (t) => {
  const small = await startRelayFor(t, { events: { keep: 'all' } });
  const { json: { event } } = await small.ask('POST', '/api/events', { name: 'x' });
  const heard = async (): Promise<unknown> =>
    (await small.ask('GET', '/api/events?heard=true')).headers['x-total-count'];
  assert.equal(await heard(), '0');
  const ids = Array.from({ length: 150 }, (_, index) => `late-${index}`);
  await small.store.transact((transaction) => transaction.put('event-receivers', String(event),
    JSON.stringify({ identifier: event, deliveries: ids, hooks: ids.map(() => 'hook') })));
  assert.equal(await heard(), '1');
  const { json } = await small.ask('GET', `/api/events/${String(event)}`);
  assert.equal(json['heard'], true);
  assert.deepEqual((json['deliveries'] as { identifier: string }[])
    .map(({ identifier }) => identifier), ids.slice(0, 100));
});

test('a delivery that is gone is shown with its webhook and without a status', async (t) => {
  const small = await startRelay();
  t.after(() => small.close());
  const { json: webhook } = await small.ask('POST', '/api/outgoing-webhooks',
    { name: 'shop', targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'x' });
  const { json } = await small.ask('POST', '/api/events', { name: 'x' });
  const [id = ''] = json['deliveries'] as string[];
  await small.store.transact((transaction) => transaction.delete('deliveries', id));
  const { json: shown } = await small.ask('GET', `/api/events/${String(json['event'])}`);
  assert.deepEqual(shown['deliveries'],
    [{ identifier: id, hook: webhook['identifier'], hookName: 'shop', status: null }]);
  assert.equal(shown['heard'], true);
});
