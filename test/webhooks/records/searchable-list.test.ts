/** What a search answers when its time is over, and when too many run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns, type Steps } from '../../../src/base/turns.ts';
import type { Exchange } from '../../../src/server/http-route.ts';
import { textField } from '../../../src/webhooks/records/fields.ts';
import { sendSearchableList } from '../../../src/webhooks/records/searchable-list.ts';
import { createSearches } from '../../../src/webhooks/records/searches.ts';
import { startRelayFor } from '../relay.ts';

test('a page whose time is over has a link to go on, even if it holds nothing', async () => {
  // Each step takes longer than a page may.
  let nowMs = 0;
  const clock = { monotonicMs: () => (nowMs += 1000) };
  const records = Array.from({ length: 500 }, (_, index) => String(999 - index));
  let last = '';
  const walk = {
    next() {
      last = records.shift() ?? last;
      return records.length === 0 ? null : 'filtered' as const;
    },
    position: () => ({ id: last, at: `at ${last}` }),
    isStillListed: () => true,
  };
  let sent: readonly unknown[] = [];
  const exchange = {
    search: 'q=rare&kind=old', response: { destroyed: false },
    linkTo: (path: string) => `http://shelf${path}`,
    async sendStream(
      status: number, headers: readonly string[], pull: () => Promise<readonly Buffer[]>,
    ) {
      sent = [status, Object.fromEntries(headers.flatMap((name, index) =>
        index % 2 === 0 ? [[name, headers[index + 1]]] : [])), String(Buffer.concat(await pull()))];
    },
  };
  const list = {
    path: '/api/things', fields: { kind: textField('kind', 'Only these', () => null) },
    listSources: () => ['payload'] as const,
    idOf: (item: string) => item, toPublic: (item: string) => ({ item }),
    service: { list: async () => [], count: async () => 0, openSearch: async () => walk },
  };
  await sendSearchableList<string, { readonly kind: string | null }>(
    exchange as unknown as Exchange, list, createSearches({ clock, turns: createTurns(clock) }));
  const [status, headers, body] = sent as [number, Record<string, string>, string];
  assert.deepEqual([status, body], [200, '[]']);
  assert.deepEqual([headers['X-Search-Complete'], headers['X-Search-Until']],
    ['false', `at ${last}`]);
  assert.match(headers['Link'] ?? '', new RegExp('^<http://shelf/api/things\\?limit=100&kind=old'
    + '&q=rare&cursor=[^&]+>; rel="next"$'));
  assert.equal(headers['X-Total-Count'], undefined);
});

test('the fifth search at once is answered 503 with Retry-After', async (context) => {
  let goOn = (): void => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let waiting = 0;
  let tellWaiting = (): void => {};
  const allWait = new Promise<void>((resolve) => {
    tellWaiting = resolve;
  });
  const run = async <T>(steps: Steps<T>): Promise<T> => {
    waiting += 1;
    if (waiting === 4) tellWaiting();
    await gate;
    for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
  };
  const relay = await startRelayFor(context, { turns: { run, runLater: run } });
  const paths = ['/api/events', '/api/requests', '/api/deliveries', '/api/events'];
  const searches = paths.map((path) => relay.ask('GET', `${path}?q=rare`));
  await allWait;
  const refused = await relay.ask('GET', '/api/requests?where=method=POST');
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
  assert.equal((await relay.ask('GET', '/api/requests')).status, 200, 'a list is no search');
  goOn();
  for (const { status } of await Promise.all(searches)) assert.equal(status, 200);
  assert.equal((await relay.ask('GET', '/api/events?q=rare')).status, 200);
});

test('a page goes on with its own parameters alone, and none of them is empty', async (context) => {
  const relay = await startRelayFor(context);
  for (let count = 0; count < 3; count += 1) {
    await relay.ask('POST', '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.*' });
  }
  for (const name of ['order.paid', 'order.sent']) {
    await relay.ask('POST', '/api/events', { name, payload: { note: 'rare' } });
  }
  const tell = async (path: string): Promise<string> => {
    const { json } = await relay.ask('GET', path);
    return String(json['detail']);
  };
  for (const [path, own] of [
    ['/api/deliveries', 'status=pending'], ['/api/deliveries', 'order=newest'],
    ['/api/deliveries', 'where=payload.note=rare'], ['/api/events', 'q=rare'], ['/api/events', ''],
  ] as const) {
    const page = await relay.ask('GET', `${path}?${own}&limit=1`);
    const [, next = '', cursor = ''] = /<([^>]+cursor=([\w-]+))>/
      .exec(String(page.headers['link'])) ?? [];
    assert.equal((await relay.ask('GET', next)).status, 200, next);
    for (const other of ['', 'status=pending', 'source=api', 'q=rare', 'q=other']) {
      const isTaken = path === '/api/events' || !other.startsWith('source');
      if (other === own || !isTaken || (path === '/api/events' && other.startsWith('status'))) {
        continue;
      }
      assert.match(await tell(`${path}?${other}&cursor=${cursor}`),
        /^`cursor` belongs to another query/, `${path}?${own} ${other}`);
    }
  }
  for (const path of ['/api/deliveries', '/api/events', '/api/requests']) {
    assert.match(await tell(`${path}?xxxxxxxxxx=1`), /^unknown .*: known are .*q, where/, path);
  }
  for (const path of ['/api/deliveries?hook=', '/api/events?hook=', '/api/requests?hook=',
    '/api/events?key=', '/api/requests?event=']) {
    const [, name = ''] = /\?(\w+)=/.exec(path) ?? [];
    assert.equal(await tell(path), `\`${name}\` must not be empty: leave it out`);
  }
});
