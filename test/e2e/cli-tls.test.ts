import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCertificate } from '../support/tls.ts';
import { hookshelf, inFolder, startServer } from './processes.ts';
import type { Running } from './processes.ts';

test('https is served with the certificate of the settings, and the renewed one after SIGHUP', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const first = putCertificate(cert, key);
    const server = await startServer(['--data', data], {
      environment: { HOOKSHELF_SERVER_TLS_CERT: cert, HOOKSHELF_SERVER_TLS_KEY: key },
    });
    assert.match(server.url, /^https:/);
    assert.equal(await statusOf(server, first), 200);
    const second = putCertificate(cert, key);
    await assert.rejects(statusOf(server, second));
    await hangUp(server, 'was read again');
    assert.equal(await statusOf(server, second), 200);
    await assert.rejects(statusOf(server, first));
    writeFileSync(cert, 'no certificate');
    await hangUp(server, 'could not be read again');
    assert.equal(await statusOf(server, second), 200);
    const added = await hookshelf(['book:add', '--input', '{"title":"Emma"}', '--data', data]);
    assert.equal(added.code, 0, added.stderr);
    assert.equal((await server.stop()).code, 0);
  }));

test('SIGHUP without a certificate says that there is nothing to read', () =>
  inFolder(async (folder) => {
    const server = await startServer(['--data', join(folder, 'data')]);
    await hangUp(server, 'there is no certificate to read again');
    assert.equal((await server.stop()).code, 0);
  }));

test('a certificate that cannot be read stops the start and names the setting', () =>
  inFolder(async (folder) => {
    const { code, stderr } = await hookshelf(['serve', '--data', join(folder, 'data')], {
      environment: {
        HOOKSHELF_SERVER_TLS_CERT: join(folder, 'none.pem'),
        HOOKSHELF_SERVER_TLS_KEY: join(folder, 'none.pem'),
      },
    });
    assert.equal(code, 2);
    assert.match(stderr, /^hookshelf: [^\n]*server\.tlsCert[^\n]*none\.pem[^\n]*\n$/);
  }));

/** Writes a new pair of files and gives the certificate. */
function putCertificate(certPath: string, keyPath: string): string {
  const { cert, key } = createCertificate();
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key);
  return cert;
}

function statusOf({ url }: Running, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`${url}/healthz`, { ca, agent: false }, (response) => {
      resolve(response.resume().statusCode ?? 0);
    }).on('error', reject);
  });
}

async function hangUp(server: Running, logged: string): Promise<void> {
  server.child.kill('SIGHUP');
  assert.ok(server.child.stderr !== null);
  while (!server.stderr().includes(logged)) {
    await once(server.child.stderr, 'data', { signal: AbortSignal.timeout(60_000) });
  }
}
