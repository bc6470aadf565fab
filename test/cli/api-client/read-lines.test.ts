import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { readLines } from '../../../src/cli/api-client/read-lines.ts';

async function linesOf(pieces: Iterable<string | Buffer>): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of readLines(Readable.from(pieces))) lines.push(line);
  return lines;
}

test('joins pieces to lines, with either end, and leaves out what is not ended', async () => {
  const text = 'ä\r\n\nb\rc\nd';
  for (const bytes of [1, 2, 3, 100]) {
    const buffer = Buffer.from(text);
    const pieces = Array.from({ length: Math.ceil(buffer.length / bytes) },
      (_, index) => buffer.subarray(index * bytes, (index + 1) * bytes));
    assert.deepEqual(await linesOf(pieces), ['ä', '', 'b\rc']);
  }
});

test('a long line is not searched again with each of its pieces', async () => {
  const pieces = Array.from({ length: 32_768 }, () => 'x'.repeat(64));
  const startMs = performance.now();
  const [line = ''] = await linesOf([...pieces, '\n']);
  assert.equal(line.length, 2 << 20);
  // It takes 0.1 s; with the searches 20 s.
  assert.ok(performance.now() - startMs < 5000);
});
