import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { discardInput } from '../../../src/server/exchange/connection-end.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { startServer } from '../../support/test-server.ts';
import { someTurns } from '../../support/turns.ts';

const BOUND = 65_536;

test('discards up to 64 KiB of what a peer still sends', async () => {
  const { source, calls, read } = start();
  source.write(Buffer.alloc(BOUND - 1));
  source.write(Buffer.alloc(1));
  await someTurns(5);
  assert.deepEqual([calls(), read()], [0, BOUND]);
  source.write(Buffer.alloc(1));
  await someTurns(5);
  assert.deepEqual([calls(), source.isPaused()], [1, true]);
  source.write(Buffer.alloc(BOUND));
  await someTurns(5);
  assert.deepEqual([calls(), read()], [1, BOUND + 1]);
});

test('discards what a peer still sends for at most a second', async () => {
  const { source, calls, clock } = start();
  source.write('some');
  await clock.advance(999);
  assert.equal(calls(), 0);
  await clock.advance(1);
  assert.equal(calls(), 1);
  source.end();
  await someTurns(5);
  await clock.advance(5000);
  assert.equal(calls(), 1, 'once');
});

test('does not wait for a peer that has ended, failed or gone', async () => {
  for (const leave of ['end', 'destroy'] as const) {
    const { source, calls, clock } = start();
    source[leave]();
    await someTurns(5);
    await clock.advance(5000);
    assert.equal(calls(), 1, leave);
  }
  const gone = new PassThrough();
  gone.destroy();
  assert.equal(start(gone).calls(), 1);
});

test('a body that nobody reads keeps the connection up to 64 KiB', async () => {
  await using server = await startServer([]);
  for (const [length, connection] of [[BOUND, 'keep-alive'], [BOUND + 1, 'close']] as const) {
    const peer = new RawConnection(server);
    peer.send(`POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    const answer = await peer.answer();
    assert.deepEqual([answer.status, answer.headers['connection']], [404, connection], `${length}`);
    peer.close();
  }
});

function start(source = new PassThrough()) {
  const clock = new ManualClock();
  let calls = 0;
  let read = 0;
  source.on('data', (chunk: Buffer) => { read += chunk.length; });
  source.pause();
  discardInput(source, clock, () => { calls += 1; });
  return { source, clock, calls: () => calls, read: () => read };
}
