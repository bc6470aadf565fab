import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandContext } from '../../../src/cli/commands/command-context.ts';
import { readTextOption } from '../../../src/cli/commands/option-input.ts';
import { withAppServer } from '../../support/app-server.ts';
import { heldBytes, heldBytesMax } from '../../support/memory.ts';
import { runCommand } from '../io.ts';

const BYTES = 200_000;

// What the engine compiles meanwhile is counted as well, and differs from run to run: a reader that
// kept the pieces held 124 MB each time.
const RUNS_MAX = 3;

test('standard input in one-byte pieces takes no more than twice its bytes', async () => {
  const held: number[] = [];
  while (held.length < RUNS_MAX && !held.some((bytes) => bytes < heldBytesMax(BYTES))) {
    held.push(await heldWhileRead());
  }
  assert(Math.min(...held) < heldBytesMax(BYTES), `${held.join(', ')} bytes are held for ${BYTES}`);
});

test('a body may have as many bytes as the server takes, whatever the command would', () =>
  withAppServer(async ({ data, url }) => {
    const emit = (...words: readonly string[]) => runCommand(
      ['event:emit', '--name', 'a', '--payload', '-', ...words],
      { input: JSON.stringify('x'.repeat(2 << 20)) });
    for (const place of [['--data', data], ['--server', url]]) {
      const { code, stderr } = await emit(...place);
      assert.equal(code, 0, stderr);
    }
  }, { HOOKSHELF_SERVER_MAX_BODY_BYTES: String(4 << 20) }));

async function heldWhileRead(): Promise<number> {
  let held = 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    const before = heldBytes();
    for (let count = 0; count < BYTES; count += 1) yield Buffer.from('x');
    held = heldBytes() - before;
  }
  const args = { get: () => '-' };
  const context = { args, io: { stdin: pieces() } } as unknown as CommandContext;
  assert.equal((await readTextOption(context, 'file')).length, BYTES);
  return held;
}
