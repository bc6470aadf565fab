/** What a session makes of refusals, of a server that is busy, and of one that hangs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Clock, Timer } from '../../../src/base/clock.ts';
import { AppError } from '../../../src/base/errors.ts';
import type { ErrorCode } from '../../../src/base/errors.ts';
import { openApiClient } from '../../../src/cli/api-client/open-api-client.ts';
import type { ApiClient } from '../../../src/cli/api-client/api-client.ts';
import { createErrorResponse } from '../../../src/server/problem.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

/** Time passes where a test says so: it fires timers by their delay. */
class HeldClock implements Clock {
  #nowMs = 0;
  #timers: { readonly delayMs: number; readonly run: () => void }[] = [];
  #onTimer = (): void => {};

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  startTimer(delayMs: number, run: () => void): Timer {
    const timer = { delayMs, run };
    this.#timers.push(timer);
    this.#onTimer();
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  holds(delayMs: number): boolean {
    return this.#timers.some((timer) => timer.delayMs === delayMs);
  }

  /** Waits for a timer of this delay, and lets that time pass for it alone. */
  async fire(delayMs: number): Promise<void> {
    while (!this.holds(delayMs)) {
      await new Promise<void>((resolve) => {
        this.#onTimer = resolve;
      });
    }
    const timer = this.#timers.find((other) => other.delayMs === delayMs);
    this.#timers = this.#timers.filter((other) => other !== timer);
    this.#nowMs += delayMs;
    timer?.run();
  }
}

function refuse(response: ServerResponse, error: AppError): void {
  const { status, headers, body } = createErrorResponse(error, '/', undefined);
  response.writeHead(status, headers);
  response.end(body);
}

async function withServer(
  listener: RequestListener, isRemote: boolean,
  use: (session: ApiClient, clock: HeldClock, told: string[]) => Promise<void>,
): Promise<void> {
  const folder = createTemporaryFolder();
  const socketPath = join(folder, 'control.sock');
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const clock = new HeldClock();
  const told: string[] = [];
  const session = await openApiClient({
    clock, findOwner: () => isRemote ? { pid: 7, socketPath } : null,
    openLocalApp: async () => ({ requestListener: listener, close: async () => {} }),
    onWait: (reason) => told.push(reason),
  });
  try {
    await use(session, clock, told);
  } finally {
    await session.close();
    server.closeAllConnections();
    server.close();
  }
}

/** Of all codes, so that a new one is missed here by the compiler. */
const CODES: Readonly<Record<ErrorCode, true>> = {
  malformed: true, invalid: true, usage: true, unauthorized: true, forbidden: true,
  not_found: true, gone: true, method_not_allowed: true, conflict: true, precondition_failed: true,
  too_large: true, headers_too_large: true,
  not_acceptable: true, unsupported_media_type: true, misdirected: true, too_many_requests: true,
  timeout: true, unavailable: true, misconfigured: true, unknown_outcome: true,
  storage_full: true, damaged: true,
  internal: true,
};
test('every error code comes back from a problem as it was thrown', () =>
  withServer((request, response) => {
    const code = Object.keys(CODES).find((name) => request.url === `/${name}`);
    refuse(response, new AppError(code as ErrorCode, 'what it was'));
  }, true, async (session) => {
    for (const code of Object.keys(CODES)) {
      await assert.rejects(session.request({ method: 'GET', path: `/${code}` }),
        (thrown: unknown) => thrown instanceof AppError && thrown.code === code, code);
    }
  }));

const BUSY = new AppError('unavailable', 'being built', { retryAfterS: 3 });

for (const isRemote of [true, false]) {
  const way = isRemote ? 'through a server' : 'in this process';
  test(`a read that is told to come later waits as long and asks again, ${way}`, () => {
    let asked = 0;
    return withServer((_request, response) => {
      asked += 1;
      if (asked < 3) refuse(response, BUSY);
      else response.end('["a"]');
    }, isRemote, async (session, clock, told) => {
      const answering = session.request({ method: 'GET', path: '/' });
      await clock.fire(3000);
      await clock.fire(3000);
      const { body } = await answering;
      assert.deepEqual([body, asked, told], [['a'], 3, ['being built']]);
    });
  });

  test(`a read gives up after two minutes, and says so, ${way}`, () => {
    let asked = 0;
    return withServer((_request, response) => {
      asked += 1;
      refuse(response, BUSY);
    }, isRemote, async (session, clock) => {
      const answering = session.request({ method: 'GET', path: '/' });
      const failing = assert.rejects(answering, /being built \(waited 120 s\)$/);
      for (let turn = 0; turn < 40; turn += 1) await clock.fire(3000);
      await failing;
      assert.equal(asked, 41);
    });
  });

  test(`a write that is told to come later is not repeated, ${way}`, () =>
    withServer((_request, response) => refuse(response, BUSY), isRemote, async (session) => {
      const writing = session.request({ method: 'POST', path: '/', body: {} });
      await assert.rejects(writing, /being built$/);
    }));
}

test('notices a server that hangs before its answer or in the middle of it', () => {
  let onHealth = (): void => {};
  return withServer((request, response) => {
    if (request.url === '/healthz') onHealth();
    if (request.url !== '/half') return;
    response.writeHead(200, { 'content-length': '10' });
    response.write('[');
  }, true, async (session, clock) => {
    const isSaid = /^AppError: the server \(pid 7\) hangs: it said nothing for 15 s; see /;
    const hang = async (failing: Promise<void>): Promise<void> => {
      const askedHealth = new Promise<void>((resolve) => {
        onHealth = resolve;
      });
      // What came before the first look was no silence.
      for (let turn = 0; turn < 2 && !clock.holds(5000); turn += 1) await clock.fire(10_000);
      await askedHealth;
      await clock.fire(5000);
      await failing;
    };
    await hang(assert.rejects(session.request({ method: 'GET', path: '/nothing' }), isSaid));
    const half = await session.stream({ method: 'GET', path: '/half' });
    await once(half, 'readable');
    assert.equal(half.read().toString(), '[');
    await hang(assert.rejects(once(half.resume(), 'end'), isSaid));
  });
});

test('waits for a server that lives, but not for ever', () => {
  let healthAsked = 0;
  return withServer((request, response) => {
    if (request.url !== '/healthz') return;
    healthAsked += 1;
    response.end('{}');
  }, true, async (session, clock) => {
    const failing = assert.rejects(session.request({ method: 'POST', path: '/compact' }),
      /^AppError: the server lives, but gave no answer for 600 s: see its log/);
    for (let turn = 0; turn < 60; turn += 1) await clock.fire(10_000);
    await failing;
    assert.equal(healthAsked, 59);
  });
});

test('does not take a slow source of the body for silence of the server', () => {
  let healthAsked = 0;
  return withServer((request, response) => {
    if (request.url === '/healthz') healthAsked += 1;
    request.resume().on('end', () => response.end('"done"'));
  }, true, async (session, clock) => {
    const body = new PassThrough();
    body.write('{}');
    const answering = session.stream({ method: 'POST', path: '/import', body });
    for (let turn = 0; turn < 100; turn += 1) await clock.fire(10_000);
    body.end();
    const response = await answering;
    response.resume();
    await once(response, 'end');
    assert.equal(healthAsked, 0);
  });
});
