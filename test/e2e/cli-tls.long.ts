import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { unlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/temporary-folder.ts';
import { createCertificate } from '../support/tls.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

test('SIGHUP without a certificate says that there is nothing to read', () =>
  inFolder(async (folder) => {
    const server = await startServer(['--data', join(folder, 'data')]);
    await hangUp(server, 'there is no certificate to read again');
    assert.equal((await server.stop()).code, 0);
  }));

const lastDayOf = (certificate: string): string =>
  new Date(new X509Certificate(certificate).validTo).toISOString().slice(0, 10);

for (const [what, toDays, begin, end, code, status] of [
  ['has expired', -3, 'the certificate has expired: its last day was ', '', 1, 'failed'],
  ['soon expires', 29.5, 'the certificate expires soon: its last day is ', ', in 29 days', 0,
    'warning'],
  ['is long good', 31, null, '', 0, 'ok'],
] as const) {
  test(`a certificate that ${what} is told of at the start, by doctor and in the metrics`, () =>
    inFolder(async (folder) => {
      const data = join(folder, 'data');
      const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
      const environment = { HOOKSHELF_SERVER_TLS_CERT: cert, HOOKSHELF_SERVER_TLS_KEY: key };
      const certificate = putCertificate(cert, key, { fromDays: -60, toDays });
      const { validTo } = new X509Certificate(certificate);
      const message = begin === null ? null : begin + lastDayOf(certificate) + end;
      const server = await startServer(['--data', data], { environment });
      if (message === null) assert.ok(!server.stderr().includes('renew it'));
      else assert.ok(server.stderr().includes(`"message":"${message}; renew it`));
      assert.equal(await expiryMetric(server), Date.parse(validTo) / 1000);
      const looked = await hookshelf(['doctor', '--json', '--data', data]);
      assert.equal(looked.code, code, looked.stdout);
      const finding = JSON.parse(looked.stdout)
        .find(({ check }: { check: string }) => check === 'certificate');
      assert.equal(finding.status, status);
      if (message !== null) assert.equal(finding.detail, message);
      const renewed = putCertificate(cert, key, { toDays: 7 });
      await hangUp(server, 'was read again');
      assert.equal(await expiryMetric(server),
        Date.parse(new X509Certificate(renewed).validTo) / 1000);
      assert.ok(server.stderr().includes(`expires soon: its last day is ${lastDayOf(renewed)}`));
      await server.stop();
    }));
}

for (const [what, spoil, problem] of [
  ['no certificate', (cert: string) => writeFileSync(cert, 'garbage'), /server\.tlsCert \(/],
  ['nothing', (cert: string) => unlinkSync(cert), /cannot read server\.tlsCert: ENOENT/],
] as const) {
  test(`when the files hold ${what} any more, doctor says so of the next start`, () =>
    inFolder(async (folder) => {
      const data = join(folder, 'data');
      const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
      putCertificate(cert, key, { toDays: 99 });
      const server = await startServer(['--data', data], {
        environment: { HOOKSHELF_SERVER_TLS_CERT: cert, HOOKSHELF_SERVER_TLS_KEY: key },
      });
      spoil(cert);
      await hangUp(server, 'could not be read again');
      const [line = ''] = server.stderr().split('\n')
        .filter((text) => text.includes('could not be read again'));
      assert.match(JSON.parse(line).reason, problem);
      assert.doesNotMatch(line, /"stack"/);
      const { code, stdout } = await hookshelf(['doctor', '--json', '--data', data]);
      const findings = JSON.parse(stdout).filter(({ check }: { check: string }) =>
        check === 'certificate');
      assert.deepEqual([code, findings.map(({ status }: { status: string }) => status)],
        [0, ['ok', 'warning']]);
      assert.match(findings[1].detail, problem);
      await server.stop();
    }));
}

test('without a certificate there is no figure of its end', () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  const { text } = await ask(`${server.url}/metrics`);
  assert.doesNotMatch(text, /^hookshelf_tls_certificate_expiry_timestamp_seconds/m);
  await server.stop();
}));

/** The figure of `/metrics`, asked without looking at the certificate: it may have expired. */
function expiryMetric({ url }: Running): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, agent: false };
    get(`${url}/metrics`, options, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      const [, value] =
        /^hookshelf_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text) ?? [];
      resolve(Number(value));
    }).on('error', reject);
  });
}

/** Writes a new pair of files and gives the certificate. */
function putCertificate(
  certPath: string, keyPath: string, term: { fromDays?: number; toDays?: number } = {},
): string {
  const { cert, key } = createCertificate(undefined, term);
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key);
  return cert;
}

async function hangUp(server: Running, logged: string): Promise<void> {
  server.child.kill('SIGHUP');
  assert.ok(server.child.stderr !== null);
  while (!server.stderr().includes(logged)) {
    await once(server.child.stderr, 'data', { signal: AbortSignal.timeout(60_000) });
  }
}
