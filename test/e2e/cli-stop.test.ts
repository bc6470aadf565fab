/** How a serving process ends: signals at the wrong time, bugs, and what is still under way. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { IS_LONG } from '../support/long.ts';
import { rawRequest } from '../support/raw-http.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { turnsUntil } from '../support/turns.ts';
import { addRecord } from './ask.ts';
import { startServer } from './processes.ts';

const ROUNDS = IS_LONG ? 6 : 2;

for (const flags of [[], ['--max-memory', '128']]) {
  test(`a signal at the very end does not count as its cause ${flags.join(' ')}`, () =>
    inFolder(async (data) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const server = await startServer(['--data', data, ...flags]);
        const socket = join(data, 'control.sock');
        assert.ok(existsSync(socket));
        server.child.kill('SIGTERM');
        // It goes among the last things.
        await turnsUntil(() => !existsSync(socket));
        await turnsUntil(() => {
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
        await addRecord(`${server.url}/api/action-configurations`,
          { identifier: 'b', actionType: 'breaks', options: {} });
        await addRecord(`${server.url}/api/incoming-webhooks`,
          { pathSegment: 'b', actionConfiguration: 'b' });
        const place = { port: Number(new URL(server.url).port) };
        // The answer may be lost with the process.
        await rawRequest(place, 'POST', '/webhook/in/b', {}, JSON.stringify({ how }))
          .catch(() => {});
        await turnsUntil(() => server.child.exitCode !== null);
        const { code, stderr } = await server.ended;
        assert.equal(code, 1);
        assert.match(stderr, /"message":"internal error".*planted bug/);
      } finally {
        server.child.kill('SIGKILL');
      }
    }));
}
