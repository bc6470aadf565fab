import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parsePostgresUrl } from '../../../../src/store/engines/postgres/postgres-url.ts';
import { openSocket } from '../../../../src/store/engines/postgres/postgres-socket.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';

test('certificates in a file that is too large are refused', async () => {
  const folder = createTemporaryFolder();
  const path = join(folder, 'authorities');
  writeFileSync(path, Buffer.alloc((1 << 20) + 1));
  // Nobody listens on port 1.
  const address = parsePostgresUrl(
    `postgres://u@127.0.0.1:1/b?sslmode=verify-full&sslrootcert=${encodeURIComponent(path)}`);
  await assert.rejects(openSocket(address, { host: '127.0.0.1', port: 1 }),
    { code: 'usage', message: /sslrootcert that cannot be read: it is larger than 1048576 bytes/ });
});
