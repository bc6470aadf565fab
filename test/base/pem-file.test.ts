import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCertificateWithKey } from '../../src/base/pem-file.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { createCertificate, createEncryptedKey } from '../support/tls.ts';

const { cert, key } = createCertificate();
const OTHER = createCertificate();
const ENCRYPTED = createEncryptedKey();
const REQUEST = '-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n';
const BROKEN_KEY = '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n';

const folder = createTemporaryFolder();
const certPath = join(folder, 'cert.pem');
const keyPath = join(folder, 'key.pem');

function read(certificate: string, privateKey: string): object {
  writeFileSync(certPath, certificate);
  writeFileSync(keyPath, privateKey);
  return readCertificateWithKey(
    { name: 'server.tlsCert', path: certPath }, { name: 'server.tlsKey', path: keyPath });
}

test('a certificate is taken with its key, its issuers, and both in one file', () => {
  assert.deepEqual(read(cert, key), { cert: Buffer.from(cert), key: Buffer.from(key) });
  for (const text of [cert + OTHER.cert, cert + key]) read(text, cert + key);
});

const REFUSALS: readonly (readonly [string, string, string, string, RegExp])[] = [
  ['certificate and key swapped', key, cert, certPath, /^: this is a key, not a certificate$/],
  ['a certificate for the key', cert, cert, keyPath, /^: this is a certificate, not a key$/],
  ['a key with a passphrase', cert, ENCRYPTED, keyPath,
    new RegExp(`^: the key is encrypted.*: openssl pkey -in ${keyPath} -out plain-key.pem$`)],
  ['the key of another', cert, OTHER.key, keyPath,
    new RegExp(`^ is not the key of the certificate.*\\(server.tlsCert is ${certPath}\\)$`)],
  ['what is not PEM', '0\x82', key, certPath,
    /^: there is no `-----BEGIN CERTIFICATE-----` with its end; .*openssl x509 -inform der/],
  ['a key that is not PEM', cert, '', keyPath,
    /^: there is no `-----BEGIN PRIVATE KEY-----` with its end; .*openssl pkey -inform der/],
  ['a request', REQUEST, key, certPath, /^: this is a certificate request, not a certificate$/],
  ['a broken key', cert, BROKEN_KEY, keyPath, /^: it cannot be read$/],
  ['a broken issuer', cert + OTHER.cert.replace(/\n.{20}/, '\nAAAA'), key, certPath,
    /^: certificate 2 of 2 cannot be read$/],
];
for (const [title, certificate, privateKey, path, problem] of REFUSALS) {
  test(`${title} is named with the file that is wrong, in our words`, () => {
    const name = path === certPath ? 'server.tlsCert' : 'server.tlsKey';
    assert.throws(() => read(certificate, privateKey), (thrown: Error & { code?: string }) => {
      assert.equal(thrown.code, 'usage');
      assert.equal(thrown.message.startsWith(`${name} (${path})`), true, thrown.message);
      assert.match(thrown.message.slice(`${name} (${path})`.length), problem);
      return true;
    });
  });
}

test('a file that is not there is named, and a folder refused', () => {
  for (const [path, message] of [
    [join(folder, 'none'), /^cannot read server\.tlsCert: ENOENT: .*none/],
    [folder, /^cannot read server\.tlsCert: .* is not a regular file/],
  ] as const) {
    assert.throws(() => readCertificateWithKey(
      { name: 'server.tlsCert', path }, { name: 'server.tlsKey', path: keyPath }), { message });
  }
});
