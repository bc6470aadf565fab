import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arguments } from '../../../src/cli/arguments/parse-arguments.ts';
import type { CommandContext } from '../../../src/cli/commands/command-context.ts';
import { createToken } from '../../../src/cli/commands/operation/token-commands.ts';

test('no token is made whose webhooks cannot be looked up: none would see its text', async () => {
  const calls: string[] = [];
  const context = {
    args: new Arguments(new Map([
      ['name', ['acme']], ['scope', ['read']], ['webhook', ['acme']],
    ])),
    io: { now: () => 0 }, output: { isJson: false, note: () => {} },
    openApiClient: async () => ({
      async request({ method, path }: { method: string; path: string }) {
        calls.push(`${method} ${path.replace(/\?.*/, '')}`);
        if (path === '/control/tokens') return { body: [], headers: {} };
        throw new Error('the connection was lost');
      },
    }),
  } as unknown as CommandContext;
  await assert.rejects(createToken(context), /the connection was lost/);
  assert.deepEqual(calls, ['GET /control/tokens', 'GET /api/outgoing-webhooks']);
});
