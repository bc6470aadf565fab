import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandContext } from '../../../src/cli/commands/context.ts';
import { readTextOption } from '../../../src/cli/commands/input.ts';
import { heldBytes, heldBytesMax } from '../../support/memory.ts';

const BYTES = 200_000;

test('standard input in one-byte pieces takes no more than twice its bytes', async () => {
  let held = 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    const before = heldBytes();
    for (let count = 0; count < BYTES; count += 1) yield Buffer.from('x');
    held = heldBytes() - before;
  }
  const given = { get: () => '-' };
  const context = { given, io: { stdin: pieces() } } as unknown as CommandContext;
  assert.equal((await readTextOption(context, 'file')).length, BYTES);
  assert(held < heldBytesMax(BYTES), `${held} bytes are held for ${BYTES}`);
});
