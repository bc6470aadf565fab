import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelay, type Relay } from '../relay.ts';

const EVENTS: readonly (readonly [name: string, payload: unknown])[] = [
  ['order.created', { order: { id: 7, note: 'Zürich' }, lines: ['tea', 'coffee'] }],
  ['order.paid', { order: { id: 8, note: 'line\nbreak' } }],
  ['order.paid', { order: { id: 9 }, padding: 'x'.repeat(40_000), last: 'needle' }],
];

const CASES: readonly (readonly [query: string, events: readonly number[]])[] = [
  ['q=zurich', [0]],
  ['q=order', [0, 1, 2]],
  ['q=paid%20break', [1]],
  ['q=needle', [2]],
  ['q=padding', []],
  ['q=coff', [0]],
  ['where=payload.order.id=8', [1]],
  ['where=payload.order.id>=8', [1, 2]],
  ['where=payload.order.id>=8&q=needle', [2]],
  ['where=event=order.created', [0]],
  ['where=payload.lines~coffee', [0]],
  ['q=order&event=order.paid&limit=1', [1, 2]],
  ['q=order&order=newest', [0, 1, 2]],
  ['q=order&status=delivered', []],
];

/** Adds a queued forward, whose body is searched. */
async function addForward(relay: Relay): Promise<void> {
  await relay.webhooks.deliveries.queueForward({
    url: 'http://127.0.0.1:1/', method: 'POST', headers: {}, hiddenParameters: [],
    body: Buffer.from('{"fish":"halibut"}'),
  });
}

test('deliveries are searched by the payload of their event', async () => {
  const relay = await startRelay();
  try {
    const made = await relay.ask('POST', '/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:1/', triggerEvent: '*',
    });
    assert.equal(made.status, 201, made.text);
    const ids: unknown[] = [];
    const eventIds: string[] = [];
    for (const [name, payload] of EVENTS) {
      const { json } = await relay.ask('POST', '/api/events', { name, payload });
      ids.push(...json['deliveries'] as string[]);
      eventIds.push(String(json['event']));
    }
    const find = async (path: string): Promise<number[]> => {
      const { status, headers, json, text } = await relay.ask('GET', path);
      assert.equal(status, 200, text);
      const items = json as unknown as { readonly identifier: string }[];
      const found = items.map(({ identifier }) => ids.indexOf(identifier));
      const [, next] = /<([^>]*)>/.exec(String(headers['link'] ?? '')) ?? [];
      assert.equal(headers['x-search-complete'], String(next === undefined));
      return next === undefined ? found : [...found, ...await find(next)];
    };
    for (const [query, events] of CASES) {
      assert.deepEqual((await find(`/api/deliveries?${query}`)).reverse(), events, query);
    }
    for (const [index, eventId] of eventIds.entries()) {
      assert.deepEqual(await find(`/api/deliveries?q=${eventId}`), [index]);
      assert.deepEqual(await find(`/api/deliveries?q=${String(ids[index])}`), [index]);
    }
    const { headers: { 'x-search-until': until } } =
      await relay.ask('GET', '/api/deliveries?q=order&limit=1');
    const { json: last } = await relay.ask('GET', `/api/deliveries/${String(ids.at(-1))}`);
    assert.equal(until, last['createdAt']);
    await relay.hook({ identifier: 'log', actionType: 'log', options: {} }, { inbox: 'all' });
    await relay.ask('POST', '/webhook/in/hook', { what: 'order' }, { 'X-Number': 'seventh' });
    for (const [query, count] of [
      ['kind=route&q=seventh', 1], ['kind=all&q=order', 4], ['kind=route&q=zurich', 0],
      ['kind=route&where=headers.x-number=seventh', 1],
      ['kind=%72oute&where=headers.x-number=seventh', 1], ['kind=webhook&q=order', 3],
    ] as const) {
      assert.equal((await find(`/api/deliveries?${query}`)).length, count, query);
    }
    await addForward(relay);
    for (const [query, count] of [
      ['q=halibut', 1], ['q=halibut&kind=forward', 1], ['where=payload.fish=halibut', 1],
    ] as const) {
      assert.equal((await find(`/api/deliveries?${query}`)).length, count, query);
    }
    const refused = await relay.ask('GET', '/api/deliveries?q=order&order=oldest');
    assert.equal(refused.status, 400);
    assert.match(refused.text, /begins with the newest/);
  } finally {
    await relay.close();
  }
});

test('a condition that is none is 400, and says where and how to write it', async () => {
  const relay = await startRelay();
  const cases: readonly (readonly [where: string, message: RegExp])[] = [
    ['payload', /`where` must be a path, one of = != < <= > >= ~, and a value, not/],
    ['=5', /must be a path/],
    ['{"path":', /`where` is not valid JSON/],
    ['{"path":"payload.a","op":"is","value":1}', /`where` is no condition: \/op /],
    ['{"all":[{"path":"payload.a","op":"lt","value":true}]}', /\/all\/0\/value must be a number/],
    ['payload.a<true', /\/value must be a number or text for lt/],
    ['payload[0]=1', /\/path must have indexes as steps/],
    ['payload.a="b', /must be a JSON string behind its sign, not/],
    ['payload.a="C:\\dir"', /must be a JSON string/],
    ['method=POST', /\/path must begin with payload or event, not "method"/],
  ];
  try {
    for (const [where, message] of cases) {
      const query = new URLSearchParams({ where });
      const { status, json } = await relay.ask('GET', `/api/deliveries?${query}`);
      assert.equal(status, 400, where);
      assert.match(String(json['detail']), message, where);
      assert.match(String(json['detail']), /write `payload\.customer\.id=42`, or a condition as/);
    }
    const second = await relay.ask('GET', '/api/requests?where=method%3DPOST&where=x');
    assert.match(String(second.json['detail']), /`where` number 2 must be/);
    const ten = Array.from({ length: 10 }, () => 'where=method%3DPOST').join('&');
    assert.equal((await relay.ask('GET', `/api/requests?${ten}`)).status, 200);
    const many = `${ten}&where=method%3DPOST`;
    const refused = await relay.ask('GET', `/api/requests?${many}`);
    assert.equal(refused.status, 400);
    assert.match(String(refused.json['detail']), /at most 10 times, not 11/);
  } finally {
    await relay.close();
  }
});
