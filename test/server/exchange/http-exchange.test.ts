import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { ErrorCode } from '../../../src/base/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RawConnection, encodeRequest, rawRequest } from '../../support/raw-http.ts';
import { echoRoute, route, startServer } from '../../support/test-server.ts';
import { turnsUntil } from '../../support/turns.ts';

const STATUSES: readonly [ErrorCode, number][] = [
  ['malformed', 400], ['invalid', 422], ['usage', 400], ['unauthorized', 401], ['forbidden', 403],
  ['not_found', 404], ['method_not_allowed', 405], ['not_acceptable', 406],
  ['conflict', 409], ['precondition_failed', 412],
  ['too_large', 413], ['headers_too_large', 431],
  ['unsupported_media_type', 415], ['misdirected', 421],
  ['too_many_requests', 429], ['timeout', 408], ['unavailable', 503], ['unknown_outcome', 503],
  ['storage_full', 507], ['damaged', 500], ['internal', 500],
];

test('each kind of error has its status and its problem document', async () => {
  await using server = await startServer([route('GET', '/fail/{code}', (exchange) => {
    const code = STATUSES.find(([name]) => name === exchange.params[0])?.[0] ?? 'internal';
    throw new AppError(code, `it is "${code}"`, { errors: [{ pointer: '/a', detail: 'is b' }] });
  })]);
  for (const [code, status] of STATUSES) {
    const answer = await rawRequest(server, 'GET', `/fail/${code}?secret=1`);
    assert.equal(answer.status, status);
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    const problem = JSON.parse(answer.body);
    assert.deepEqual(problem, {
      type: `urn:hookshelf:problem:${code.replaceAll('_', '-')}`, title: problem.title, status,
      detail: code === 'internal' ? 'internal error' : `it is "${code}"`,
      instance: `/fail/${code}`, errors: [{ pointer: '/a', detail: 'is b' }],
    });
    assert.match(problem.title, /^[A-Z][A-Za-z -]+$/);
  }
});

test('an error brings its headers', async () => {
  await using server = await startServer([route('GET', '/', () => {
    throw new AppError('unavailable', 'later', { retryAfterS: 1.2, allow: ['GET', 'PUT'] });
  })]);
  const answer = await rawRequest(server, 'GET', '/');
  assert.deepEqual([answer.headers['retry-after'], answer.headers['allow']], ['2', 'GET, PUT']);
});

test('a route may answer errors in a format of its own', async () => {
  const errorFormat = {
    mediaType: 'text/plain', encode: (code: ErrorCode, message: string) => `${code}: ${message}`,
  };
  await using server = await startServer([{
    ...route('GET', '/{what}', (exchange) => {
      if (exchange.params[0] === 'bug') throw new TypeError('a secret detail');
      throw new AppError('unauthorized', 'not you', { retryAfterS: 1, wwwAuthenticate: null });
    }),
    errorFormat,
  }]);
  const answer = await rawRequest(server, 'GET', '/x');
  assert.deepEqual([answer.status, answer.body], [401, 'unauthorized: not you']);
  assert.deepEqual([answer.headers['content-type'], answer.headers['retry-after'],
    answer.headers['www-authenticate']], ['text/plain', '1', undefined]);
  const failed = await rawRequest(server, 'GET', '/bug');
  assert.deepEqual([failed.status, failed.body], [500, 'internal: internal error']);
});

test('logs a bug in full and answers without any detail of it', async () => {
  const bug = new TypeError('a secret detail');
  await using server = await startServer([
    route('GET', '/now', () => {
      throw bug;
    }),
    route('GET', '/later', async () => {
      await Promise.resolve();
      throw bug;
    }),
    route('GET', '/silent', () => {}),
    route('GET', '/after', async (exchange) => {
      exchange.sendJson(200, 'sent');
      await Promise.resolve();
      throw bug;
    }),
  ]);
  for (const path of ['/now', '/later', '/silent']) {
    const answer = await rawRequest(server, 'GET', path, { 'X-Request-Id': 'abc-1' });
    assert.equal(answer.status, 500);
    assert.equal(JSON.parse(answer.body).detail, 'internal error');
    const logged = server.logged.at(-1);
    assert.deepEqual([logged?.level, logged?.fields['requestId'], logged?.fields['path']],
      ['error', 'abc-1', path]);
    if (path !== '/silent') assert.equal(logged?.fields['error'], bug);
  }
  const answer = await rawRequest(server, 'GET', '/after');
  assert.deepEqual([answer.status, answer.body], [200, '"sent"']);
  assert.equal(server.logged.at(-1)?.fields['error'], bug);
});

test('an answer with an impossible header is a bug, and no other answer suffers', async () => {
  await using server = await startServer([
    route('GET', '/bad', (exchange) => exchange.sendJson(200, 1, ['X-A', 'line\nbreak'])),
    route('GET', '/good', (exchange) => exchange.sendJson(200, 2)),
  ]);
  const connection = new RawConnection(server);
  const other = new RawConnection(server);
  connection.send(encodeRequest('GET', '/bad'));
  other.send(encodeRequest('GET', '/good'));
  assert.equal((await connection.answer()).status, 500);
  assert.equal((await other.answer()).body, '2');
  assert.equal(server.logged.at(-1)?.message, 'a request failed unexpectedly');
  for (const each of [connection, other]) each.close();
});

test('every answer has a request id: the given one when it is sane, else a new one', async () => {
  await using server = await startServer([echoRoute('POST', '/')]);
  const made = new Set<string>();
  const given: readonly [string, boolean][] = [
    ['abc', true], ['A.b_c-9', true], ['x'.repeat(128), true], ['x'.repeat(129), false],
    ['a b', false], ['a/b', false], ['é', false], ['', false],
  ];
  for (const [id, isSane] of given) {
    for (const [method, path] of [['POST', '/'], ['GET', '/none'], ['PUT', '/']] as const) {
      const { headers } = await rawRequest(server, method, path, { 'X-Request-Id': id }, '');
      const answered = headers['x-request-id'] ?? '';
      assert.match(answered, /^[A-Za-z0-9._-]{1,128}$/);
      if (isSane) assert.equal(answered, id);
      else made.add(answered);
    }
  }
  assert.equal(made.size, given.filter(([, isSane]) => !isSane).length * 3);
});

test('the access log has the requests of its level, and no query', async () => {
  const routes = [
    route('GET', '/fine', (exchange) => exchange.sendJson(200, 1)),
    route('GET', '/broken', () => {
      throw new AppError('unavailable', 'not now');
    }),
  ];
  for (const [accessLog, expected] of [
    ['off', []], ['errors', ['/broken 503']], ['all', ['/fine 200', '/broken 503', '/none 404']],
  ] as const) {
    await using server = await startServer(routes, { accessLog });
    for (const path of ['/fine?q=private', '/broken', '/none']) {
      await rawRequest(server, 'GET', path);
    }
    const lines = server.logged.filter(({ message }) => message === 'request');
    assert.deepEqual(lines.map(({ fields }) => `${fields['path']} ${fields['status']}`), expected);
    assert(lines.every(({ fields }) => fields['client'] === '127.0.0.1'));
    assert(lines.every(({ fields: { path, reason } }) =>
      reason === (path === '/broken' ? 'not now' : undefined)));
  }
});

test('the log has five failed requests a second and how many more, or all where all are wanted',
  async () => {
    for (const [accessLog, lines, leftOut] of [['errors', 5, 3], ['all', 8, undefined]] as const) {
      const full = route('GET', '/full', () => {
        throw new AppError('storage_full', 'the disk is full');
      });
      const server = await startServer([full], { accessLog, clock: new ManualClock() });
      for (let count = 0; count < 8; count += 1) await rawRequest(server, 'GET', '/full');
      await server.close();
      server.dispatcher.close();
      const failed = server.logged.filter(({ message }) => message === 'request');
      assert.equal(failed.length, lines);
      const rest = server.logged.find(({ message }) => message === 'more requests failed');
      assert.equal(rest?.fields['leftOut'], leftOut);
    }
  });

test('the access log names clients that left before their answer, and those cut at a stop',
  async () => {
    for (const [isStopping, succeeds, expected, reason] of [
      [false, true, 499, undefined], [false, false, 499, undefined],
      [true, false, 503, 'the server stopped before there was an answer'],
    ] as const) {
      let leave = (): void => {};
      await using server = await startServer([route('GET', '/late', async (exchange) => {
        const closed = new Promise((resolve) => exchange.response.on('close', resolve));
        leave();
        await closed;
        if (succeeds) await exchange.sendStream(200, [], () => null);
        else exchange.sendJson(400, { success: false });
      })], { accessLog: 'all' });
      const connection = new RawConnection(server);
      leave = () => void connection.socket.resetAndDestroy();
      if (isStopping) server.dispatcher.drain();
      connection.send(encodeRequest('GET', '/late'));
      await connection.closed;
      await turnsUntil(() => server.logged.length > 0);
      const { fields } = server.logged[0] ?? {};
      assert.deepEqual([fields?.['status'], fields?.['client'], fields?.['reason']],
        [expected, '127.0.0.1', reason]);
    }
  });

test('a stream that fails in its midst is cut, logged, counted and in the access log', async () => {
  const damage = new AppError('damaged', 'a book cannot be read');
  const bug = new TypeError('a secret detail');
  for (const [thrown, message, reason] of [
    [damage, damage.message, damage.message], [bug, 'a request failed unexpectedly', undefined],
  ] as const) {
    await using server = await startServer([route('GET', '/books', (exchange) => {
      const pieces = [Buffer.from('[1,'), Buffer.from('2,')];
      return exchange.sendStream(200, [], () => {
        if (pieces.length === 0) throw thrown;
        return pieces.splice(0, 1);
      });
    })], { accessLog: 'errors' });
    const connection = new RawConnection(server);
    connection.send(encodeRequest('GET', '/books'));
    const received = await connection.rest();
    connection.close();
    assert.match(received, /^HTTP\/1\.1 200 /);
    assert.doesNotMatch(received, /\r\n0\r\n\r\n$/, 'the end of a whole answer');
    const [failure, access] = server.logged;
    assert.deepEqual([failure?.level, failure?.message, failure?.fields['error']],
      ['error', message, thrown]);
    assert.deepEqual([access?.level, access?.message], ['error', 'request']);
    assert.deepEqual([access?.fields['status'], access?.fields['bytes'], access?.fields['reason']],
      [500, 5, reason]);
    assert.equal(server.logged.length, 2);
    assert(server.metrics.render().includes(
      'hookshelf_http_requests_total{route="/books",method="GET",status="500"} 1\n'));
  }
});

test('headers tell the client address only behind a trusted proxy', async () => {
  for (const [trustProxy, expected] of [
    [true, '192.0.2.1'], [['127.0.0.1'], '192.0.2.1'], [['10.0.0.1'], '127.0.0.1'],
    [false, '127.0.0.1'],
  ] as const) {
    await using server = await startServer([echoRoute('POST', '/')], { trustProxy });
    const headers = { 'X-Forwarded-For': '6.6.6.6, 192.0.2.1' };
    const { body } = await rawRequest(server, 'POST', '/', headers, '');
    assert.equal(JSON.parse(body).client, expected);
  }
});

test('requests are counted by template, method and status', async () => {
  await using server = await startServer([echoRoute('POST', '/echo/{id}'), route('ANY', '/any',
    (exchange) => exchange.sendJson(200, 1))]);
  for (const path of ['/echo/1', '/echo/2', '/none', '/none/2']) {
    await rawRequest(server, 'POST', path, {}, '');
  }
  await rawRequest(server, 'PUT', '/echo/1', {}, '');
  await rawRequest(server, 'HEAD', '/any');
  await rawRequest(server, 'DELETE', '/any');
  server.metrics.add(
    { name: 'depth', type: 'gauge', help: 'A\nb', labels: [], read: () => 3 },
    { name: 'outcomes', type: 'counter', help: 'C', labels: ['kind'],
      read: () => [{ labels: { kind: 'a"b\\c\n' }, value: 1 }] },
  );
  const text = server.metrics.render();
  for (const line of [
    'hookshelf_http_requests_total{route="/echo/{id}",method="POST",status="200"} 2',
    'hookshelf_http_requests_total{route="unmatched",method="POST",status="404"} 2',
    'hookshelf_http_requests_total{route="unmatched",method="PUT",status="405"} 1',
    'hookshelf_http_requests_total{route="/any",method="HEAD",status="200"} 1',
    'hookshelf_http_requests_total{route="/any",method="DELETE",status="200"} 1',
    'hookshelf_http_request_duration_seconds_bucket{route="/echo/{id}",method="POST",le="+Inf"} 2',
    'hookshelf_http_request_duration_seconds_count{route="/echo/{id}",method="POST"} 2',
    '# HELP depth A\\nb', '# TYPE depth gauge', 'depth 3', 'outcomes{kind="a\\"b\\\\c\\n"} 1',
  ]) {
    assert(text.split('\n').includes(line), line);
  }
  assert.match(text, /^process_resident_memory_bytes \d+$/m);
  assert.match(text, /\n$/);
});

test('no browser guesses the type of any answer, errors and broken requests included', async () => {
  await using server = await startServer([
    route('GET', '/text', (exchange) => exchange.send(200, [], 'text')),
    route('GET', '/none', (exchange) => exchange.send(204, [])),
    route('GET', '/stream', (exchange) => {
      const pieces = [Buffer.from('a')];
      return exchange.sendStream(200, [], () => pieces.length === 0 ? null : pieces.splice(0));
    }),
    route('GET', '/bug', () => {
      throw new Error('a bug');
    }),
    echoRoute('POST', '/echo'),
  ], { bodyBytesMax: 10 });
  for (const [request, status] of [
    [encodeRequest('GET', '/text'), 200], [encodeRequest('GET', '/none'), 204],
    [encodeRequest('GET', '/stream'), 200], [encodeRequest('OPTIONS', '/text'), 204],
    [encodeRequest('GET', '/bug'), 500], [encodeRequest('GET', '/nothing'), 404],
    [encodeRequest('PUT', '/text'), 405], [encodeRequest('POST', '/echo', {}, 'x'), 200],
    [encodeRequest('POST', '/echo', {}, 'more than ten'), 413],
    [encodeRequest('CONNECT', 'a.example:443'), 400], ['nonsense\r\n\r\n', 400],
    [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431],
  ] as const) {
    const connection = new RawConnection(server);
    connection.send(request);
    const answer = await connection.answer();
    const shown = String(request).slice(0, 30);
    assert.deepEqual([answer.status, answer.headers['x-content-type-options']],
      [status, 'nosniff'], shown);
    connection.close();
  }
});

test('a connection whose framing is in doubt is closed after its answer', async () => {
  await using server = await startServer([
    echoRoute('POST', '/echo'),
    route('POST', '/stream', async (exchange) => {
      const body = await exchange.readBody();
      let pieces: Buffer[] | null = [body];
      await exchange.sendStream(200, ['Content-Length', String(body.length)], () => {
        const given = pieces;
        pieces = null;
        return given;
      });
    }),
  ]);
  const head = (path: string, version: string, more: string): string =>
    `POST ${path} HTTP/${version}\r\nHost: a\r\nConnection: keep-alive\r\n${more}\r\n\r\n`;
  const chunked = 'Transfer-Encoding: chunked';
  for (const [request, expected] of [
    [`${head('/echo', '1.0', chunked)}1\r\nx\r\n0\r\n\r\n`, 'close'],
    [`${head('/stream', '1.0', chunked)}1\r\nx\r\n0\r\n\r\n`, 'close'],
    [`${head('/nothing', '1.0', chunked)}1\r\nx\r\n0\r\n\r\n`, 'close'],
    [`${head('/echo', '1.0', 'Content-Length: 1')}x`, 'keep-alive'],
    [`${head('/echo', '1.1', chunked)}1\r\nx\r\n0\r\n\r\n`, 'keep-alive'],
  ] as const) {
    const connection = new RawConnection(server);
    connection.send(request);
    const answer = await connection.answer();
    assert.equal(answer.headers['connection'], expected, request);
    // What follows would be taken for a request.
    if (expected === 'close') {
      connection.send(encodeRequest('GET', '/smuggled'));
      assert.equal(await connection.rest(), '', request);
    }
    connection.close();
  }
});
