import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, startRelay, startRelayFor, type Relay } from './relay.ts';

let relay: Relay;
before(async () => {
  relay = await startRelay();
  await relay.ask('POST', '/api/action-configurations', { identifier: 'log', actionType: 'log' });
  await relay.ask('POST', '/api/action-configurations', {
    identifier: 'emit', actionType: 'emit-event', options: { name: 'x' },
  });
});
after(() => relay.close());

const OUT = '/api/outgoing-webhooks';
const IN = '/api/incoming-webhooks';
const CONFIG = '/api/action-configurations';

type Errors = readonly { readonly pointer: string; readonly detail: string }[];

const REFUSED: readonly [string, object, string][] = [
  [OUT, {}, '/targetUrl'],
  [OUT, { targetUrl: 'ftp://x' }, '/targetUrl'],
  [OUT, { targetUrl: 'http://' }, '/targetUrl'],
  [OUT, { targetUrl: 'http:///user:password@x/' }, '/targetUrl'],
  [OUT, { targetUrl: 'https://example.com/hooks\r' }, '/targetUrl'],
  [OUT, { targetUrl: 'http://user:pass word@x/' }, '/targetUrl'],
  [OUT, { targetUrl: 'http://user:"password@x/' }, '/targetUrl'],
  [OUT, { targetUrl: 'http://x', httpMethod: 'TRACE' }, '/httpMethod'],
  [OUT, { targetUrl: 'http://x', httpMethod: 'CONNECT' }, '/httpMethod'],
  [OUT, { targetUrl: 'http://x', httpMethod: 'post' }, '/httpMethod'],
  [OUT, { targetUrl: 'http://x', headers: { hOST: 'y' } }, '/headers/hOST'],
  [OUT, { targetUrl: 'http://x', headers: { 'Content-Length': '1' } }, '/headers/Content-Length'],
  [OUT, { targetUrl: 'http://x', headers: { Upgrade: 'h2c' } }, '/headers/Upgrade'],
  [OUT, { targetUrl: 'http://x', headers: { a: 'b\r\nc: d' } }, '/headers/a'],
  [OUT, { targetUrl: 'http://x', headers: { 'a b': 'c' } }, '/headers/a b'],
  [OUT, { targetUrl: 'http://x', headers: { a: 1 } }, '/headers/a'],
  [OUT, { targetUrl: 'http://x', headers: { a: '1', A: '2' } }, '/headers/A'],
  [OUT, { targetUrl: 'http://x', headers: { a: '***' } }, '/headers/a'],
  [OUT, { targetUrl: 'http://***@x' }, '/targetUrl'],
  [OUT, { targetUrl: 'http://x', secret: '' }, '/secret'],
  [OUT, { targetUrl: 'http://x', secret: 'whsec_?' }, '/secret'],
  [OUT, { targetUrl: 'http://x', payloadTemplate: '{"a": "{{ b"}' }, '/payloadTemplate'],
  [OUT, { targetUrl: 'http://x', payloadTemplate: '' }, '/payloadTemplate'],
  [OUT, { targetUrl: 'http://x', triggerEvent: ' a b' }, '/triggerEvent'],
  [OUT, { targetUrl: 'http://x', actionConfiguration: 'nope' }, '/actionConfiguration'],
  [OUT, { targetUrl: 'http://x', actionConfiguration: 'emit' }, '/actionConfiguration'],
  [OUT, { targetUrl: 'http://x', targeturl: 'http://y' }, '/targeturl'],
  [IN, { actionConfiguration: 'log' }, '/pathSegment'],
  [IN, { pathSegment: '..', actionConfiguration: 'log' }, '/pathSegment'],
  [IN, { pathSegment: 'a/b', actionConfiguration: 'log' }, '/pathSegment'],
  [IN, { pathSegment: 'a', actionConfiguration: 'nope' }, '/actionConfiguration'],
  [IN, { pathSegment: 'a', actionConfiguration: 'log', secret: '' }, '/secret'],
  [IN, { pathSegment: 'a', actionConfiguration: 'log', allowedMethods: ['get'] },
    '/allowedMethods/0'],
  [CONFIG, { actionType: 'lgo' }, '/actionType'],
  [CONFIG, { actionType: 'log', options: { level: 'loud' } }, '/options'],
  [CONFIG, { actionType: 'log', identifier: 'Upper' }, '/identifier'],
  [CONFIG, { actionType: 'http-forward' }, '/options'],
  [CONFIG, { actionType: 'http-forward', options: { url: 'http://x', method: 'TRACE' } },
    '/options'],
  [CONFIG, { actionType: 'http-forward', options: { url: 'http://x', headers: { Host: 'y' } } },
    '/options'],
  [CONFIG, { actionType: 'http-forward', options: { url: 'http://x', mode: 'later' } }, '/options'],
];

for (const [path, body, pointer] of REFUSED) {
  test(`${path} refuses ${JSON.stringify(body)} at ${pointer}`, async () => {
    assertRefused(await relay.ask('POST', path, body), pointer);
  });
}

test('a path segment and a given identifier are unique', async () => {
  const hook = { pathSegment: 'twice', actionConfiguration: 'log' };
  const [first, second] = await Promise.all([
    relay.ask('POST', IN, hook), relay.ask('POST', IN, hook),
  ]);
  assert.deepEqual([first.status, second.status].sort(), [201, 409]);
  const again = await relay.ask('POST', CONFIG, { identifier: 'log', actionType: 'log' });
  assert.equal(again.status, 409);
});

test('defaults are stored and shown', async () => {
  const { json } = await relay.ask('POST', OUT, { targetUrl: 'http://x' });
  const { identifier: _, createdAt, updatedAt: __, ...rest } = json;
  assert.deepEqual(rest, {
    targetUrl: 'http://x', httpMethod: 'POST', enabled: true, hasSecret: false,
    health: {
      state: 'healthy', since: createdAt, lastTryFailed: false, lastSuccessAt: null,
      lastFailure: null, waitsFor: null,
    },
  });
});

test('a configuration in use cannot go, and says which hooks use it', async () => {
  await relay.ask('POST', CONFIG, { identifier: 'used', actionType: 'log' });
  const hook = await relay.ask('POST', IN, { pathSegment: 'user', actionConfiguration: 'used' });
  const refused = await relay.ask('DELETE', `${CONFIG}/used`);
  assert.equal(refused.status, 409);
  assert.match(String(refused.json['detail']), /user/);
  const path = `${IN}/${String(hook.json['identifier'])}`;
  await relay.ask('PATCH', path, { actionConfiguration: 'log' });
  assert.equal((await relay.ask('DELETE', `${CONFIG}/used`)).status, 204);
  assert.equal((await relay.ask('PATCH', path, { actionConfiguration: 'used' })).status, 422);
});

test('a hook and the removal of its configuration cannot both pass while neither is on disk',
  async () => {
    for (const order of ['hook-first', 'removal-first']) {
      await relay.ask('POST', CONFIG, { identifier: order, actionType: 'log' });
      const { incoming, configurations } = relay.webhooks.resources;
      const add = (): Promise<unknown> =>
        incoming.add({ pathSegment: order, actionConfiguration: order });
      const remove = (): Promise<unknown> => configurations.remove(order);
      const both = order === 'hook-first' ? [add(), remove()] : [remove(), add()];
      const settled = await Promise.allSettled(both);
      assert.deepEqual(settled.map(({ status }) => status), ['fulfilled', 'rejected'], order);
    }
  });

test('a configuration that outgoing webhooks use cannot become one not for them', async () => {
  await relay.ask('POST', CONFIG, { identifier: 'both', actionType: 'log' });
  await relay.ask('POST', OUT, { targetUrl: 'http://x', actionConfiguration: 'both' });
  const body = { actionType: 'emit-event', options: { name: 'x' } };
  assert.equal((await relay.ask('PUT', `${CONFIG}/both`, body)).status, 409);
});

test('the secret is kept by what does not name it, and removed by null', async () => {
  const made = await relay.ask('POST', OUT, { targetUrl: 'http://x', secret: 's' });
  const path = `${OUT}/${String(made.json['identifier'])}`;
  const steps: readonly [string, object, boolean][] = [
    ['PUT', { targetUrl: 'http://y' }, true],
    ['PATCH', { enabled: false }, true],
    ['PUT', { targetUrl: 'http://y', hasSecret: false }, true],
    ['PATCH', { secret: null }, false],
    ['PATCH', { secret: 'again' }, true],
    ['PUT', { targetUrl: 'http://y', secret: null }, false],
  ];
  for (const [method, body, hasSecret] of steps) {
    const { json } = await relay.ask(method, path, body);
    assert.equal(json['hasSecret'], hasSecret, `${method} ${JSON.stringify(body)}`);
    assert.ok(!Object.hasOwn(json, 'secret'));
  }
});

function storedOutgoing(identifier: unknown): Record<string, unknown> {
  const found = relay.store.collection('outgoing-webhooks').find(String(identifier));
  return JSON.parse(found?.bytes.toString() ?? '{}');
}

test('masked values sent back keep what is stored', async () => {
  const made = await relay.ask('POST', OUT, {
    targetUrl: 'https://me:pass@host/a', headers: { Authorization: 'Bearer t', 'X-Kept': 'k' },
  });
  const { identifier } = made.json;
  assert.equal(made.json['targetUrl'], 'https://***@host/a');
  assert.deepEqual(made.json['headers'], { Authorization: '***', 'X-Kept': '***' });
  const path = `${OUT}/${String(identifier)}`;
  const shown = (await relay.ask('GET', path)).json;
  assert.equal((await relay.ask('PUT', path, { ...shown, enabled: false })).status, 200);
  assert.equal(storedOutgoing(identifier)['targetUrl'], 'https://me:pass@host/a');
  const patch = { targetUrl: 'https://***@host/b', headers: { 'X-Kept': '***', New: 'n' } };
  assert.equal((await relay.ask('PATCH', path, patch)).status, 200);
  assert.equal(storedOutgoing(identifier)['targetUrl'], 'https://me:pass@host/b');
  assert.deepEqual(storedOutgoing(identifier)['headers'], {
    Authorization: 'Bearer t', 'X-Kept': 'k', New: 'n',
  });
});

test('*** is no secret of an incoming webhook, and hides its header values too', async () => {
  await relay.ask('POST', CONFIG, { identifier: 'starred', actionType: 'log' });
  const body = { pathSegment: 'starred', actionConfiguration: 'starred' };
  assert.equal((await relay.ask('POST', IN, { ...body, secret: '***' })).status, 422);
  const staticHeaders = { Authorization: 'Bearer planted', 'X-A': 'planted' };
  const made = await relay.ask('POST', IN, { ...body, secret: 'kept', staticHeaders });
  assert.deepEqual(made.json['staticHeaders'], { Authorization: '***', 'X-A': '***' });
  const { identifier } = made.json;
  const path = `${IN}/${String(identifier)}`;
  const shown = (await relay.ask('GET', path)).json;
  assert.equal((await relay.ask('PUT', path, { ...shown, secret: '***' })).status, 200);
  const stored = relay.store.collection('incoming-webhooks').find(String(identifier));
  const { secret, staticHeaders: kept } = JSON.parse(stored?.bytes.toString() ?? '{}');
  assert.deepEqual([secret, kept], ['kept', staticHeaders]);
});

test('options hide header values, secret-like members and URL credentials', async () => {
  const url = 'http://u:p@host/';
  await relay.ask('POST', CONFIG, {
    identifier: 'masked', actionType: 'http-forward', options: { url, headers: { 'X-A': 'v' } },
  });
  const shown = (await relay.ask('GET', `${CONFIG}/masked`)).json;
  assert.deepEqual(shown['options'], { url: 'http://***@host/', headers: { 'X-A': '***' } });
  assert.equal((await relay.ask('PUT', `${CONFIG}/masked`, shown)).status, 200);
  const stored = relay.store.collection('action-configurations').find('masked');
  assert.deepEqual(JSON.parse(stored?.bytes.toString() ?? '{}').options, {
    url, headers: { 'X-A': 'v' },
  });
});

test('every collection says how many there are, to HEAD and with a limit as well', async () => {
  for (const path of [OUT, IN, CONFIG, '/api/actions']) {
    const whole = await relay.ask('GET', path);
    const count = String(JSON.parse(whole.text).length);
    const answers = [whole, await relay.ask('HEAD', path)];
    if (path !== '/api/actions') answers.push(await relay.ask('GET', `${path}?limit=1`));
    for (const { headers } of answers) assert.equal(headers['x-total-count'], count, path);
  }
});

test('actions are listed with their options', async () => {
  const { text } = await relay.ask('GET', '/api/actions');
  const listed = JSON.parse(text) as
    { identifier: string; label: string; options: { name: string }[] }[];
  assert.deepEqual(listed.map(({ identifier, options }) => [identifier, options[0]?.name]),
    [['emit-event', 'name'], ['http-forward', 'url'], ['log', 'level']]);
  assert.ok(listed.every(({ label }) => label !== ''));
});

test('event names are free-form, but for commas, controls and spaces at the ends', async () => {
  const names = ['order placed', 'Bestellung "äöü" 📦', 'a/b?c#d', '📦'.repeat(200), 'x\u00a0y'];
  for (const name of names) {
    const targetUrl = 'http://127.0.0.1:1/';
    for (const triggerEvent of name.length === 400 ? [name] : [name, `${name}.*`]) {
      const made = await relay.ask('POST', OUT, { targetUrl, triggerEvent });
      assert.equal(made.status, 201, made.text);
    }
    const { status, json } = await relay.ask('POST', '/api/events', { name });
    assert.deepEqual([status, (json['deliveries'] as unknown[]).length], [202, 1], name);
  }
  for (const name of [
    '', ' a', 'a ', '\u00a0a', 'a\nb', 'a\u0000', 'a\u2028b', 'a*', 'a.*', 'a,b', 'x'.repeat(201),
  ]) {
    const refused = await relay.ask('POST', '/api/events', { name });
    assert.equal(refused.status, 422, JSON.stringify(name));
  }
  const { text } = await relay.ask('POST', '/api/events', { name: 'a, b' });
  assert.match(text, /a, b.*emit one event for each name/);
  const hook = { targetUrl: 'http://x', triggerEvent: 'a, b' };
  assert.match((await relay.ask('POST', OUT, hook)).text, /name each by itself in triggerEvents/);
});

test('a configuration in use is told with the hooks that use it, and no others', async () => {
  await relay.ask('POST', CONFIG, { identifier: 'in-use', actionType: 'log' });
  await relay.ask('POST', IN, { pathSegment: 'the-user', actionConfiguration: 'in-use' });
  await relay.ask('POST', IN, {
    pathSegment: 'bystander', actionConfiguration: 'log',
    staticHeaders: { actionConfiguration: 'in-use' },
  });
  const other = await relay.ask('POST', OUT, {
    targetUrl: 'http://x', headers: { actionConfiguration: 'in-use' },
  });
  const { status, json } = await relay.ask('DELETE', `${CONFIG}/in-use`);
  assert.equal(status, 409);
  assert.match(String(json['detail']), /: the-user$/);
  assert.ok(!String(json['detail']).includes(String(other.json['identifier'])));
});

test('a refused name is quoted, with what there is', async () => {
  const cases: readonly [string, object, RegExp][] = [
    [CONFIG, { actionType: 'no-such' }, /"no-such.* known are emit-event, http-forward, log/],
    [CONFIG, { actionType: 'lgo' }, /lgo.* did you mean `log`/],
    [CONFIG, { actionType: 'run-command' },
      /"run-command" is not a known action here: the setting actions\.commandDirectory must/],
    [CONFIG, { actionType: 'log', options: { lvl: 1 } }, /lvl.* known is level/],
    [CONFIG, { actionType: 'emit-event', options: { name: 'request.failed' } },
      /name must not be request\.failed, which hookshelf alone emits/],
    [IN, { pathSegment: 'a', actionConfiguration: 'emti' }, /emti.* did you mean `emit`/],
    [OUT, { targetUrl: 'http://x', actionConfiguration: 'zzzzz' }, /zzzzz.* known are .*emit/],
  ];
  for (const [path, body, expected] of cases) {
    assert.match((await relay.ask('POST', path, body)).text.replaceAll('\\"', '"'), expected);
  }
});

const many = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1]));

const FLOODS: readonly [string, object, string, number][] = [
  [OUT, { targetUrl: 'http://x', ...many(60_000) }, '/x0', 100],
  [OUT, { targetUrl: 'http://x', headers: many(60_000) }, '/headers', 1],
  [IN, { pathSegment: 'a', actionConfiguration: 'log', ...many(60_000) }, '/x0', 100],
  [IN, { pathSegment: 'a', actionConfiguration: 'log', verification: many(60_000) },
    // Of unknown names a hundred are told, and the members that are missing beside them.
    '/verification/x0', 101],
  [IN, { pathSegment: 'a', actionConfiguration: 'log', x0: many(60_000) }, '/x0', 1],
  [CONFIG, { actionType: 'log', options: many(60_000) }, '/options', 1],
  [CONFIG, { actionType: 'log', ...many(60_000) }, '/x0', 100],
];

for (const [path, body, pointer, count] of FLOODS) {
  test(`the errors of a body of a megabyte are a short list: ${path} ${pointer}`, async () => {
    const { status, json } = await relay.ask('POST', path, body);
    const errors = json['errors'] as Errors;
    assert.deepEqual([status, errors[0]?.pointer, errors.length], [422, pointer, count]);
  });
}

test('a target at a denied address is refused when saved, and one that is there may stay',
  async (context) => {
    const strict = await startRelayFor(
      context, { client: { denyAddresses: ['link-local', '10.0.0.0/8'] } });
    const refused = async (
      method: string, path: string, body: object, pointer: string, headers = {},
    ): Promise<void> => {
      const { status, json } = await strict.ask(method, path, body, headers);
      const [error] = (json['errors'] ?? []) as Errors;
      assert.deepEqual([status, error?.pointer], [422, pointer], JSON.stringify(body));
      assert.match(error?.detail ?? '', /http\.denyAddresses/);
    };
    for (const url of [
      'http://169.254.169.254/', 'https://user:pw@10.1.2.3:8443/x', 'http://0xa9fea9fe/',
      'http://[::ffff:169.254.169.254]/', 'http://[fe80::1]/',
    ]) {
      await refused('POST', OUT, { targetUrl: url }, '/targetUrl');
      await refused('POST', CONFIG, { actionType: 'http-forward', options: { url } },
        '/options/url');
    }
    const { json, status } = await strict.ask('POST', OUT, { targetUrl: 'http://localhost:9/' });
    assert.equal(status, 201);
    const path = `${OUT}/${String(json['identifier'])}`;
    const merge = { 'Content-Type': 'application/merge-patch+json' };
    await refused('PATCH', path, { targetUrl: 'http://10.0.0.1/' }, '/targetUrl', merge);
    // As if it had been saved under another list.
    const hooks = strict.store.collection('outgoing-webhooks');
    const record = String(hooks.find(String(json['identifier']))?.bytes);
    await strict.store.transact((transaction) => transaction.put('outgoing-webhooks',
      String(json['identifier']), record.replace('localhost:9', '10.0.0.1')));
    assert.equal((await strict.ask('PATCH', path, { enabled: false }, merge)).status, 200);
    await refused('PATCH', path, { targetUrl: 'http://10.0.0.2/' }, '/targetUrl', merge);
  });
