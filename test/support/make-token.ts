/** Tokens for tests of what they open: made by the command, but in the process of the test. */
import assert from 'node:assert/strict';
import type { Scope } from '../../src/access/scope.ts';
import { runCommand } from '../cli/io.ts';

/** Makes a token of that scope in a data directory, also in that of a server that runs. */
export async function makeToken(
  data: string, scope: Scope,
): Promise<{ readonly identifier: string; readonly token: string }> {
  const { code, stdout, stderr } = await runCommand(
    ['token:create', '--name', scope, '--scope', scope, '--json', '--data', data]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Makes a token that is bound to these webhooks; its name is the first of them. */
export async function makeBoundToken(
  data: string, scope: Scope, ...webhooks: readonly string[]
): Promise<{ readonly identifier: string; readonly token: string; readonly stderr: string }> {
  const { code, stdout, stderr } = await runCommand([
    'token:create', '--name', webhooks[0] ?? '', '--scope', scope, '--json', '--data', data,
    ...webhooks.flatMap((webhook) => ['--webhook', webhook]),
  ]);
  assert.equal(code, 0, stderr);
  return { ...JSON.parse(stdout), stderr };
}
