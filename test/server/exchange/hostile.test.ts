import assert from 'node:assert/strict';
import { test } from 'node:test';
import { below, createRandom } from '../../support/random.ts';
import { RawConnection, encodeRequest, rawRequest } from '../../support/raw-http.ts';
import { echoRoute, route, startServer } from '../../support/test-server.ts';

const hello = route('GET', '/hello/{name}', (exchange) => {
  exchange.sendJson(200, exchange.params[0]);
});

const slow = route('GET', '/slow', async (exchange) => {
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  exchange.sendJson(200, 'slow');
});

const stream = route('GET', '/stream', (exchange) => {
  const pieces = [Buffer.from('piece\n')];
  return exchange.sendStream(200, [], () => pieces.length === 0 ? null : pieces.splice(0));
});

const notHttp: readonly [string, string, number, RegExp][] = [
  ['no HTTP at all', 'hello?\r\n\r\n', 400, /not an HTTP request/],
  ['an unknown method', 'FROB / HTTP/1.1\r\nHost: a\r\n\r\n', 400, /not an HTTP request/],
  ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, /not an HTTP request/],
  ['a header without colon', 'GET / HTTP/1.1\r\nHost\r\n\r\n', 400, /not an HTTP request/],
  ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n', 400, /./],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400, /not an HTTP/],
  ['length and chunks',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
    400, /not an HTTP/],
  ['a negative length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n', 400, /not an/],
  ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n', 400, /not an HTTP/],
  ['a huge header', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431, /16 KiB/],
  ['a huge path', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, /16 KiB/],
  ['a broken chunk', 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    400, /not an HTTP/],
];

test('answers what is no HTTP request with a problem, and closes the connection', async () => {
  await using server = await startServer([hello, echoRoute('POST', '/echo')]);
  for (const [name, bytes, status, detail] of notHttp) {
    const connection = new RawConnection(server);
    connection.send(bytes);
    const answer = await connection.answer();
    assert.equal(answer.status, status, name);
    assert.equal(answer.headers['content-type'], 'application/problem+json', name);
    assert.equal(answer.headers['connection'], 'close', name);
    assert.match(answer.headers['x-request-id'] ?? '', /^[0-9a-f]{12,16}(?:-\d+)?$/, name);
    assert.equal(JSON.parse(answer.body).status, status, name);
    assert.match(JSON.parse(answer.body).detail, detail, name);
    assert.equal(await connection.rest(), '', name);
    connection.close();
  }
  const total = 'hookshelf_http_requests_total';
  for (const line of [
    // The broken chunk is of a request, whose route has it.
    `${total}{route="unmatched",method="UNKNOWN",status="400"} ${notHttp.length - 3}`,
    `${total}{route="unmatched",method="UNKNOWN",status="431"} 2`,
    `${total}{route="/echo",method="POST",status="400"} 1`,
  ]) {
    assert.ok(server.metrics.render().split('\n').includes(line), line);
  }
});

test('what is answered without its body is answered, though the body has no end', async () => {
  await using server = await startServer([hello, stream]);
  for (const path of ['/hello/you', '/stream', '/nope']) {
    for (const coding of ['identity', 'chunked']) {
      const connection = new RawConnection(server);
      const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n`;
      connection.send(`${head}zz\r\n`);
      const answer = await connection.answer();
      assert.ok([200, 400, 404].includes(answer.status), `${path} ${coding}`);
      assert.equal(answer.headers['connection'], 'close', `${path} ${coding}`);
      assert.equal(await connection.rest(), '', `${path} ${coding}`);
      connection.close();
    }
  }
});

test('refuses and counts a CONNECT', async () => {
  await using server = await startServer([hello]);
  assert.equal((await rawRequest(server, 'CONNECT', 'example.org:443')).status, 400);
  assert.match(server.metrics.render(), /\{route="unmatched",method="CONNECT",status="400"\} 1\n/);
});

const targets: readonly [string, string, number, RegExp][] = [
  ['GET', '/hello/%zz', 400, /bad percent-encoding/],
  ['GET', '/hello/%', 400, /bad percent-encoding/],
  ['GET', '/hello/%C0%AF', 400, /bad percent-encoding/],
  ['GET', '/hello/a%2Fb', 200, /^"a\/b"$/],
  ['GET', '/hello/a%00b', 200, /^"a\\u0000b"$/],
  ['GET', '/hello/a/', 404, /there is nothing at \/hello\/a\//],
  ['GET', '/hello/a?b=%zz', 200, /^"a"$/],
  ['GET', '/hello/..%2f..%2fetc', 200, /etc/],
  ['GET', 'http://other.example/hello/x?y', 200, /^"x"$/],
  ['GET', 'http://other.example', 404, /there is nothing at \//],
  ['GET', '//hello/a', 404, /nothing at \/\/hello/],
  ['POST', '/hello/a', 405, /does not take POST/],
  ['TRACE', '/hello/a', 405, /does not take TRACE/],
];

test('targets of every kind are answered as their path deserves', async () => {
  await using server = await startServer([hello]);
  for (const [method, target, status, body] of targets) {
    const answer = await rawRequest(server, method, target);
    assert.equal(answer.status, status, target);
    assert.match(answer.body, body, target);
    if (status === 405) assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
  }
});

test('HEAD is served wherever GET is, OPTIONS everywhere, and neither has a body', async () => {
  await using server = await startServer([hello]);
  const head = await rawRequest(server, 'HEAD', '/hello/you');
  assert.deepEqual([head.status, head.headers['content-length']], [200, '5']);
  const options = await rawRequest(server, 'OPTIONS', '/hello/you');
  assert.deepEqual([options.status, options.headers['allow']], [204, 'GET, HEAD, OPTIONS']);
  assert.equal(options.headers['content-length'], undefined);
  assert.equal((await rawRequest(server, 'OPTIONS', '*')).status, 204);
  assert.equal((await rawRequest(server, 'OPTIONS', '/nope')).status, 404);
});

test('pipelined requests are answered in order, the slow ones too', async () => {
  await using server = await startServer([hello, slow, echoRoute('POST', '/echo')]);
  const connection = new RawConnection(server);
  connection.send(Buffer.concat([
    encodeRequest('GET', '/slow'), encodeRequest('GET', '/hello/1'),
    encodeRequest('POST', '/echo', {}, 'body'), encodeRequest('GET', '/nope'),
    encodeRequest('GET', '/hello/2'), Buffer.from('rubbish\r\n\r\n'),
  ]));
  const answers = [];
  for (let count = 0; count < 6; count += 1) answers.push(await connection.answer());
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 404, 200, 400]);
  const bodies = [answers[0]?.body, answers[1]?.body, answers[4]?.body];
  assert.deepEqual(bodies, ['"slow"', '"1"', '"2"']);
  assert.equal(await connection.rest(), '');
  connection.close();
});

for (const method of ['GET', 'HEAD']) {
  test(`what follows a ${method} of a stream is answered, though rubbish follows it`, async () => {
    await using server = await startServer([hello, stream]);
    const connection = new RawConnection(server);
    const requests = [encodeRequest(method, '/stream'), encodeRequest('GET', '/hello/1')];
    connection.send(Buffer.concat([...requests, Buffer.from('rubbish\r\n\r\n')]));
    const received = await connection.rest();
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
    assert.deepEqual(statuses, ['200', '200', '400']);
    connection.close();
  });
}

test('a client that ends its side after its request still gets the answer', async () => {
  await using server = await startServer([hello, echoRoute('POST', '/echo'), slow]);
  for (const [request, expected] of [
    [encodeRequest('GET', '/hello/you'), '"you"'], [encodeRequest('GET', '/slow'), '"slow"'],
    [encodeRequest('POST', '/echo', {}, 'x'), '"body":"x"'],
  ] as const) {
    const connection = new RawConnection(server);
    connection.socket.end(request);
    assert((await connection.rest()).includes(expected), request.toString());
    connection.close();
  }
});

test('cuts late clients, whatever they sent', { timeout: 120_000 }, async () => {
  const limits = { headersTimeoutMs: 300, requestTimeoutMs: 500 };
  await using server = await startServer([echoRoute('POST', '/echo')], { limits });
  const half = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n';
  await Promise.all(['', half, `${half}\r\nabc`].map(async (sent) => {
    const connection = new RawConnection(server);
    connection.send(sent);
    const answer = await connection.answer();
    assert.equal(answer.status, 408, sent);
    assert.match(answer.body, /did not arrive in time/);
    await connection.rest();
    connection.close();
  }));
  const text = server.metrics.render();
  assert.match(text, /\{route="unmatched",method="UNKNOWN",status="408"\} 2\n/);
  assert.match(text, /\{route="\/echo",method="POST",status="408"\} 1\n/);
  assert.doesNotMatch(text, /duration_seconds_\w+\{[^}]*UNKNOWN/, 'no head was there to time from');
});

for (const [what, head, body] of [
  ['a GET', 'GET /hello/1', ''], ['a POST', 'POST /echo', 'body'],
] as const) {
  test(`answers do not shift after ${what} that asks for another protocol`, async () => {
    await using server = await startServer([hello, echoRoute('POST', '/echo')]);
    const connection = new RawConnection(server);
    const [method = '', path = ''] = head.split(' ');
    connection.send(Buffer.concat([
      encodeRequest('GET', '/hello/0'),
      encodeRequest(method, path, { Connection: 'keep-alive, Upgrade', Upgrade: 'h2c' }, body),
      encodeRequest('GET', '/hello/2'),
    ]));
    await connection.answer();
    const upgrade = await connection.answer();
    assert.equal(upgrade.status, 200);
    assert.equal(upgrade.headers['connection'], 'close');
    connection.send(encodeRequest('GET', '/hello/3'));
    assert.equal(await connection.rest(), '', 'no later request is answered in place of another');
    connection.close();
  });
}

test('an Upgrade header that is not in force keeps the connection', async () => {
  await using server = await startServer([hello]);
  const connection = new RawConnection(server);
  for (const headers of [{ Upgrade: 'h2c' }, { Connection: 'upgrade' }]) {
    connection.send(Buffer.concat([
      encodeRequest('GET', '/hello/1', headers), encodeRequest('GET', '/hello/2'),
    ]));
    assert.equal((await connection.answer()).body, '"1"');
    assert.equal((await connection.answer()).body, '"2"');
  }
  connection.close();
});

test('mutated requests are answered or dropped, and never stop the server', async () => {
  const random = createRandom(11);
  await using server = await startServer([hello, echoRoute('POST', '/echo')], {
    bodyBytesMax: 1000,
  });
  const sources = [
    encodeRequest('GET', '/hello/you', { 'If-None-Match': '"x"', 'X-Request-Id': 'a' }),
    encodeRequest('POST', '/echo', { 'Content-Type': 'application/json' }, '{"a":1}'),
    Buffer.from('POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
      + '3\r\nabc\r\n0\r\n\r\n'),
    encodeRequest('OPTIONS', '*', { Expect: '100-continue', Connection: 'upgrade' }),
  ];
  const mutate = (source: Buffer): Buffer => {
    const bytes = Buffer.from(source);
    for (let edits = 1 + below(random, 4); edits > 0; edits -= 1) {
      bytes[below(random, bytes.length)] = random() < 0.5
        ? below(random, 256) : bytes[below(random, bytes.length)] ?? 0;
    }
    return bytes.subarray(0, random() < 0.2 ? below(random, bytes.length) : bytes.length);
  };
  for (let round = 0; round < 40; round += 1) {
    await Promise.all(Array.from({ length: 10 }, async (_, index) => {
      const bytes = mutate(sources[index % sources.length] ?? Buffer.alloc(0));
      const connection = new RawConnection(server);
      connection.socket.end(bytes);
      const received = await connection.rest();
      assert.match(received, /^(HTTP\/1\.1 [1-5]\d\d |$)/, bytes.toString('latin1'));
      connection.close();
    }));
  }
  assert.equal((await rawRequest(server, 'GET', '/hello/you')).status, 200);
  const bugs = server.logged.filter(({ level }) => level === 'error');
  assert.deepEqual(bugs, []);
});
