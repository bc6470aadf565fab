import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parsePostgresUrl } from '../../../../src/store/engines/postgres/postgres-url.ts';
import { openSocket } from '../../../../src/store/engines/postgres/postgres-socket.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { createCertificate } from '../../../support/tls.ts';

test('certificates in a file that is too large are refused', async () => {
  const folder = createTemporaryFolder();
  const path = join(folder, 'authorities');
  writeFileSync(path, Buffer.alloc((1 << 20) + 1));
  // Nobody listens on port 1.
  const address = parsePostgresUrl(
    `postgres://u@127.0.0.1:1/b?sslmode=verify-full&sslrootcert=${encodeURIComponent(path)}`);
  await assert.rejects(openSocket(address, { host: '127.0.0.1', port: 1 }),
    { code: 'usage', message: /^cannot read sslrootcert of the PostgreSQL URL: it is larger/ });
});

test('a key in place of a certificate is named with its file', async () => {
  const path = join(createTemporaryFolder(), 'client.key');
  writeFileSync(path, createCertificate().key);
  const address = parsePostgresUrl(
    `postgres://u@127.0.0.1:1/b?sslmode=verify-full&sslrootcert=${encodeURIComponent(path)}`);
  await assert.rejects(openSocket(address, { host: '127.0.0.1', port: 1 }), {
    code: 'usage',
    message: /^sslrootcert of the PostgreSQL URL \(.*client\.key\): this is a key, not a cert/,
  });
});
