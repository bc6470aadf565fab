import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { Pull } from '../../../src/server/http-route.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RawConnection, encodeRequest, rawRequest } from '../../support/raw-http.ts';
import { route, startServer } from '../../support/test-server.ts';
import { settled, stalled, turnsUntil } from '../../support/turns.ts';

const MEBIBYTE = Buffer.alloc(1_048_576, 'x');

const streamRoute = (pull: () => Pull, onEnd: () => void = () => {}, headers: string[] = []) =>
  route('GET', '/stream', async (exchange) => {
    await exchange.sendStream(200, ['Content-Type', 'text/plain', ...headers], pull());
    onEnd();
  });

/** Gives the pieces, each in a list of its own, every second one after a turn of the loop. */
function pullOf(pieces: readonly string[]): Pull {
  let index = 0;
  return () => {
    const piece = pieces[index];
    index += 1;
    const list = piece === undefined ? null : [Buffer.from(piece), Buffer.from('|')];
    return index % 2 === 0 ? list : new Promise((resolve) => {
      setImmediate(resolve, list);
    });
  };
}

test('sends pulled pieces in order, in chunks or with their length', async () => {
  await using chunked = await startServer([streamRoute(() => pullOf(['a', 'b', '本']))]);
  const answer = await rawRequest(chunked, 'GET', '/stream');
  assert.deepEqual([answer.body, answer.headers['transfer-encoding']], ['a|b|本|', 'chunked']);
  await using counted = await startServer([
    streamRoute(() => pullOf(['a', 'b']), undefined, ['Content-Length', '4']),
  ]);
  const whole = await rawRequest(counted, 'GET', '/stream');
  assert.deepEqual([whole.body, whole.headers['transfer-encoding']], ['a|b|', undefined]);
  await using empty = await startServer([streamRoute(() => pullOf([]))]);
  assert.equal((await rawRequest(empty, 'GET', '/stream')).body, '');
});

test('pulls nothing for a HEAD', async () => {
  let pulls = 0;
  await using server = await startServer([streamRoute(() => () => {
    pulls += 1;
    return null;
  })]);
  const answer = await rawRequest(server, 'HEAD', '/stream');
  assert.deepEqual([answer.status, answer.headers['content-type'], pulls], [200, 'text/plain', 0]);
});

test('a failure before the first piece is a problem, a later one cuts the answer', async () => {
  const failing = (after: number): Pull => {
    let count = 0;
    return () => {
      count += 1;
      if (count > after) throw new AppError('unavailable', 'no more');
      return [Buffer.from('piece')];
    };
  };
  await using early = await startServer([streamRoute(() => failing(0))]);
  assert.equal((await rawRequest(early, 'GET', '/stream')).status, 503);
  await using late = await startServer([streamRoute(() => failing(3))]);
  const connection = new RawConnection(late);
  connection.send(encodeRequest('GET', '/stream'));
  const received = await connection.rest();
  assert.doesNotMatch(received, /\r\n0\r\n\r\n$/);
  connection.close();
});

test('a slow reader holds back what is pulled, and memory stays flat', async () => {
  let pulled = 0;
  let ended: () => void = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  await using server = await startServer([streamRoute(() => () => {
    pulled += 1;
    return pulled > 60 ? null : [MEBIBYTE];
  }, ended)]);
  const connection = new RawConnection(server);
  connection.socket.pause();
  connection.send(encodeRequest('GET', '/stream'));
  await settled(() => pulled);
  // The kernel's buffers on both sides take a few.
  assert(pulled < 30, `${pulled} MiB were pulled for a reader that takes nothing`);
  connection.socket.removeAllListeners('data').resume();
  await end;
  assert.equal(pulled, 61);
  connection.close();
});

test('a stream with a fast reader still gives other requests their turn', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  const turnsAtPull: number[] = [];
  // Little enough for the kernel to take at once.
  const piece = Buffer.alloc(65_536);
  await using server = await startServer([streamRoute(() => () => {
    turnsAtPull.push(turns);
    return turnsAtPull.length > 36 ? null : [piece];
  })]);
  count();
  const answer = await rawRequest(server, 'GET', '/stream');
  isDone = true;
  assert.equal(answer.body.length, 36 * piece.length);
  assert((turnsAtPull.at(-1) ?? 0) > (turnsAtPull[0] ?? 0), turnsAtPull.join());
});

for (const kind of ['streamed', 'whole'] as const) {
  test(`a reader that takes nothing of a ${kind} answer is cut after 30 s`, async () => {
    const clock = new ManualClock();
    let response: ServerResponse | null = null;
    let isEnded = false;
    await using server = await startServer([route('GET', '/', async (exchange) => {
      ({ response } = exchange);
      if (kind === 'whole') exchange.send(200, [], Buffer.alloc(50_000_000));
      else await exchange.sendStream(200, [], () => [MEBIBYTE]);
      isEnded = true;
    })], { clock });
    const connection = new RawConnection(server);
    connection.socket.pause();
    connection.send(encodeRequest('GET', '/'));
    const socket = await stalled(() => response);
    await clock.advance(20_000);
    // What it sends is no sign that it reads.
    connection.send('GET / HTTP/1.1\r\n');
    await clock.advance(9_000);
    assert.equal(socket.destroyed, false);
    await clock.advance(3_000);
    assert.deepEqual([socket.destroyed, isEnded], [true, true]);
    connection.close();
  });
}

test('through the control socket nobody is cut: a command waits for the pipe it stands in',
  async () => {
    const clock = new ManualClock();
    const taken: string[] = [];
    await using server = await startServer([
      route('POST', '/both', async (exchange) => {
        for await (const chunk of exchange.readChunks()) taken.push(chunk.toString());
        let left = 8;
        await exchange.sendStream(200, [], () => left-- > 0 ? [MEBIBYTE] : null);
      }),
    ], { clock, entrance: 'control' });
    const connection = new RawConnection(server);
    const pause = (): Promise<void> => clock.advance(3_600_000);
    connection.send(encodeRequest('POST', '/both', {
      'Content-Length': '2', Connection: 'close',
    }));
    await pause();
    connection.send('a');
    await pause();
    connection.socket.pause();
    connection.send('b');
    await pause();
    connection.socket.resume();
    assert((await connection.rest()).length > 8 * MEBIBYTE.length);
    assert.deepEqual(taken, ['a', 'b']);
    connection.close();
  });

test('a slow reader is not cut while it takes something now and then', async () => {
  const clock = new ManualClock();
  let response: ServerResponse | null = null;
  await using server = await startServer([route('GET', '/whole', (exchange) => {
    ({ response } = exchange);
    exchange.send(200, [], Buffer.alloc(40_000_000));
  })], { clock });
  const connection = new RawConnection(server);
  const { socket } = connection;
  let received = 0;
  socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
    received += chunk.length;
  }).pause();
  connection.send(encodeRequest('GET', '/whole', { Connection: 'close' }));
  await stalled(() => response);
  for (let step = 0; received < 40_000_000 && step < 20; step += 1) {
    const wanted = Math.min(received + 4_000_000, 40_000_000);
    socket.resume();
    await turnsUntil(() => received >= wanted);
    socket.pause();
    await clock.advance(20_000);
  }
  socket.resume();
  await connection.rest();
  assert(received > 40_000_000, `${received} bytes arrived`);
  connection.close();
});

test('a reader that leaves ends the stream', async () => {
  let ended: () => void = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  await using server = await startServer([streamRoute(() => () => [MEBIBYTE], ended)]);
  const connection = new RawConnection(server);
  connection.send(encodeRequest('GET', '/stream'));
  connection.socket.once('data', () => connection.close());
  await end;
});

test('hands on the part of a body that came before the connection broke', async () => {
  const taken: string[] = [];
  await using server = await startServer([route('POST', '/', async (exchange) => {
    for await (const piece of exchange.readChunks()) taken.push(piece.toString());
  })]);
  const connection = new RawConnection(server);
  connection.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    + '3\r\nabc\r\nzz\r\n');
  assert.equal((await connection.answer()).status, 400);
  assert.deepEqual(taken, ['abc']);
  connection.close();
});
