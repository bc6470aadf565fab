import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ActionResult } from '../../../src/webhooks/actions/action.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { startRelay, type Relay } from '../relay.ts';
import { turnsUntil } from '../../support/turns.ts';
import { createActionClass } from '../context.ts';

const SECRET = 's3cret-plånted';
const seen: unknown[][] = [];
let finishSlow = (): void => {};

const Probe = createActionClass('probe', (...given: unknown[]) => {
  seen.push(given);
  const options = given[2] as { answer?: unknown; isSlow?: boolean; error?: string };
  if (options.error !== undefined) throw new Error(options.error);
  if (options.isSlow === true) {
    return new Promise((resolve) => {
      finishSlow = () => resolve(ActionResult.ok());
    });
  }
  return options.answer ?? ActionResult.ok();
});

const Odd = createActionClass('odd', () => { return ActionResult.ok({ count: 1n }); });

const Hostile = createActionClass('hostile', () => {
  const raise = (): never => { throw new Error('planted-trap'); };
  return ActionResult.ok(new Proxy({}, { ownKeys: raise, getPrototypeOf: raise }));
});

let relay: Relay;
before(async () => {
  relay = await startRelay({ actions: [Probe, Odd, Hostile] });
  await relay.hook({ actionType: 'probe' });
  const add = async (pathSegment: string, options: object, hook: object = {}): Promise<void> => {
    const { status } = await relay.hook({ actionType: 'probe', options }, { pathSegment, ...hook });
    assert.equal(status, 201);
  };
  await add('signed', {}, { secret: SECRET });
  await add('disabled', {}, { enabled: false, secret: SECRET });
  await add('any', {}, { allowedMethods: ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT'] });
  await add('throws', { error: 'kaboom-detail' });
  await add('refuses', { answer: { success: false, message: 'no "thanks"', data: ['why'] } });
  await add('plain', { answer: { success: true, data: { a: 1 } } });
  await add('unsound', { answer: { success: 'yes' } });
  await add('slow', { isSlow: true });
  await relay.hook({ actionType: 'odd' }, { pathSegment: 'odd' });
  await relay.hook({ actionType: 'hostile' }, { pathSegment: 'hostile' });
});
after(() => relay.close());

function sign(body: string | Buffer): { 'x-signature': string } {
  return { 'x-signature': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` };
}

const UNKNOWN = { success: false, message: 'Webhook not found or disabled', data: {} };

for (const path of ['/webhook/in/nope', '/webhook/in/disabled', '/webhook/in/hook/more',
  '/webhook/in/hook/', '/webhook/in/%zz', '/webhook/in/a%2Fb', '/webhook/in/..%2f']) {
  test(`${path} is not found, in the shape of every answer`, async () => {
    const { status, json } = await relay.ask('POST', path, {});
    assert.equal(status, 404);
    assert.deepEqual(json, UNKNOWN);
  });
}

test('a method that is not allowed is refused first, with those that are', async () => {
  const { status, json, headers } = await relay.ask('PUT', '/webhook/in/signed', {});
  assert.equal(status, 405);
  assert.equal(headers.allow, 'POST');
  assert.deepEqual(json, { success: false, message: 'Method not allowed', data: {} });
});

test('HEAD and OPTIONS are methods like any other', async () => {
  assert.equal((await relay.ask('OPTIONS', '/webhook/in/hook')).status, 405);
  assert.equal((await relay.ask('HEAD', '/webhook/in/hook')).status, 405);
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT']) {
    seen.length = 0;
    assert.equal((await relay.ask(method, '/webhook/in/any')).status, 200, method);
    assert.equal(seen.length, 1, method);
  }
});

test('a body over the limit is refused, announced or not', async () => {
  const body = Buffer.alloc(1_048_577);
  for (const [head, sent] of [
    [`Content-Length: ${body.length}`, body.subarray(0, 1000)],
    ['Transfer-Encoding: chunked', `${body.length.toString(16)}\r\n${body.toString()}`],
  ] as const) {
    seen.length = 0;
    const connection = new RawConnection(relay);
    connection.send(`POST /webhook/in/hook HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
    connection.send(sent);
    const answer = await connection.answer();
    assert.deepEqual([answer.status, answer.headers['connection']], [413, 'close'], head);
    assert.deepEqual(JSON.parse(answer.body),
      { success: false, message: 'Payload too large', data: {} });
    assert.equal(seen.length, 0, 'the action did not run');
    connection.close();
  }
});

test('who waits for 100 Continue gets the refusal instead', async () => {
  const socket = connect(relay.port, '127.0.0.1');
  socket.write('POST /webhook/in/disabled HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n'
    + 'Content-Length: 5\r\n\r\n');
  const [first] = await once(socket, 'data') as [Buffer];
  assert.match(first.toString(), /^HTTP\/1.1 404 /);
  socket.destroy();
});

test('a signature is asked for when there is a secret, over the raw bytes', async () => {
  const raw = Buffer.from([0x7b, 0xff, 0x00]);
  assert.equal((await relay.ask('POST', '/webhook/in/signed', raw, sign(raw))).status, 200);
  assert.equal((await relay.ask('POST', '/webhook/in/signed', '', sign(''))).status, 200);
  for (const headers of [{}, sign('other'), { 'x-signature': 'sha256=00' },
    { 'X-Signature': [sign(raw)['x-signature'], sign(raw)['x-signature']] }]) {
    seen.length = 0;
    const { status, json } = await relay.ask('POST', '/webhook/in/signed', raw, headers);
    assert.equal(status, 401);
    assert.equal(json['message'], 'Signature verification failed');
    assert.equal(seen.length, 0);
  }
});

test('an action gets payload, context, options and tools', async () => {
  seen.length = 0;
  const body = { hello: ['wörld'] };
  await relay.ask('POST', '/webhook/in/hook?a=1&b=%20', body, { 'X-Thing': 'x' });
  const [payload, context, options, tools] = seen[0] ?? [];
  assert.deepEqual(payload, body);
  const { headers, query } = context as { headers: Record<string, string>; query: string };
  assert.equal(query, 'a=1&b=%20');
  assert.equal(headers['x-thing'], 'x');
  assert.deepEqual(options, {});
  assert.deepEqual(Object.keys(tools as object), ['log', 'http', 'ActionResult']);
});

test('what is no JSON object or array becomes the empty array', async () => {
  const bodies = ['', 'nonsense', '"text"', '12', 'null', 'true', '{"a":', '{"a":1}x',
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])];
  for (const body of bodies) {
    seen.length = 0;
    assert.equal((await relay.ask('POST', '/webhook/in/hook', body)).status, 200);
    assert.deepEqual(seen[0]?.[0], []);
  }
  seen.length = 0;
  await relay.ask('POST', '/webhook/in/hook', '\ufeff{"a":1}');
  assert.deepEqual(seen[0]?.[0], { a: 1 });
});

test('an empty payload is the action\'s own to change, like any other', async () => {
  for (let count = 0; count < 2; count += 1) {
    seen.length = 0;
    await relay.ask('POST', '/webhook/in/hook', 'nonsense');
    assert.deepEqual(seen[0]?.[0], []);
    (seen[0]?.[0] as unknown[]).push('changed');
  }
});

const RESULTS: readonly [string, number, object][] = [
  ['hook', 200, { success: true, message: '', data: {} }],
  ['plain', 200, { success: true, message: '', data: { a: 1 } }],
  ['refuses', 400, { success: false, message: 'no "thanks"', data: ['why'] }],
  ['throws', 400, { success: false, message: 'Action failed', data: {} }],
  ['unsound', 400, { success: false, message: 'Action failed', data: {} }],
  ['odd', 400, { success: false, message: 'Action failed', data: {} }],
  ['hostile', 400, { success: false, message: 'Action failed', data: {} }],
];

for (const [pathSegment, status, expected] of RESULTS) {
  test(`the action of "${pathSegment}" is answered ${status}`, async () => {
    const answer = await relay.ask('POST', `/webhook/in/${pathSegment}`, {});
    assert.equal(answer.status, status);
    assert.deepEqual(answer.json, expected);
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  });
}

test('what an action threw stands in the log and nowhere else', async () => {
  const { text } = await relay.ask('POST', '/webhook/in/throws', {});
  assert.ok(!text.includes('kaboom'));
  assert.ok(relay.logLines.some((line) => line.includes('kaboom-detail')));
});

test('over its rate a hook answers 429 before it reads or checks anything', async () => {
  const limited = await startRelay({ actions: [Probe], incoming: { rateLimit: 2 } });
  await limited.hook({ actionType: 'probe' }, { secret: SECRET });
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const answer = await limited.ask('POST', '/webhook/in/hook', {});
    statuses.push(answer.status);
    if (answer.status === 429) assert.equal(answer.headers['retry-after'], '1');
  }
  await limited.close();
  assert.deepEqual(statuses, [401, 401, 429]);
});

test('a hook runs so many actions at once, and frees the slot with each end', async () => {
  const narrow = await startRelay({ actions: [Probe], incoming: { maxConcurrent: 1 } });
  await narrow.hook({ actionType: 'probe', options: { isSlow: true } });
  seen.length = 0;
  const first = narrow.ask('POST', '/webhook/in/hook', {});
  await turnsUntil(() => seen.length !== 0);
  const second = await narrow.ask('POST', '/webhook/in/hook', {});
  assert.equal(second.status, 503);
  assert.equal(second.headers['retry-after'], '1');
  assert.equal(second.json['message'], 'Too many requests in progress');
  finishSlow();
  assert.equal((await first).status, 200);
  let isAnswered = false;
  const third = narrow.ask('POST', '/webhook/in/hook', {}).finally(() => {
    isAnswered = true;
  });
  await turnsUntil(() => isAnswered || seen.length !== 1);
  finishSlow();
  assert.equal((await third).status, 200);
  await narrow.close();
});

test('payloads that would take too much memory together are told to come again', async () => {
  const narrow = await startRelay({ actions: [Probe], memoryBytesMax: 1_000_000 });
  await narrow.hook({ actionType: 'probe', options: { isSlow: true } });
  await narrow.hook({ actionType: 'probe' }, { pathSegment: 'other' });
  await narrow.hook({ actionType: 'log' },
    { pathSegment: 'later', answer: 'accepted', inbox: 'all' });
  seen.length = 0;
  const objects = `[${'{},'.repeat(20_000)}{}]`;
  const first = narrow.ask('POST', '/webhook/in/hook', objects);
  await turnsUntil(() => seen.length !== 0);
  for (const [body, status] of [[objects, 503], ['{}', 503]] as const) {
    const refused = await narrow.ask('POST', '/webhook/in/other', body);
    assert.equal(refused.status, status);
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal(refused.json['message'], 'Too many requests in progress');
  }
  assert.equal((await narrow.ask('POST', '/webhook/in/later', objects)).status, 200, 'it waits');
  finishSlow();
  assert.equal((await first).status, 200);
  assert.equal((await narrow.ask('POST', '/webhook/in/other', '{}')).status, 200);
  seen.length = 0;
  const encoded = narrow.ask('POST', '/webhook/in/hook', gzipSync(objects),
    { 'Content-Encoding': 'gzip' });
  await turnsUntil(() => seen.length !== 0);
  assert.equal((await narrow.ask('POST', '/webhook/in/other', '{}')).status, 503, 'it is decoded');
  finishSlow();
  assert.equal((await encoded).status, 200);
  const text = JSON.stringify(['{'.repeat(100), 'x'.repeat(60_000)]);
  const calls = [1, 2].map(() => narrow.ask('POST', '/webhook/in/other', text));
  assert.deepEqual((await Promise.all(calls)).map(({ status }) => status), [200, 200]);
  await narrow.close();
});

test('a changed path segment or secret counts from the next request on', async () => {
  const made = await relay.hook({ actionType: 'probe' }, { pathSegment: 'before' });
  const path = `/api/incoming-webhooks/${String(made.json['identifier'])}`;
  await relay.ask('PATCH', path, { pathSegment: 'after', secret: SECRET });
  assert.equal((await relay.ask('POST', '/webhook/in/before', {})).status, 404);
  assert.equal((await relay.ask('POST', '/webhook/in/after', {})).status, 401);
  await relay.ask('PATCH', path, { secret: null });
  assert.equal((await relay.ask('POST', '/webhook/in/after', {})).status, 200);
  await relay.ask('DELETE', path);
  assert.equal((await relay.ask('POST', '/webhook/in/after', {})).status, 404);
});
