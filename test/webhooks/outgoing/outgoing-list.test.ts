/** How the list of outgoing webhooks is searched, filtered and sorted. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRelay, type Answer, type Relay } from '../relay.ts';

const OUTGOING = '/api/outgoing-webhooks';

const BODIES = [
  {
    name: 'acme-orders', description: 'Größe und Preis',
    targetUrl: 'https://shop.example/in?token=abcdef', triggerEvent: 'order.*',
  },
  { name: 'acme-all', targetUrl: 'https://ops.example/hook', triggerEvents: ['*'] },
  { name: 'zeta', targetUrl: 'https://zeta.example/', triggerEvent: 'order.paid', enabled: false },
  { targetUrl: 'https://user:secret@nameless.example/', triggerEvent: 'delivery.failed' },
  {
    name: 'beta', targetUrl: 'https://beta.example/', triggerEvent: 'order.paid',
    when: { path: 'payload.total', op: 'gt', value: 100 },
  },
];

let relay: Relay;
const labelById = new Map<string, string>();
before(async () => {
  relay = await startRelay();
  for (const body of BODIES) {
    const { json, status } = await relay.ask('POST', OUTGOING, body);
    assert.equal(status, 201, JSON.stringify(json));
    labelById.set(String(json['identifier']), body.name ?? 'nameless');
  }
  const [acme = '', , , nameless = '', beta = ''] = [...labelById.keys()];
  const health = relay.webhooks.health.outgoing;
  health.recordFailure(nameless, { atMs: 1000, reason: 'HTTP 500' });
  for (const [id, sinceMs] of [[beta, 2000], [acme, 1000]] as const) {
    for (let tries = 0; tries < 3; tries += 1) {
      health.recordFailure(id, { atMs: sinceMs, reason: 'HTTP 500' });
    }
  }
});
after(() => relay.close());

const ask = (query: string): Promise<Answer> => relay.ask('GET', `${OUTGOING}?${query}`);
const namesOf = ({ text }: Answer): (string | undefined)[] =>
  (JSON.parse(text) as { identifier: string }[]).map(({ identifier }) => labelById.get(identifier));

const LISTS: readonly [query: string, names: readonly string[]][] = [
  ['q=acm', ['acme-orders', 'acme-all']],
  ['q=ORDERS+acme', ['acme-orders']],
  ['q=grosse', ['acme-orders']],
  ['q=rders', []],
  ['q=ops.example', ['acme-all']],
  ['q=nameless', ['nameless']],
  ['q=', ['acme-orders', 'acme-all', 'zeta', 'nameless', 'beta']],
  ['q=***', []],
  // Who could find credentials by their beginnings would know them after some hundred searches.
  ['q=abcdef', []],
  ['q=secret', []],
  ['event=order.paid', ['acme-orders', 'acme-all', 'zeta', 'beta']],
  ['event=order', ['acme-all']],
  ['event=delivery.failed', ['nameless']],
  ['event=order.paid&state=off', ['zeta']],
  ['event=order.paid&q=acme&sort=-name', ['acme-orders', 'acme-all']],
  ['sort=name', ['acme-all', 'acme-orders', 'beta', 'zeta', 'nameless']],
  ['sort=-name', ['nameless', 'zeta', 'beta', 'acme-orders', 'acme-all']],
  ['sort=state', ['acme-orders', 'beta', 'zeta', 'nameless', 'acme-all']],
  ['sort=-state', ['acme-all', 'nameless', 'zeta', 'beta', 'acme-orders']],
  ['sort=since&state=failing', ['acme-orders', 'beta']],
  ['sort=-since&state=failing', ['beta', 'acme-orders']],
];
for (const [query, names] of LISTS) {
  test(`webhooks with ${query} are ${JSON.stringify(names)}, on one page or several`, async () => {
    const whole = await ask(query);
    assert.deepEqual([namesOf(whole), whole.headers['x-total-count']],
      [names, String(names.length)]);
    const listed: (string | undefined)[] = [];
    for (let path = `${OUTGOING}?limit=1&${query}`; path !== '';) {
      const page = await relay.ask('GET', path);
      assert.equal(page.headers['x-total-count'], String(names.length));
      listed.push(...namesOf(page));
      path = /<[^>]*(\/api[^>]*)>; rel="next"/.exec(String(page.headers.link))?.[1] ?? '';
    }
    assert.deepEqual(listed, names);
  });
}

for (const [query, told] of [
  ['sort=target', /sort.*state, since, name/], ['event=a*', /event.*must be an event name/],
  ['cursor=!!', /cursor/], ['sort=name&cursor=IQ', /cursor/], ['words=a', /unknown/],
] as const) {
  test(`a list with ${query} is refused`, async () => {
    const { status, json } = await ask(query);
    assert.equal(status, 400);
    assert.match(String(json['detail']), told);
  });
}

test('a page goes on in its own sort alone', async () => {
  for (const query of ['', 'sort=name&', 'sort=-name&', 'sort=state&']) {
    const { headers } = await ask(`${query}limit=2`);
    const cursor = /cursor=([\w-]+)/.exec(String(headers.link))?.[1] ?? '';
    for (const other of ['', 'sort=name&', 'sort=-name&', 'sort=state&']) {
      const { status, json } = await ask(`${other}limit=2&cursor=${cursor}`);
      assert.equal(status, query === other ? 200 : 400, `${query} ${other}`);
      if (status === 400) assert.match(String(json['detail']), /`cursor` belongs to another query/);
    }
  }
});

test('a page goes on behind a webhook that was removed meanwhile', async () => {
  const { json } = await relay.ask('POST', OUTGOING,
    { name: 'alpha', targetUrl: 'https://alpha.example/' });
  const page = await ask('sort=name&limit=3');
  const next = /<[^>]*(\/api[^>]*)>; rel="next"/.exec(String(page.headers.link))?.[1] ?? '';
  assert.equal((await relay.ask('DELETE', `${OUTGOING}/${String(json['identifier'])}`)).status,
    204);
  assert.deepEqual(namesOf(await relay.ask('GET', next)), ['beta', 'zeta', 'nameless']);
});

test('the reason stands in the list of those that fail or are off', async () => {
  const { text } = await ask('sort=state');
  const shown = (JSON.parse(text) as { health: { reason?: string } }[]).slice(0, 4)
    .map(({ health }) => health.reason);
  assert.deepEqual(shown,
    ['HTTP 500', 'HTTP 500', 'switched off by hand, or by a file', undefined]);
});

test('incoming webhooks are searched and sorted, too', async () => {
  for (const pathSegment of ['b-hook', 'a-hook']) {
    await relay.ask('POST', '/api/action-configurations',
      { identifier: 'to-log', actionType: 'log' });
    await relay.ask('POST', '/api/incoming-webhooks', {
      name: `n-${pathSegment}`, pathSegment, actionConfiguration: 'to-log',
    });
  }
  const read = async (query: string): Promise<unknown> =>
    (JSON.parse((await relay.ask('GET', `/api/incoming-webhooks?${query}`)).text) as
      { pathSegment: string }[]).map(({ pathSegment }) => pathSegment);
  assert.deepEqual(await read('q=hook&sort=name'), ['a-hook', 'b-hook']);
  assert.deepEqual(await read('q=b'), ['b-hook']);
});
