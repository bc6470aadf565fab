import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readBounded } from '../../../src/base/files/bounded-read.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

test('a file is read whole up to its limit, and not beyond', () => {
  const folder = createTemporaryFolder();
  const path = join(folder, 'file');
  for (const bytesMax of [1, 10, 65_536, 200_000]) {
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(bytesMax, 'x')]) {
      writeFileSync(path, bytes);
      assert.deepEqual(readBounded(path, { bytesMax }).bytes, bytes);
    }
    writeFileSync(path, Buffer.alloc(bytesMax + 1));
    const says = { code: 'too_large', message: `it is larger than ${bytesMax} bytes` };
    assert.throws(() => readBounded(path, { bytesMax }), says);
  }
  assert.throws(() => readBounded(join(folder, 'none'), { bytesMax: 1 }), { code: 'ENOENT' });
});

test('a device without an end is refused', () => {
  assert.throws(() => readBounded('/dev/zero', { bytesMax: 1 << 20 }), { code: 'too_large' });
});

test('what must be a regular file is no folder, device or pipe, which is not waited for',
  () => {
    const folder = createTemporaryFolder();
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    for (const path of [folder, pipe, '/dev/zero', '/dev/null']) {
      assert.throws(() => readBounded(path, { bytesMax: 1 << 20, isRegular: true }),
        { code: 'invalid', message: `${path} is not a regular file` });
    }
  });
