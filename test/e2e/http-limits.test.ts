/** What a server does with late, broken and strange requests, seen from outside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAppServer } from '../support/app-server.ts';
import { RawConnection, encodeRequest, rawRequest } from '../support/raw-http.ts';
import { addRecord, ask } from './ask.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

test('a late body is answered by its route, under its own request id, and counted so', () =>
  withAppServer(async (place) => {
    await addRecord(`${place.url}/api/action-configurations`,
      { identifier: 'note', actionType: 'log', options: {} });
    await addRecord(`${place.url}/api/incoming-webhooks`,
      { pathSegment: 'shop', actionConfiguration: 'note' });
    const late = async (path: string) => {
      const connection = new RawConnection(place);
      connection.send(encodeRequest('POST', path, {
        ...JSON_TYPE, 'Content-Length': '1000', 'X-Request-Id': 'late-one',
      }));
      connection.send('{');
      const answer = await connection.answer();
      assert.equal(await connection.rest(), '');
      connection.close();
      assert.deepEqual([answer.status, answer.headers['x-request-id'],
        answer.headers['connection']], [408, 'late-one', 'close'], path);
      return JSON.parse(answer.body) as unknown;
    };
    const [problem, hook] = await Promise.all([late('/api/books'), late('/webhook/in/shop')]);
    assert.deepEqual(problem, {
      type: 'urn:hookshelf:problem:timeout', title: 'Request Timeout', status: 408,
      detail: 'the request did not arrive in time', instance: '/api/books',
    });
    assert.deepEqual(hook, { success: false, message: 'Request timeout', data: {} });
    const { text } = await ask(`${place.url}/metrics`);
    assert.match(text, /_total\{route="\/api\/books",method="POST",status="408"\} 1\n/);
    assert.match(place.log(), /"requestId":"late-one","method":"POST","path":"/);
  }, { HOOKSHELF_SERVER_REQUEST_TIMEOUT: '0.5', HOOKSHELF_LOG_ACCESS: 'all' }));

test('who never sends a body that was not waited for is cut without a second answer', () =>
  withAppServer(async (place) => {
    const connection = new RawConnection(place);
    connection.send(encodeRequest('POST', '/api/books', { 'Content-Length': '50' }));
    assert.equal((await connection.answer()).status, 415);
    assert.equal(await connection.rest(), '');
    connection.close();
  }, { HOOKSHELF_SERVER_REQUEST_TIMEOUT: '0.3' }));

test('a connection whose body breaks is answered by its route, and closed', () =>
  withAppServer(async (place) => {
    const head = { 'Transfer-Encoding': 'chunked', 'X-Request-Id': 'broken.1' };
    const line = '{"title":"A"}\n';
    const chunk = `${line.length.toString(16)}\r\n${line}\r\n`;
    // An import is loaded with the first one: until then no route reads the body.
    const type = { 'Content-Type': 'application/jsonl' };
    await rawRequest(place, 'POST', '/api/books/import', type, line);
    for (const [path, type, status, text] of [
      ['/api/books', 'application/json', 400, /"instance":"\/api\/books"/],
      ['/webhook/in/none', 'application/json', 404, /^\{"success":false,/],
      ['/api/books/import', 'application/jsonl', 200, /\{"imported":1,.*"error":"/],
    ] as const) {
      const connection = new RawConnection(place);
      const request = encodeRequest('POST', path, { ...head, 'Content-Type': type });
      connection.send(`${request.toString()}${chunk}zz\r\n`);
      const answer = await connection.answer();
      assert.deepEqual([answer.status, answer.headers['x-request-id']], [status, 'broken.1'], path);
      assert.match(answer.body, text);
      await connection.rest();
      connection.close();
    }
  }));

test('an unknown expectation is passed over, and CONNECT is refused in words', () =>
  withAppServer(async (place) => {
    const answer = await rawRequest(place, 'GET', '/healthz',
      { Expect: 'miracles', 'X-Request-Id': 'x.1' });
    assert.deepEqual([answer.status, answer.headers['x-request-id']], [200, 'x.1']);
    const connection = new RawConnection(place);
    connection.send('CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const refusal = await connection.answer();
    assert.deepEqual([refusal.status, refusal.headers['content-type']],
      [400, 'application/problem+json']);
    assert.ok(refusal.headers['x-request-id'] !== undefined);
    assert.equal(await connection.rest(), '');
    connection.close();
  }));

test('no header is lost behind thousands of others', () => withAppServer(async (place) => {
  const connection = new RawConnection(place);
  const body = '{"title":"A"}';
  connection.send(['POST /api/books HTTP/1.1', ...Array<string>(3000).fill('h:'),
    'Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`, '',
    body].join('\r\n'));
  assert.equal((await connection.answer()).status, 201);
  connection.close();
}));

test('the host of an absolute target counts, whatever the Host header says', () =>
  withAppServer(async (place) => {
    const cases: readonly [string, string, number][] = [
      ['GET', 'http://localhost/api/books', 200], ['GET', 'http://evil.test/api/books', 421],
      ['GET', 'http://evil.test/healthz', 200], ['GET', '*', 400], ['OPTIONS', '*', 204],
    ];
    for (const [method, target, status] of cases) {
      const answer = await rawRequest(place, method, target);
      assert.equal(answer.status, status, `${method} ${target}`);
    }
  }));

test('what is no HTTP date is no condition', () => withAppServer(async (place) => {
  const added = await rawRequest(place, 'POST', '/api/books', JSON_TYPE, '{"title":"A"}');
  const path = added.headers['location'] ?? '';
  const later = new Date(Date.now() + 86_400_000).toUTCString();
  for (const [date, status] of [
    [later, 304], ['2099', 200], ['2099-01-01T00:00:00Z', 200], ['tomorrow', 200],
    ['Friday, 01-Jan-49 00:00:00 GMT', 304], ['Thu Jan  1 00:00:00 2099', 304],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 200],
  ] as const) {
    const answer = await rawRequest(place, 'GET', path, { 'If-Modified-Since': date });
    assert.equal(answer.status, status, date);
  }
}));
