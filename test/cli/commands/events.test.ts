/** Events by command: emitted now or later, listed, shown, taken back, and sent to one webhook. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runCommand } from '../io.ts';
import { WAYS, inPlace, type Place } from '../place.ts';

const HOOK = [
  'outgoingwebhook:create', '--name', 'shop', '--target-url', 'http://127.0.0.1:9/',
  '--trigger-event', 'order.*',
];

async function emit(place: Place, name: string, ...more: string[]): Promise<string> {
  const { event } = await place.json<{ event: string }>(
    ['event:emit', '--name', name, '--payload', '{"order":{"id":42}}', ...more]);
  return event;
}

test('a search goes on from page to page, with a progress line', async () => {
  const pages = [['[]', '2026-01-02T00:00:00.000Z', 'b'], ['[{"id":"e1"}]', null, null]] as const;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const [body, until, cursor] = pages[asked.length] ?? pages[1];
    asked.push(String(request.url));
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('X-Search-Complete', String(until === null));
    if (until !== null) response.setHeader('X-Search-Until', until);
    if (cursor !== null) {
      response.setHeader('Link', `</api/events?q=rare&cursor=${cursor}>; rel="next"`);
    }
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { code, stdout, stderr } = await runCommand(
    ['event:list', '--q', 'rare', '--server', `http://127.0.0.1:${port}`], { columns: 120 });
  server.close();
  assert.equal(code, 0, stderr);
  assert.equal(asked.length, 2);
  assert.match(stdout, /^e1 /m);
  assert.match(stderr, /0 found, searched back to 2026-01-02T00:00:00\.000Z/);
});

for (const way of WAYS) {
  test(`events are listed, filtered, searched, shown, ${way}`, () => inPlace(way, async (place) => {
    const { identifier: shop } = await place.json(HOOK);
    const paid = await emit(place, 'order.paid', '--key', 'k1');
    const sent = await emit(place, 'order.sent');
    const list = async (...words: string[]): Promise<readonly string[]> =>
      (await place.json<{ id: string }[]>(['event:list', ...words])).map(({ id }) => id);
    assert.deepEqual(await list(), [sent, paid]);
    assert.deepEqual(await list('--name', 'order.paid'), [paid]);
    assert.deepEqual(await list('--key', 'k1'), [paid]);
    assert.deepEqual(await list('--heard', 'false'), []);
    assert.deepEqual(await list('--q', '42', '--limit', '1'), [sent]);
    assert.deepEqual(await list('--where', 'payload.order.id=7'), []);
    assert.deepEqual(await list('--where', 'payload.order.id=42'), [sent, paid]);
    const shown = await place.json(['event:show', paid]);
    assert.deepEqual([shown['name'], shown['key'], shown['hops']], ['order.paid', 'k1', 1]);
    const source = way === 'over the network' ? 'api' : 'command';
    assert.equal(shown['source'], source);
    assert.deepEqual(await list('--source', source), [sent, paid]);
    assert.deepEqual(await list('--source', 'own'), []);
    const at = String(shown['createdAt']);
    assert.ok((await list('--since', at)).includes(paid));
    assert.deepEqual(await list('--until', at), []);
    const deliveries = (...words: string[]): Promise<readonly unknown[]> =>
      place.json(['delivery:list', ...words]);
    assert.equal((await deliveries('--q', '42')).length, 2);
    assert.equal((await deliveries('--where', 'event=order.paid', '--q', '42')).length, 1);
    const text = (await place.run(['event:show', paid])).stdout;
    assert.match(text, new RegExp(`^shop +${String(shop)} +\\w+ +\\S+$`, 'm'));
    const { stdout } = await place.run(['event:show', paid, '--payload']);
    assert.equal(stdout.trim(), '{"order":{"id":42}}');
  }));

  test(`an event begins later, or is taken back, ${way}`, () => inPlace(way, async (place) => {
    await place.json(HOOK);
    const words = ['event:emit', '--name', 'order.due', '--payload', '{}', '--in', '2h'];
    assert.match((await place.run(words)).stdout, /^order\.due will be emitted later, as event /);
    const id = await emit(place, 'order.due', '--at', '2026-11-01T00:00:00Z');
    assert.equal((await place.json<unknown[]>(['delivery:list'])).length, 1, 'a past time is now');
    const delayed = async (delay: string): Promise<number> => {
      const shown = await place.json<{ createdAt: string; deliverAt: string }>(
        ['event:show', await emit(place, 'order.due', '--in', delay)]);
      return Math.round((Date.parse(shown.deliverAt) - Date.parse(shown.createdAt)) / 1000);
    };
    assert.deepEqual([await delayed('90s'), await delayed('15m'), await delayed('2h')],
      [90, 900, 7200]);
    const later = await emit(place, 'order.due', '--in', '1d');
    assert.equal((await place.run(['event:cancel', later])).stdout, `cancelled event ${later}\n`);
    const gone = await place.run(['event:show', later]);
    assert.notEqual(gone.code, 0);
    const begun = await place.run(['event:cancel', id]);
    assert.equal(begun.code, 1);
    assert.match(begun.stderr, /has begun/);
    for (const [more, problem] of [
      [['--in', '2 hours'], /such as 30s or 2h/], [['--in', '9999999d'], /year/],
      [['--in', '2h', '--at', '2027-01-01T00:00:00Z'], /exclude one another/],
    ] as const) {
      const { code, stderr } = await place.run([...words.slice(0, 5), ...more]);
      assert.notEqual(code, 0, more.join(' '));
      assert.match(stderr, problem);
    }
  }));

  test(`a payload is sent durably to one webhook, ${way}`, () => inPlace(way, async (place) => {
    await place.json([...HOOK, '--disabled']);
    const send = ['outgoingwebhook:send', 'shop', '--payload', '{"n":1}'];
    const { stdout } = await place.run([...send, '--durable', '--event', 'by.hand']);
    assert.match(stdout, /^delivery \S+ will be sent once its webhook is enabled\n$/);
    const later = await place.run([...send, '--durable', '--in', '15m']);
    assert.match(later.stdout, /^delivery \S+ will be sent at 20\S+Z/);
    const deliveries = await place.json<{ event: string; status: string }[]>(['delivery:list']);
    assert.deepEqual(deliveries.map(({ status }) => status), ['pending', 'pending']);
    assert.equal(deliveries[1]?.event, 'by.hand');
    for (const [more, problem] of [
      [['--in', '15m'], /--in goes with --durable/], [['--event', 'x'], /--event goes with/],
      [['--durable', '--retries', '1'], /retry schedule/],
    ] as const) {
      const { code, stderr } = await place.run([...send, ...more]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, problem);
    }
  }));
}
