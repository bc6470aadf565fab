/** What was deleted is put back as it was, for a minute, unless something has taken its place. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, startServer } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { assertRefused, startRelayFor, type Relay } from './relay.ts';

const OUT = '/api/outgoing-webhooks';
const IN = '/api/incoming-webhooks';
const CONFIG = '/api/action-configurations';
const REQUESTS = '/api/requests';

/** The bytes of all records but the totals of statistics, by collection and id. */
function dump({ store }: Relay, ...collections: readonly string[]): Record<string, string> {
  const records: Record<string, string> = {};
  for (const name of collections) {
    const collection = store.collection(name);
    const walk = collection.walk();
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const id = collection.idAt(slot) ?? '';
      const isTotal = name === 'webhook-statistics' && /^[a-z]+\./.test(id);
      if (!isTotal) records[`${name} ${id}`] = String(collection.bytesAt(slot));
    }
  }
  return records;
}

async function add(relay: Relay, path: string, body: object): Promise<string> {
  const added = await relay.ask('POST', path, body);
  assert.equal(added.status, 201, added.text);
  return String(added.json['identifier']);
}

async function remove(relay: Relay, path: string): Promise<void> {
  const removed = await relay.ask('DELETE', path);
  assert.equal(removed.status, 204, removed.text);
}

const WEBHOOKS = [
  'outgoing-webhooks', 'incoming-webhooks', 'action-configurations', 'configuration-uses',
  'webhook-health', 'webhook-statistics', 'applied-records',
];

test('a webhook comes back by its name, the one that had it last', async (context) => {
  const relay = await startRelayFor(context);
  await add(relay, CONFIG, { identifier: 'to-log', actionType: 'log' });
  await add(relay, IN, { pathSegment: 'in', name: 'own', actionConfiguration: 'to-log' });
  for (const targetUrl of ['http://first/', 'http://last/']) {
    await add(relay, OUT, { name: 'acme', targetUrl });
    await remove(relay, `${OUT}/acme`);
  }
  const { status, json, text } = await relay.ask('POST', `${OUT}/acme/restore`);
  assert.deepEqual([status, json['targetUrl']], [200, 'http://last/'], text);
  assert.equal((await relay.ask('POST', `${OUT}/acme/restore`)).status, 409);
  for (const name of ['in', 'own']) {
    await remove(relay, `${IN}/in`);
    assert.equal((await relay.ask('POST', `${IN}/${name}/restore`)).status, 200);
  }
  assert.equal((await relay.ask('POST', `${IN}/in/restore`)).status, 404);
});

test('webhooks and configurations come back byte for byte, with their secrets', async (context) => {
  const relay = await startRelayFor(context);
  await add(relay, CONFIG, {
    identifier: 'forward', actionType: 'http-forward',
    options: { url: 'http://user:password@x/' },
  });
  const outgoing = await add(relay, OUT, {
    name: 'acme', targetUrl: 'http://user:password@x/', secret: 'secret',
    headers: { Authorization: 'Bearer x' }, actionConfiguration: 'forward',
  });
  const incoming = await add(relay, IN, {
    pathSegment: 'in', secret: 'a secret', actionConfiguration: 'forward',
  });
  const before = dump(relay, ...WEBHOOKS);
  const shown = await relay.ask('GET', `${OUT}/${outgoing}`);
  const paths = [`${OUT}/acme`, `${IN}/in`, `${CONFIG}/forward`];
  for (const path of paths) await remove(relay, path);
  assert.deepEqual(dump(relay, ...WEBHOOKS), {});
  for (const path of [`${CONFIG}/forward`, `${IN}/${incoming}`, `${OUT}/${outgoing}`]) {
    const restored = await relay.ask('POST', `${path}/restore`);
    assert.equal(restored.status, 200, restored.text);
    assert.deepEqual((await relay.ask('GET', path)).json, restored.json);
    assert.equal((await relay.ask('POST', `${path}/restore`)).status, 404, 'once');
  }
  assert.deepEqual(dump(relay, ...WEBHOOKS), before);
  const shownAgain = await relay.ask('GET', `${OUT}/${outgoing}`);
  assert.deepEqual([shownAgain.text, shownAgain.headers['etag']],
    [shown.text, shown.headers['etag']]);
  assert.equal((await relay.ask('DELETE', `${CONFIG}/forward`)).status, 409, 'it is in use');
  const lines = relay.logLines.filter((line) => line.includes(' restored"'));
  assert.equal(lines.length, 3);
  assert.ok(lines.every((line) => !/password|secret|Bearer/.test(line)), lines.join());
});

test('health and statistics come back; pending deliveries stay cancelled', async (context) => {
  const target = await startServer({ onRequest: ({ socket }) => socket.write(answer(503)) });
  context.after(() => target.close());
  const relay = await startRelayFor(context);
  relay.webhooks.start();
  const applied = await relay.ask('PUT', '/api/configuration', {
    set: 'mine', outgoingWebhooks: [{ name: 'acme', targetUrl: target.url(), triggerEvent: 'a' }],
  });
  assert.equal(applied.status, 200, applied.text);
  const { identifier } = (await relay.ask('GET', `${OUT}/acme`)).json;
  await relay.ask('POST', '/api/events', { name: 'a', payload: {} });
  const path = `${OUT}/${String(identifier)}`;
  const pending = '/api/deliveries?hook=acme&status=pending';
  await until('the first attempt has failed', async () =>
    (await relay.ask('GET', pending)).text.includes('"attempts":[{'));
  const show = (): Promise<string[]> => Promise.all([path, `${path}/statistics`].map(
    async (shown) => (await relay.ask('GET', shown)).text));
  const before = await show();
  const mark = dump(relay, 'applied-records');
  assert.match(before.join(), /"lastFailure":\{"at".*"failed":\[[0,]*1\]/);
  assert.equal(Object.keys(mark).length, 1);
  await remove(relay, path);
  assert.deepEqual(dump(relay, ...WEBHOOKS), {});
  assert.equal((await relay.ask('POST', `${path}/restore`)).status, 200);
  assert.deepEqual(await show(), before);
  assert.deepEqual(dump(relay, 'applied-records'), mark);
  const deliveries = JSON.parse((await relay.ask('GET', '/api/deliveries?hook=acme')).text);
  assert.deepEqual(deliveries.map(({ status }: { status: string }) => status), ['cancelled']);
});

test('nothing is put back where something has taken its place', async (context) => {
  const relay = await startRelayFor(context);
  await add(relay, CONFIG, { identifier: 'log', actionType: 'log' });
  const outgoing = await add(relay, OUT, {
    name: 'acme', targetUrl: 'http://x/', actionConfiguration: 'log',
  });
  const incoming = await add(relay, IN, { pathSegment: 'in', actionConfiguration: 'log' });
  for (const path of [`${OUT}/acme`, `${IN}/in`, `${CONFIG}/log`]) await remove(relay, path);
  assertRefused(await relay.ask('POST', `${OUT}/${outgoing}/restore`), '/actionConfiguration');
  await add(relay, CONFIG, { identifier: 'log', actionType: 'log' });
  const taken = await relay.ask('POST', `${CONFIG}/log/restore`);
  assert.deepEqual([taken.status, taken.json['detail']],
    [409, 'another action configuration has the identifier log by now']);
  await add(relay, OUT, { name: 'acme', targetUrl: 'http://y/' });
  await add(relay, IN, { pathSegment: 'in', actionConfiguration: 'log' });
  for (const path of [`${OUT}/${outgoing}`, `${IN}/${incoming}`]) {
    const refused = await relay.ask('POST', `${path}/restore`);
    assert.equal(refused.status, 409, refused.text);
    assert.match(String(refused.json['detail']),
      /"(acme|in)" is already taken: choose another, or change/);
  }
  await remove(relay, `${OUT}/acme`);
  assert.equal((await relay.ask('POST', `${OUT}/${outgoing}/restore`)).status, 200);
});

test('a deletion can be taken back for a minute', async (context) => {
  const clock = new ManualClock();
  const relay = await startRelayFor(context, { clock });
  const [first, second, third] = await Promise.all([1, 2, 3].map(() =>
    add(relay, OUT, { targetUrl: 'http://x/' })));
  for (const id of [first, second]) await remove(relay, `${OUT}/${id}`);
  await clock.advance(59_999);
  assert.equal((await relay.ask('POST', `${OUT}/${first}/restore`)).status, 200);
  await clock.advance(1);
  for (const [id, why] of [[second, 'too late'], [third, 'it is there']] as const) {
    const refused = await relay.ask('POST', `${OUT}/${id}/restore`);
    assert.equal(refused.status, 404, why);
    assert.match(String(refused.json['detail']), /^no outgoing webhook "[^"]+" was deleted here /);
  }
});

const STORED = ['requests', 'request-bodies', 'event-ids', 'deliveries', 'removals'];

/** A relay with a failed request, whose id is resolved. */
async function failRequest(
  context: TestContext, body: string,
): Promise<{ readonly relay: Relay; readonly id: string }> {
  const relay = await startRelayFor(context);
  const hook = await relay.hook({
    identifier: 'away', actionType: 'http-forward', options: { url: 'http://127.0.0.1:1/' },
  }, { inbox: 'failed', deduplicate: { json: 'id' } });
  assert.equal(hook.status, 201, hook.text);
  await relay.ask('POST', '/webhook/in/hook', body);
  const [request] = JSON.parse((await relay.ask('GET', REQUESTS)).text);
  assert.equal(request.status, 'failed');
  return { relay, id: request.id };
}

for (const [size, length] of [['small', 10], ['large', 100_000]] as const) {
  test(`a ${size} request comes back with its body, routes and event id`, async (context) => {
    const { relay, id } = await failRequest(context, `{"id":"e1","x":"${'x'.repeat(length)}"}`);
    const before = dump(relay, ...STORED);
    const etag = (await relay.ask('GET', `${REQUESTS}/${id}`)).headers['etag'];
    const totals = (await relay.ask('GET', `${REQUESTS}/reconcile`)).json;
    await remove(relay, `${REQUESTS}/${id}`);
    assert.deepEqual(Object.keys(dump(relay, ...STORED)), ['removals requests']);
    const restored = await relay.ask('POST', `${REQUESTS}/${id}/restore`);
    assert.deepEqual([restored.status, restored.headers['etag']], [200, etag], restored.text);
    const { 'removals requests': removals, ...rest } = dump(relay, ...STORED);
    assert.deepEqual(rest, before);
    assert.match(removals ?? '', /"deleted":0/);
    assert.deepEqual((await relay.ask('GET', `${REQUESTS}/reconcile`)).json, totals);
    assert.equal((await relay.ask('POST', `${REQUESTS}/${id}/replay`)).status, 202);
  });
}

test('a failed request is not put back once its event has come again', async (context) => {
  const { relay, id } = await failRequest(context, '{"id":"e1"}');
  await remove(relay, `${REQUESTS}/${id}`);
  await relay.ask('POST', '/webhook/in/hook', '{"id":"e1"}');
  const refused = await relay.ask('POST', `${REQUESTS}/${id}/restore`);
  assert.deepEqual([refused.status, refused.json['detail']],
    [409, `request ${id} is there, or its event has come again`]);
});
