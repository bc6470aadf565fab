/** HTTPS by a real server, before and after its certificate is renewed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { inFolder } from '../support/temporary-folder.ts';
import { createCertificate } from '../support/tls.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

const WAIT_MS_MAX = 60_000;

test('a renewed certificate is served after SIGHUP; open connections and a broken file do no harm',
  () => inFolder(async (folder) => {
    const first = createCertificate();
    install(folder, first);
    const server = await startServer(['--data', join(folder, 'data')], { environment: {
      HOOKSHELF_SERVER_TLS_CERT: join(folder, 'cert.pem'),
      HOOKSHELF_SERVER_TLS_KEY: join(folder, 'key.pem'),
    } });
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.equal((await ask(`${server.url}/healthz`, { ca: first.cert })).status, 200);
    const open = await openConnection(server.url, first.cert);
    assert.match(await askOver(open), /^HTTP\/1\.1 200 /);

    const second = createCertificate();
    install(folder, second);
    await signal(server, 'the certificate was read again');
    assert.equal((await ask(`${server.url}/healthz`, { ca: second.cert })).status, 200);
    await assert.rejects(ask(`${server.url}/healthz`, { ca: first.cert }));
    assert.match(await askOver(open), /^HTTP\/1\.1 200 /);

    const breakages = [
      () => writeFileSync(join(folder, 'cert.pem'), 'no certificate'),
      () => install(folder, { cert: second.cert, key: first.key }),
      () => install(folder, { cert: second.cert, key: keyOfAnotherKind() }),
      () => rmSync(join(folder, 'key.pem')),
      () => {
        rmSync(join(folder, 'cert.pem'));
        assert.equal(spawnSync('mkfifo', [join(folder, 'cert.pem')]).status, 0);
      },
    ];
    for (const [index, makeBroken] of breakages.entries()) {
      makeBroken();
      await signal(server, 'the certificate could not be read again', index + 1);
      assert.equal((await ask(`${server.url}/healthz`, { ca: second.cert })).status, 200);
    }
    assert.ok(!server.stderr().includes('PRIVATE KEY'));
    assert.match(await askOver(open), /^HTTP\/1\.1 200 /);
    open.destroy();
    assert.equal((await server.stop()).code, 0);
  }));

test('plain HTTP gets no answer on the port of a TLS server, and commands reach it still', () =>
  inFolder(async (folder) => {
    install(folder, createCertificate());
    const data = join(folder, 'data');
    const server = await startServer(['--data', data], { environment: {
      HOOKSHELF_SERVER_TLS_CERT: join(folder, 'cert.pem'),
      HOOKSHELF_SERVER_TLS_KEY: join(folder, 'key.pem'),
    } });
    await assert.rejects(ask(`${server.url.replace('https:', 'http:')}/healthz`));
    const added = await hookshelf(['book:add', '--input', '{"title":"Emma"}', '--data', data]);
    assert.equal(added.code, 0, added.stderr);
    await server.stop();
  }));

test('a certificate that does not fit its key stops the start in one line', () =>
  inFolder(async (folder) => {
    install(folder, { cert: createCertificate().cert, key: createCertificate().key });
    const { code, stderr } = await hookshelf(['serve', '--port', '0', '--data',
      join(folder, 'data')], { environment: {
      HOOKSHELF_SERVER_TLS_CERT: join(folder, 'cert.pem'),
      HOOKSHELF_SERVER_TLS_KEY: join(folder, 'key.pem'),
    } });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^hookshelf: [^\n]*server\.tlsCert[^\n]*\n$/);
  }));

/** As where a renewal changed the kind, and one of its two files was put in place. */
function keyOfAnotherKind(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function install(folder: string, pair: { readonly cert: string; readonly key: string }): void {
  writeFileSync(join(folder, 'cert.pem'), pair.cert);
  writeFileSync(join(folder, 'key.pem'), pair.key, { mode: 0o600 });
}

/** Sends SIGHUP and waits until the log holds `message` that many times. */
async function signal(server: Running, message: string, times = 1): Promise<void> {
  server.child.kill('SIGHUP');
  const { stderr } = server.child;
  assert.ok(stderr !== null);
  const timeout = AbortSignal.timeout(WAIT_MS_MAX);
  while (server.stderr().split(message).length <= times) {
    await once(stderr, 'data', { signal: timeout });
  }
}

async function openConnection(url: string, ca: string): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ca });
  await once(socket, 'secureConnect');
  return socket;
}

async function askOver(socket: TLSSocket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [chunk] = await once(socket, 'data', { signal: AbortSignal.timeout(WAIT_MS_MAX) });
  return String(chunk);
}
