import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readToken } from '../../../src/cli/given-server.ts';
import { readSmallFile } from '../../../src/base/files/small-file.ts';

test('a file that settings name is read whole, and a device without end is refused', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-small-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(1 << 20, 'x')]) {
    writeFileSync(path, bytes);
    assert.deepEqual(readSmallFile(path), bytes);
  }
  writeFileSync(path, Buffer.alloc((1 << 20) + 1));
  assert.throws(() => readSmallFile(path), /it is larger than 1048576 bytes/);
  assert.throws(() => readSmallFile(join(folder, 'none')), { code: 'ENOENT' });
  assert.throws(() => readToken('/dev/zero'), /cannot read the token's file: it is larger/);
});
