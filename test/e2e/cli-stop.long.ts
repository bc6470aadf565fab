/** How a serving process ends: signals at the wrong time, bugs, and what is still under way. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { turnsUntil } from '../support/turns.ts';
import { startServer } from './processes.ts';

const ROUNDS = 6;

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

const BUGS = {
  throws: "setTimeout(() => { throw new Error('planted bug'); })",
  rejects: "Promise.reject(new Error('planted bug'))",
};

for (const [how, bug] of Object.entries(BUGS)) {
  test(`a bug that ${how} outside of any request ends the server, and is in its log`, () =>
    inFolder(async (data) => {
      const module = join(data, 'bug.mjs');
      writeFileSync(module, `process.on('SIGUSR2', () => ${bug});`);
      const server = await startServer(['--data', join(data, 'data')],
        { environment: { NODE_OPTIONS: `--import ${module}` } });
      try {
        server.child.kill('SIGUSR2');
        await turnsUntil(() => server.child.exitCode !== null);
        const { code, stderr } = await server.ended;
        assert.equal(code, 1);
        assert.match(stderr, /"message":"internal error".*planted bug/);
      } finally {
        server.child.kill('SIGKILL');
      }
    }));
}
