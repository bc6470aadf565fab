import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryBudget } from '../../../src/base/memory-budget.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  RawConnection, encodeRequest, rawRequest, type RawAnswer,
} from '../../support/raw-http.ts';
import { echoRoute, route, startServer } from '../../support/test-server.ts';

const jsonRoute = route('POST', '/json', async (exchange) => {
  exchange.sendJson(200, await exchange.readJson());
}, { body: { mediaTypes: ['application/json'], schema: { kind: 'json', isObject: false,
  bytesMax: 1000, depthMax: 64 } } });
const JSON_TYPE = { 'Content-Type': 'application/json' };

const jsonCases: readonly [Record<string, string>, string | Buffer, number, RegExp][] = [
  [JSON_TYPE, '{"a":[1]}', 200, /^\{"a":\[1\]\}$/],
  [{ 'Content-Type': 'Application/JSON; charset=utf-8' }, '1', 200, /^1$/],
  [{ 'Content-Type': 'application/json;charset="US-ASCII"' }, '1', 200, /^1$/],
  [{ 'Content-Type': 'application/json; charset=iso-8859-1' }, '"\xe9"', 415,
    /send the body in UTF-8, not in the charset \\"iso-8859-1\\"/],
  [JSON_TYPE, '\ufeff{}', 200, /^\{\}$/],
  [{ ...JSON_TYPE, 'Content-Encoding': 'identity' }, '2', 200, /^2$/],
  [JSON_TYPE, '', 400, /the body is not valid JSON at line 1, column 1: expected a value/],
  [JSON_TYPE, '{"a":1,}', 400, /line 1, column 8: expected a member name/],
  [JSON_TYPE, Buffer.from([0x22, 0xff, 0x22]), 400, /the body is not valid UTF-8 at line 1/],
  [JSON_TYPE, '['.repeat(5000), 400, /nested over 64 levels deep/],
  [{}, '{}', 415, /send `Content-Type: application\/json`/],
  [{ 'Content-Type': 'text/plain' }, '{}', 415, /send `Content-Type: application\/json`/],
  [{ 'Content-Type': 'application/jsonx' }, '{}', 415, /send `Content-Type/],
  [{ ...JSON_TYPE, 'Content-Encoding': 'gzip' }, '{}', 415, /without `Content-Encoding: gzip`/],
];

test('reads JSON bodies strictly, and says what to send instead', async () => {
  await using server = await startServer([jsonRoute]);
  for (const [headers, body, status, expected] of jsonCases) {
    const answer = await rawRequest(server, 'POST', '/json', headers, body);
    assert.equal(answer.status, status, String(body).slice(0, 50));
    assert.match(answer.body, expected);
    if (status !== 415) continue;
    assert.equal(answer.headers['accept-post'], 'application/json');
    const encoding = headers['Content-Encoding'] === undefined ? undefined : 'identity';
    assert.equal(answer.headers['accept-encoding'], encoding);
  }
});

test('accepts bodies up to exactly the limit, with a length or in chunks', async () => {
  await using server = await startServer([echoRoute('POST', '/echo')], { bodyBytesMax: 1000 });
  const chunked = (size: number): string =>
    `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`;
  for (const [size, status] of [[0, 200], [1000, 200], [1001, 413], [70_000, 413]] as const) {
    const whole = await rawRequest(server, 'POST', '/echo', {}, 'x'.repeat(size));
    assert.equal(whole.status, status, `${size} whole`);
    const connection = new RawConnection(server);
    connection.send(encodeRequest('POST', '/echo', { 'Transfer-Encoding': 'chunked' }));
    connection.send(size === 0 ? '0\r\n\r\n' : chunked(size));
    const answer = await connection.answer();
    assert.equal(answer.status, status, `${size} chunked`);
    if (status === 413) assert.match(answer.body, /larger than 1000 bytes/);
    connection.close();
  }
});

test('refuses too large a body while it is being sent, and closes the connection', async () => {
  await using server = await startServer([echoRoute('POST', '/echo')], { bodyBytesMax: 1000 });
  const connection = new RawConnection(server);
  connection.send(encodeRequest('POST', '/echo', { 'Content-Length': '5000000000' }));
  connection.send('x'.repeat(30_000));
  const answer = await connection.answer();
  assert.equal(answer.status, 413);
  assert.equal(answer.headers['connection'], 'close');
  assert.equal(JSON.parse(answer.body).title, 'Content Too Large');
  // The sender may go on for a while; then it is cut.
  connection.send('x'.repeat(100_000));
  assert.equal(await connection.rest(), '');
  connection.close();
});

test('cuts a refused sender that falls silent after a second', async () => {
  const clock = new ManualClock();
  await using server = await startServer([echoRoute('POST', '/echo')], {
    bodyBytesMax: 1000, clock,
  });
  const connection = new RawConnection(server);
  connection.send(encodeRequest('POST', '/echo', { 'Content-Length': '100000' }));
  assert.equal((await connection.answer()).status, 413);
  let isOver = false;
  const over = connection.rest().then((rest) => {
    isOver = true;
    assert.equal(rest, '');
  });
  await clock.advance(900);
  assert.equal(isOver, false);
  await clock.advance(200);
  await over;
  connection.close();
});

test('a stalled body gives up its room to those that arrive', async () => {
  const bytesMax = 60_000;
  await using server = await startServer([echoRoute('POST', '/echo')], {
    bodyBytesMax: bytesMax, memoryBudget: new MemoryBudget(1 << 20, 100_000),
  });
  const stalled = new RawConnection(server);
  stalled.send(encodeRequest('POST', '/echo', { 'Content-Length': String(bytesMax) }));
  stalled.send('x'.repeat(50_000));
  let given: RawAnswer | null = null;
  const giveUp = stalled.answer().then((answer) => {
    given = answer;
  });
  const whole = 'x'.repeat(bytesMax);
  // Its bytes may come after those of the first.
  for (let count = 0; count < 1000 && given === null; count += 1) {
    assert.equal((await rawRequest(server, 'POST', '/echo', {}, whole)).status, 200);
  }
  stalled.socket.end();
  await giveUp;
  const { status, headers } = given ?? assert.fail('no answer');
  assert.equal(status, 503);
  assert.equal(headers['retry-after'], '1');
  stalled.close();
});

test('a sender that waits for 100 Continue gets it only when its body is wanted', async () => {
  await using server = await startServer(
    [echoRoute('POST', '/echo'), route('POST', '/refuse', (exchange) => {
      exchange.sendJson(403, {});
    })], { bodyBytesMax: 1000 });
  const ask = async (path: string, length: number): Promise<RawConnection> => {
    const connection = new RawConnection(server);
    const headers = { 'Content-Length': String(length), Expect: '100-continue' };
    connection.send(encodeRequest('POST', path, headers));
    return connection;
  };
  const wanted = await ask('/echo', 3);
  assert.equal((await wanted.answer()).status, 100);
  wanted.send('abc');
  const answer = await wanted.answer();
  assert.equal(answer.status, 200);
  assert.equal(JSON.parse(answer.body).body, 'abc');
  assert.equal(answer.headers['connection'], 'keep-alive');
  wanted.close();
  for (const [path, length, status] of [
    ['/echo', 1001, 413], ['/refuse', 3, 403], ['/none', 3, 404],
  ] as const) {
    const refused = await ask(path, length);
    const refusal = await refused.answer();
    assert.equal(refusal.status, status, path);
    assert.equal(refusal.headers['connection'], 'close');
    refused.close();
  }
});

test('a body that is cut short ends its handler and leaves the server well', async () => {
  const ended: unknown[] = [];
  let settled: () => void = () => {};
  const waiting = new Promise<void>((resolve) => {
    settled = resolve;
  });
  await using server = await startServer([route('POST', '/', async (exchange) => {
    try {
      await exchange.readBody();
    } catch (thrown) {
      ended.push(thrown);
      settled();
      throw thrown;
    }
  })]);
  const connection = new RawConnection(server);
  connection.send(encodeRequest('POST', '/', { 'Content-Length': '100' }));
  connection.send('half');
  await new Promise((resolve) => {
    connection.socket.write('', resolve);
  });
  connection.socket.resetAndDestroy();
  await waiting;
  assert.match(String(ended[0]), /the (?:body|request) was cut short/);
  assert.equal((await rawRequest(server, 'POST', '/nope')).status, 404);
});

test('skips a small unread body and keeps the connection', async () => {
  await using server = await startServer([route('POST', '/x', (exchange) => {
    exchange.sendJson(200, 1);
  })]);
  const connection = new RawConnection(server);
  for (let round = 0; round < 3; round += 1) {
    connection.send(encodeRequest('POST', '/x', {}, 'y'.repeat(50_000)));
    assert.equal((await connection.answer()).body, '1');
  }
  connection.close();
});
