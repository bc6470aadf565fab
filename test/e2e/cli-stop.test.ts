/** How a serving process ends: signals at the wrong time, bugs, and what is still under way. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { IS_LONG } from '../support/long.ts';
import { rawRequest } from '../support/raw-http.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { startServer, type Running } from './processes.ts';

const ROUNDS = IS_LONG ? 6 : 2;
const WAIT_MS_MAX = 60_000;

for (const flags of [[], ['--max-memory', '128']]) {
  test(`a signal at the very end does not count as its cause ${flags.join(' ')}`, () =>
    inFolder(async (data) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const server = await startServer(['--data', data, ...flags]);
        const socket = join(data, 'control.sock');
        assert.ok(existsSync(socket));
        server.child.kill('SIGTERM');
        // It goes among the last things.
        await until(server, () => !existsSync(socket));
        await until(server, () => {
          server.child.kill('SIGTERM');
          return server.child.exitCode !== null || server.child.signalCode !== null;
        });
        const { code, signal } = await server.ended;
        assert.equal(signal, null, `round ${round}: ended with ${code} by ${signal}`);
      }
    }));
}

const ACTION = `export default class Breaks {
  static identifier() { return 'breaks'; }
  static label() { return 'Breaks outside of any request'; }
  execute(payload) {
    if (payload.how === 'throws') setTimeout(() => { throw new Error('planted bug'); });
    else Promise.reject(new Error('planted bug'));
    return { success: true, message: '', data: {} };
  }
}`;

for (const how of ['throws', 'rejects']) {
  test(`a bug that ${how} outside of any request ends the server, and is in its log`, () =>
    inFolder(async (data) => {
      mkdirSync(join(data, 'actions'), { mode: 0o700 });
      writeFileSync(join(data, 'actions', 'breaks.mjs'), ACTION, { mode: 0o600 });
      const server = await startServer(['--data', data]);
      try {
        for (const [path, body] of [
          ['action-configurations', { identifier: 'b', actionType: 'breaks', options: {} }],
          ['incoming-webhooks', { pathSegment: 'b', actionConfiguration: 'b' }],
        ] as const) {
          assert.equal((await ask(`${server.url}/api/${path}`, { method: 'POST', body })).status,
            201);
        }
        const place = { port: Number(new URL(server.url).port) };
        // The answer may be lost with the process.
        await rawRequest(place, 'POST', '/webhook/in/b', {}, JSON.stringify({ how }))
          .catch(() => {});
        await until(server, () => server.child.exitCode !== null);
        const { code, stderr } = await server.ended;
        assert.equal(code, 1);
        assert.match(stderr, /"message":"internal error".*planted bug/);
      } finally {
        server.child.kill('SIGKILL');
      }
    }));
}

async function until(server: Running, isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS_MAX;
  while (!isTrue()) {
    if (performance.now() > deadlineMs) {
      server.child.kill('SIGKILL');
      assert.fail('waited too long');
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
