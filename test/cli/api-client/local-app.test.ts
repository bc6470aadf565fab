import assert from 'node:assert/strict';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findOwner } from '../../../src/cli/api-client/local-app.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { NOBODY, needsRoot } from '../../support/users.ts';

test('what another user says of who holds the data is not believed', { skip: needsRoot }, () => {
  const data = createTemporaryFolder();
  const lock = join(data, 'lock');
  const socketPath = join(data, 'their.sock');
  writeFileSync(lock, JSON.stringify({ pid: process.pid, kind: 'server', socketPath }));
  writeFileSync(socketPath, '');
  assert.deepEqual(findOwner(data)?.socketPath, socketPath);
  for (const path of [lock, data, socketPath]) {
    chownSync(path, NOBODY, NOBODY);
    assert.throws(() => findOwner(data), { code: 'usage', message: /is user 65534's/ });
    chownSync(path, 0, 0);
  }
  assert.equal(findOwner(join(data, 'none')), null);
});
