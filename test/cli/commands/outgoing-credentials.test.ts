/** The options --oauth2 and --client-certificate, and what `doctor` says of certificates. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCertificate } from '../../support/tls.ts';
import { inPlace, WAYS, type Place } from '../place.ts';

const CREATE = ['outgoingwebhook:create', '--target-url', 'https://a.example/'];
const OAUTH2 = {
  tokenUrl: 'https://login.example/token', clientId: 'id', clientSecret: 'planted', scope: 'a',
};

function write({ folder }: Place, name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return `@${path}`;
}

for (const way of WAYS) {
  test(`credentials are given, changed, taken away, ${way}`, () => inPlace(way, async (place) => {
    const file = write(place, 'oauth2.json', JSON.stringify(OAUTH2));
    const made = await place.json([...CREATE, '--oauth2', file]);
    const { clientSecret: _, ...shown } = { ...OAUTH2, clientAuthentication: 'basic' };
    assert.deepEqual(made['oauth2'], shown);
    const id = String(made['identifier']);
    const update = ['outgoingwebhook:update', id];
    // Without a secret it may stand on the command line.
    const changed = await place.json([...update, '--oauth2',
      '{"tokenUrl":"https://login.example/other","scope":"b"}']);
    assert.deepEqual(changed['oauth2'],
      { ...shown, tokenUrl: 'https://login.example/other', scope: 'b' });
    const { stdout } = await place.run(['outgoingwebhook:show', id]);
    assert.match(stdout, /^oauth2\.tokenUrl +https:\/\/login\.example\/other$/m);
    assert.ok(!stdout.includes('planted'), stdout);
    const unset = await place.json([...update, '--unset', 'oauth2']);
    assert.equal(unset['oauth2'], undefined);
    const input = { input: JSON.stringify(OAUTH2) };
    assert.deepEqual((await place.json([...update, '--oauth2', '-'], input))['oauth2'], shown);
  }));
}

test('a secret of credentials or a key on the command line is refused', () =>
  inPlace('without a server', async (place) => {
    const { cert, key } = createCertificate(['us']);
    for (const words of [
      ['--oauth2', JSON.stringify(OAUTH2)],
      ['--oauth2', '{"tokenUrl":"https://login.example/token?api_key=planted","clientId":"id"}'],
      ['--client-certificate', JSON.stringify({ certificate: cert, privateKey: key })],
      [`--client-certificate=${cert}${key}`],
    ]) {
      const { code, stderr } = await place.run([...CREATE, ...words]);
      assert.equal(code, 2);
      assert.match(stderr, /holds a secret.*@<file>/);
      assert.ok(!/planted|BEGIN/.test(stderr), stderr);
    }
    for (const [words, reason] of [
      [['--client-certificate', 'cert.pem'], /give @<file>, a file with the certificate/],
      [['--client-certificate', '[]'], /is not a JSON object/],
      [['--oauth2', '[]'], /is not a JSON object/],
    ] as const) {
      const { code, stderr } = await place.run([...CREATE, ...words]);
      assert.equal(code, 2);
      assert.match(stderr, reason);
    }
  }));

test('a certificate and its key come from one PEM file or JSON, and are shown without either', () =>
  inPlace('through a server', async (place) => {
    const { cert, key } = createCertificate(['us']);
    const issuer = createCertificate(['issuer']);
    const file = write(place, 'pair.pem', `${key}${cert}${issuer.cert}`);
    const made = await place.json([...CREATE, '--client-certificate', file]);
    assert.deepEqual(Object.keys(made['clientCertificate'] as object),
      ['subject', 'issuer', 'notAfter']);
    const id = String(made['identifier']);
    const { stdout } = await place.run(['outgoingwebhook:show', id]);
    assert.match(stdout, /^clientCertificate\.subject +CN=us$/m);
    assert.ok(!stdout.includes('BEGIN'), stdout);
    const other = createCertificate(['other']);
    const json = write(place, 'pair.json',
      JSON.stringify({ certificate: other.cert, privateKey: other.key }));
    const changed =
      await place.json(['outgoingwebhook:update', id, '--client-certificate', json]);
    assert.match(JSON.stringify(changed['clientCertificate']), /CN=other/);
    const unset =
      await place.json(['outgoingwebhook:update', id, '--unset', 'client-certificate']);
    assert.equal(unset['clientCertificate'], undefined);
  }));

const ENDS = [
  { toDays: 31, status: 'ok', detail: /^no client certificate ends/ },
  { toDays: 29, status: 'warning', detail: /^the client certificate of bank expires soon: its/ },
  { toDays: -1, status: 'warning', detail: /^the client certificate of bank has expired: its/ },
];
for (const { toDays, status, detail } of ENDS) {
  test(`doctor says of a client certificate with ${toDays} days: ${status}`, () =>
    inPlace('through a server', async (place) => {
      const { cert, key } = createCertificate(['us'], { fromDays: -9, toDays });
      await place.json([...CREATE, '--name', 'bank', '--client-certificate',
        write(place, 'pair.pem', cert + key)]);
      const findings = await place.json<{ check: string; status: string; detail: string }[]>(
        ['doctor'], { now: Date.now });
      const finding = findings.find(({ check }) => check === 'outgoing TLS');
      assert.equal(finding?.status, status);
      assert.match(finding?.detail ?? '', detail);
    }));
}
