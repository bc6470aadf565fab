/** Names of webhooks: unique, free once they are given up, and good for an identifier. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRelay, type Answer, type Relay } from './relay.ts';

let relay: Relay;
before(async () => {
  relay = await startRelay();
  await relay.ask('POST', CONFIG, { identifier: 'log', actionType: 'log' });
});
after(() => relay.close());

const OUT = '/api/outgoing-webhooks';
const IN = '/api/incoming-webhooks';
const CONFIG = '/api/action-configurations';
const UUID = '01890a5d-ac96-774b-bcce-b302099a8057';

const outgoing = (members: object): Promise<Answer> =>
  relay.ask('POST', OUT, { targetUrl: 'http://127.0.0.1:1/hook', ...members });
const incoming = (pathSegment: string, members: object = {}): Promise<Answer> =>
  relay.ask('POST', IN, { pathSegment, actionConfiguration: 'log', ...members });
const idOf = ({ json }: Answer): string => String(json['identifier']);

const REFUSED_NAMES: readonly unknown[] = [
  '', 'Upper', '-a', '.a', 'a b', 'a/b', 'ü', 'a'.repeat(65), UUID, 7, ['a'],
];

test('a name is a slug and not of a UUID\'s form; a description has at most 500 characters',
  async () => {
    for (const name of REFUSED_NAMES) {
      for (const answer of [await outgoing({ name }), await incoming('refused', { name })]) {
        assert.equal(answer.status, 422, JSON.stringify(name));
        assert.match(answer.text, /"\/name"/);
      }
    }
    const wordy = { description: '😀'.repeat(501) };
    assert.equal((await outgoing(wordy)).status, 422);
    assert.equal((await incoming('refused', wordy)).status, 422);
    assert.equal((await relay.ask('POST', CONFIG, { actionType: 'log', ...wordy })).status, 422);
    const described = { name: '0a._-', description: '😀'.repeat(500) };
    for (const { json } of [await outgoing(described), await incoming('described', described)]) {
      assert.deepEqual([json['name'], json['description']], Object.values(described));
    }
    const { description } = described;
    const { json } = await relay.ask('POST', CONFIG, { actionType: 'log', description });
    assert.equal(json['description'], description);
  });

test('a name is unique within its kind, of incoming webhooks among path segments too', async () => {
  const [crm, deploy] = [await outgoing({ name: 'crm' }), await incoming('deploy')];
  assert.deepEqual([crm.status, deploy.status], [201, 201]);
  const taken = async (answer: Promise<Answer>, detail: RegExp): Promise<void> => {
    const { status, json } = await answer;
    assert.equal(status, 409, JSON.stringify(json));
    assert.match(String(json['detail']), detail);
  };
  await taken(outgoing({ name: 'crm' }), /^name "?crm"? is/);
  await taken(incoming('other', { name: 'deploy' }), /^name "?deploy"? is/);
  assert.equal((await incoming('crm', { name: 'crm' })).status, 201, 'the other kind');
  await taken(incoming('a', { name: 'crm' }), /^name "?crm"? is/);
  await incoming('b', { name: 'named' });
  await taken(incoming('named'), /^pathSegment "?named"? is/);
  await taken(relay.ask('PATCH', `${IN}/${idOf(deploy)}`, { name: 'named' }), /^name/);
  await taken(relay.ask('PATCH', `${IN}/${idOf(deploy)}`, { pathSegment: 'named' }),
    /^pathSegment/);
  const own = await relay.ask('PATCH', `${IN}/${idOf(deploy)}`, { name: 'deploy' });
  assert.equal(own.json['name'], 'deploy', 'its own path segment');
});

test('of many who take one name at once, as a name or a path segment, one gets it', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0 ? incoming(`race-${index}`, { name: 'race' }) : incoming('race')));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, ...Array(19).fill(409)]);
});

test('a name is free at once when its webhook is renamed or removed', async () => {
  const first = idOf(await outgoing({ name: 'first' }));
  assert.equal((await relay.ask('PATCH', `${OUT}/first`, { name: 'renamed' })).status, 200);
  const second = await outgoing({ name: 'first' });
  assert.equal(second.status, 201);
  assert.equal(idOf(await relay.ask('GET', `${OUT}/renamed`)), first);
  assert.equal((await relay.ask('DELETE', `${OUT}/renamed`)).status, 204);
  assert.equal((await relay.ask('GET', `${OUT}/${first}`)).status, 404);
  assert.equal((await outgoing({ name: 'renamed' })).status, 201);
  await relay.ask('PATCH', `${OUT}/first`, { name: null });
  assert.equal((await relay.ask('GET', `${OUT}/first`)).status, 404);
  assert.ok(!('name' in (await relay.ask('GET', `${OUT}/${idOf(second)}`)).json));
});

test('a name, and of an incoming webhook its path segment, stands for the identifier', async () => {
  for (const [path, made, names] of [
    [OUT, await outgoing({ name: 'stand' }), ['stand']],
    [IN, await incoming('Seg', { name: 'ment' }), ['ment', 'Seg']],
  ] as const) {
    for (const name of names) {
      const one = `${path}/${name}`;
      const got = await relay.ask('GET', one);
      assert.equal(idOf(got), idOf(made));
      const { hasSecret: _, ...body } = got.json;
      const put = await relay.ask('PUT', one, { ...body, description: name },
        { 'If-Match': String(got.headers.etag) });
      assert.deepEqual([put.status, put.json['description']], [200, name], put.text);
      const rotated = await relay.ask('POST', `${one}/rotate-secret`, { force: true });
      assert.deepEqual([rotated.status, idOf(rotated)], [200, idOf(made)]);
    }
    const wrong = await relay.ask('PATCH', `${path}/${names[0]}`, { identifier: UUID });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, new RegExp(idOf(made)), 'it says which one is meant');
    const unknown = await relay.ask('DELETE', `${path}/nobody`);
    assert.equal(unknown.status, 404);
    assert.match(unknown.text, /nobody/);
    assert.equal((await relay.ask('DELETE', `${path}/${names.at(-1)}`)).status, 204);
    assert.equal((await relay.ask('GET', `${path}/${idOf(made)}`)).status, 404);
  }
});

test('metrics call a webhook by its name, else by its path segment, never as they call others',
  async () => {
    const other = await incoming('other');
    await incoming('measured-1');
    await incoming('measured-2', { name: 'measured' });
    for (const segment of ['measured-1', 'measured-2', 'other']) {
      assert.equal((await relay.ask('DELETE', `/webhook/in/${segment}`)).status, 405);
    }
    const counts = relay.webhooks.rejections().map(({ hook, count }) => [hook, count]);
    for (const hook of ['measured-1', 'measured', idOf(other)]) {
      assert.deepEqual(counts.filter(([label]) => label === hook), [[hook, 1]], hook);
    }
    assert.ok(!counts.some(([label]) => label === 'other' || label === 'measured-2'));
  });

test('filters, jobs and one-off calls take a name for the identifier', async () => {
  const out = idOf(await outgoing({ name: 'filtered', triggerEvent: 'order.paid' }));
  await incoming('inbox', { name: 'box', inbox: 'all' });
  for (let count = 0; count < 2; count += 1) {
    await relay.ask('POST', '/webhook/in/inbox', {});
    await relay.ask('POST', '/api/events', { name: 'order.paid' });
  }
  await outgoing({ name: 'unrelated', triggerEvent: 'order.paid' });
  await relay.ask('POST', '/api/events', { name: 'order.paid' });
  const countOf = async (path: string): Promise<unknown> =>
    (await relay.ask('HEAD', path)).headers['x-total-count'];
  assert.equal(await countOf('/api/deliveries?hook=filtered'), '3');
  assert.equal(await countOf(`/api/deliveries?hook=${out}`), '3');
  assert.equal(await countOf('/api/deliveries?hook=unrelated'), '1');
  assert.equal(await countOf('/api/requests?hook=box'), '2');
  assert.equal(await countOf('/api/requests?hook=inbox'), '2');
  const dry = async (path: string, hook: string): Promise<unknown> =>
    (await relay.ask('POST', path, { hook, dryRun: true })).json['count'];
  assert.equal(await dry('/api/deliveries/resend', 'filtered'), 3);
  assert.equal(await dry('/api/requests/replay', 'box'), 2);
  const sent = await relay.ask('POST', `${OUT}/filtered/send`);
  assert.equal(sent.json['success'], false, 'nobody listens at its target');
  for (const [method, path, body] of [
    ['GET', 'examples', undefined], ['POST', 'sample', {}], ['POST', 'match', { payload: {} }],
    ['POST', 'diagnose', { headers: {} }],
  ] as const) {
    assert.equal((await relay.ask(method, `${IN}/box/${path}`, body)).status, 200, path);
  }
});

test('the library sends by identifier or name', async () => {
  const identifier = idOf(await outgoing({ name: 'by-library', enabled: false }));
  const { webhooks } = relay;
  for (const hook of [identifier, 'by-library', { identifier }, { name: 'by-library' }]) {
    const { message } = await webhooks.send(hook, {});
    assert.match(message ?? '', /The webhook is disabled/, JSON.stringify(hook));
  }
  await assert.rejects(webhooks.send('nobody', {}), { code: 'not_found' });
  const unsaved = { name: 'by-library', targetUrl: 'http://127.0.0.1:1/' };
  const { message } = await webhooks.send(unsaved, {});
  assert.match(message ?? '', /ECONNREFUSED$/, 'what has a target of its own is not looked up');
});

test('what belongs to a webhook is shown with its name and target, as they are now', async () => {
  const out = idOf(await outgoing({
    name: 'shown', triggerEvent: 'order.shown',
    targetUrl: 'http://user:hush@127.0.0.1:1/a;token=hush/b?token=hush',
  }));
  const inc = idOf(await incoming('shown', { inbox: 'all' }));
  const { deliveries: [delivery] } = (await relay.ask('POST', '/api/events',
    { name: 'order.shown' })).json as { deliveries: string[] };
  await relay.ask('POST', '/webhook/in/shown', {});
  const seen = async (path: string): Promise<unknown> => {
    const { json, text } = await relay.ask('GET', path);
    assert.ok(!text.includes('hush'), text);
    const [one = {}] = Array.isArray(json) ? json : [json];
    return [one.hook, one.hookName, one.target];
  };
  const list = '/api/deliveries?hook=shown';
  const target = '127.0.0.1:1/a;token=***';
  for (const path of [list, `/api/deliveries/${delivery}`]) {
    assert.deepEqual(await seen(path), [out, 'shown', target]);
  }
  const requests = '/api/requests?hook=shown';
  assert.deepEqual(await seen(requests), [inc, null, undefined], 'without a name null');
  await relay.ask('PATCH', `${OUT}/shown`, { name: null });
  await relay.ask('PATCH', `${IN}/shown`, { name: 'now-named' });
  assert.deepEqual(await seen(`/api/deliveries/${delivery}`), [out, null, target]);
  assert.deepEqual(await seen(requests), [inc, 'now-named', undefined]);
  assert.deepEqual(relay.webhooks.describeWebhook(inc), { hookName: 'now-named', target: null });
  await relay.ask('DELETE', `${IN}/shown`);
  assert.deepEqual(await seen(`/api/requests?hook=${inc}`), [inc, null, undefined], 'removed');
});

test('a queued forward is shown with its target, however the URL is written', async () => {
  for (const [url, target] of [
    ['http://user:hush@127.0.0.1:1/to/"them"?token=hush', '127.0.0.1:1/to/%22them%22'],
    ['http://127.0.0.1:1/back\\', '127.0.0.1:1/back/'], ['http://127.0.0.1:1', '127.0.0.1:1/'],
  ] as const) {
    const made = await relay.ask('POST', CONFIG,
      { actionType: 'http-forward', options: { url, mode: 'queue' } });
    assert.equal(made.status, 201, made.text);
    const segment = `queue-${idOf(made)}`;
    await incoming(segment, { actionConfiguration: idOf(made) });
    for (const padding of ['', 'x'.repeat(20_000)]) {
      const { json } = await relay.ask('POST', `/webhook/in/${segment}`,
        { padding, trap: ',"url":"http://trap","hooks":[' });
      const id = (json['data'] as { deliveryId: string }).deliveryId;
      const { json: shown } = await relay.ask('GET', `/api/deliveries/${id}`);
      assert.deepEqual([shown['hook'], shown['hookName'], shown['target']], [null, null, target]);
    }
  }
});

test('lines of the log name a webhook by its name beside its identifier', async () => {
  const linesOf = (hook: string): Record<string, unknown>[] =>
    relay.logLines.map((line) => JSON.parse(line)).filter((line) => line.hook === hook);
  const out = idOf(await outgoing({ name: 'logged' }));
  const inc = idOf(await incoming('logged-in', { name: 'logged' }));
  await relay.ask('POST', `${OUT}/logged/send`);
  await relay.ask('POST', '/webhook/in/logged-in', {});
  await relay.ask('DELETE', '/webhook/in/logged-in');
  await relay.ask('PATCH', `${IN}/logged`, { name: null });
  await relay.ask('DELETE', '/webhook/in/logged-in');
  const told = [out, inc].map((hook) => linesOf(hook).map(({ hookName, webhook, target = null }) =>
    [hookName, webhook, target]));
  const target = '127.0.0.1:1/hook';
  assert.deepEqual(told, [
    [['logged', 'logged', target]],
    [['logged', 'logged', null], ['logged', 'logged', null], ['logged', 'logged', null],
      [null, 'logged-in', null]],
  ]);
});
