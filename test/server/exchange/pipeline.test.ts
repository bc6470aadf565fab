import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createHttpServer } from '../../../src/server/listening/listener.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RawConnection, encodeRequest, rawRequest } from '../../support/raw-http.ts';
import { LIMITS, route, startServer } from '../../support/test-server.ts';
import { someTurns, stalled, turnsUntil } from '../../support/turns.ts';

const BIG = Buffer.alloc(50_000_000);

/** Keeps `count` of the turns of the event loop until `stop`. */
function countTurns(): { readonly count: () => number; stop(): void } {
  let count = 0;
  let isStopped = false;
  const next = (): void => {
    count += 1;
    if (!isStopped) setImmediate(next);
  };
  next();
  return {
    count: () => count,
    stop() {
      isStopped = true;
    },
  };
}

for (const entrance of ['loopback', 'embedded'] as const) {
  test(`${entrance}: pipelined requests have a turn each, and others theirs between`, async () => {
    const turns = countTurns();
    const servedAt: number[] = [];
    let servedBeforeOther = Infinity;
    await using server = await startServer([
      route('GET', '/each', (exchange) => {
        servedAt.push(turns.count());
        exchange.sendJson(200, servedAt.length);
      }),
      route('GET', '/stream', (exchange) => {
        servedAt.push(turns.count());
        const pieces = [Buffer.from('x')];
        return exchange.sendStream(200, [], () => pieces.length === 0 ? null : pieces.splice(0));
      }),
      route('GET', '/other', (exchange) => {
        servedBeforeOther = servedAt.length;
        exchange.sendJson(200, 'other');
      }),
    ], { entrance });
    const connection = new RawConnection(server);
    connection.send(Buffer.concat(Array.from({ length: 1400 }, (_, index) =>
      encodeRequest('GET', index % 2 === 0 ? '/each' : '/stream'))));
    assert.equal((await connection.answer()).body, '1');
    assert.equal((await rawRequest(server, 'GET', '/other')).body, '"other"');
    for (let count = 1; count < 1400; count += 1) await connection.answer();
    turns.stop();
    assert.equal(new Set(servedAt).size, 1400, 'one a turn');
    assert(servedBeforeOther < 100, `${servedBeforeOther} were served before another connection`);
    connection.close();
  });
}

/** Of 50 there are. A current Node reads one more than Node 20 does before it heeds a pause. */
const CHUNKS_AHEAD_MAX = process.version.startsWith('v20.') ? 5 : 10;

test('reads no more of a connection while requests wait', async () => {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let served = 0;
  const server = await startServer([
    route('GET', '/gate', async (exchange) => {
      await opened;
      exchange.sendJson(200, 'through');
    }),
    route('GET', '/next', (exchange) => {
      served += 1;
      exchange.sendJson(200, served);
    }),
  ]);
  const chunk = Buffer.concat(Array.from({ length: 20 }, () =>
    encodeRequest('GET', '/next', { 'X-Padding': 'x'.repeat(1000) })));
  let chunks = 0;
  const pipe = new Duplex({
    read() {
      setImmediate(() => {
        chunks += 1;
        if (chunks <= 50) this.push(chunk);
      });
    },
    write: (_chunk, _encoding, next) => next(),
  });
  const http = createHttpServer(server.dispatcher.listeners('loopback'), LIMITS, systemClock);
  pipe.push(encodeRequest('GET', '/gate'));
  http.emit('connection', pipe);
  try {
    await someTurns();
    assert(chunks < CHUNKS_AHEAD_MAX,
      `${chunks} chunks were read behind a request that is not answered`);
    open();
    await turnsUntil(() => served === 1000);
  } finally {
    pipe.destroy();
    http.close();
    await server.close();
  }
});

/** Routes whose answers are more than a connection takes by itself. */
const endless = [
  route('GET', '/small', (exchange) => exchange.sendJson(200, 1)),
  route('GET', '/whole', (exchange) => exchange.send(200, [], BIG)),
  route('GET', '/stream', (exchange) => exchange.sendStream(200, [], () => [BIG])),
  // The answer does not wait for the body.
  route('POST', '/early', (exchange) => exchange.send(200, [], BIG)),
];

for (const [what, requests] of [
  ['an answer behind others', ['GET /small', 'GET /small', 'GET /whole', 'GET /small']],
  ['many answers', Array<string>(100).fill('GET /whole')],
  ['a second stream', ['GET /small', 'GET /stream', 'GET /stream']],
  ['an answer before its body', ['GET /small', 'POST /early']],
] as const) {
  test(`a pipelining reader that takes nothing of ${what} is cut after 30 s`, async () => {
    const clock = new ManualClock();
    let last: ServerResponse | null = null;
    const observed = endless.map((one) => route('ANY', one.path, (exchange) => {
      last = exchange.response;
      return one.handle(exchange);
    }));
    await using server = await startServer(observed, { clock });
    const connection = new RawConnection(server);
    connection.socket.pause();
    connection.send(Buffer.concat(requests.map((request) => {
      const [method = '', path = ''] = request.split(' ');
      return encodeRequest(method, path, method === 'POST' ? { 'Content-Length': '9999999' } : {});
    })));
    const socket = await stalled(() => last);
    await clock.advance(29_000);
    assert.equal(socket.destroyed, false, 'not before');
    await clock.advance(3_000);
    assert.equal(socket.destroyed, true);
    connection.close();
  });
}
