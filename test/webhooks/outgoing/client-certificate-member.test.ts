/** The member `clientCertificate` over the API: checked when saved, shown without PEM, and used. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, clientNameOf, startServer } from '../../support/servers.ts';
import { createCertificate, createEncryptedKey } from '../../support/tls.ts';
import { turnsUntil } from '../../support/turns.ts';
import { assertRefused, startRelay, startRelayFor, type Answer, type Relay } from '../relay.ts';

const PATH = '/api/outgoing-webhooks';
const TARGET = 'https://there.example/in';
const { cert: certificate, key: privateKey } = createCertificate(['us']);
const OTHER = createCertificate(['other']);

let relay: Relay;
before(async () => {
  relay = await startRelay();
});
after(async () => {
  await relay.close();
});

async function add(clientCertificate: object): Promise<Answer> {
  return relay.ask('POST', PATH, { targetUrl: TARGET, clientCertificate });
}

async function addWhole(): Promise<{ readonly path: string; readonly json: Answer['json'] }> {
  const { status, json, text } = await add({ certificate, privateKey });
  assert.equal(status, 201, text);
  return { path: `${PATH}/${String(json['identifier'])}`, json };
}

function storedPair(path: string): unknown {
  const bytes = relay.store.collection('outgoing-webhooks').findBytes(path.split('/').at(-1) ?? '');
  return JSON.parse(String(bytes)).clientCertificate;
}

test('a certificate is shown by its names and its end, and kept by what is sent back', async () => {
  const { path, json } = await addWhole();
  const { subject, issuer, notAfter } = json['clientCertificate'] as Record<string, unknown>;
  assert.deepEqual([subject, issuer], ['CN=us', 'CN=us']);
  assert.match(String(notAfter), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  for (const [method, body] of [
    ['PUT', json], ['PATCH', { description: 'x' }], ['PATCH', { targetUrl: 'https://elsewhere/' }],
    ['PUT', { targetUrl: TARGET, clientCertificate: { privateKey: '***' } }],
    ['PATCH', { clientCertificate: { certificate } }],
  ] as const) {
    const answered = await relay.ask(method, path, body);
    assert.equal(answered.status, 200, answered.text);
    assert.ok(!answered.text.includes('BEGIN'), answered.text);
    assert.deepEqual(storedPair(path), { certificate, privateKey });
  }
  for (const part of ['certificate', 'privateKey']) {
    assertRefused(await relay.ask('PATCH', path, { clientCertificate: { [part]: null } }),
      `/clientCertificate/${part}`, /is required/);
  }
  const replaced = await relay.ask('PATCH', path,
    { clientCertificate: { certificate: OTHER.cert, privateKey: OTHER.key } });
  assert.equal(replaced.status, 200, replaced.text);
  assert.deepEqual(storedPair(path), { certificate: OTHER.cert, privateKey: OTHER.key });
  const removed = await relay.ask('PATCH', path, { clientCertificate: null });
  assert.deepEqual([removed.status, storedPair(path)], [200, undefined]);
});

test('a chain, CR LF line ends and text between blocks are taken, and blocks kept', async () => {
  const withCrLf = certificate.replaceAll('\n', '\r\n');
  const noisy = `Bag Attributes\r\n${withCrLf}subject=x\r\n${OTHER.cert}`;
  const { json, text } = await add({
    certificate: noisy, privateKey: `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n`
      + `-----END EC PARAMETERS-----\n${privateKey}`,
  });
  assert.deepEqual(storedPair(String(json['identifier'])),
    { certificate: certificate + OTHER.cert, privateKey }, text);
});

const REFUSALS: readonly [string, object, string, RegExp][] = [
  ['a key of another certificate', { certificate, privateKey: OTHER.key }, '/privateKey',
    /not the key of the certificate/],
  ['a chain that begins with an issuer', { certificate: OTHER.cert + certificate, privateKey },
    '/privateKey', /the first certificate must be its own/],
  ['an encrypted key', { certificate, privateKey: createEncryptedKey() }, '/privateKey',
    /is encrypted.*openssl pkey -in key.pem -out plain-key.pem$/],
  ['an encrypted key of the old form', {
    certificate, privateKey: '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAA==\n'
      + '-----END RSA PRIVATE KEY-----\n',
  }, '/privateKey', /is encrypted/],
  ['a key beside the certificate', { certificate: certificate + privateKey, privateKey },
    '/certificate', /belongs into privateKey/],
  ['a certificate in place of the key', { certificate, privateKey: certificate }, '/privateKey',
    /this is a certificate, not a key$/],
  ['a key in place of the certificate', { certificate: privateKey, privateKey }, '/certificate',
    /this is a key, not a certificate$/],
  ['a key beside a certificate', { certificate, privateKey: certificate + privateKey },
    '/privateKey', /there is more in it than one key/],
  ['a request beside the certificate', {
    certificate: `${certificate}-----BEGIN CERTIFICATE REQUEST-----\nAA==\n`
      + '-----END CERTIFICATE REQUEST-----\n', privateKey,
  }, '/certificate', /there is something else than certificates in it/],
  ['a cut certificate', { certificate: certificate.slice(0, 100), privateKey }, '/certificate',
    /there is no `-----BEGIN CERTIFICATE-----` with its end/],
  ['a damaged certificate of a chain', {
    certificate: `${certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    privateKey,
  }, '/certificate', /certificate 2 of 2 cannot be read/],
  ['no key', { certificate }, '/privateKey', /is required/],
  ['no certificate', { privateKey }, '/certificate', /is required/],
  ['null for a key', { certificate, privateKey: null }, '/privateKey', /is required/],
  ['null for a certificate', { certificate: null, privateKey }, '/certificate', /is required/],
];
for (const [title, pair, pointer, detail] of REFUSALS) {
  test(`${title} is refused`, async () => {
    assertRefused(await add(pair), `/clientCertificate${pointer}`, detail);
  });
}

test('a target is shown the certificate, and the next delivery a changed one', async (context) => {
  const names: (string | null)[] = [];
  const target = await startServer({
    certificate: createCertificate(), clientCertificates: {},
    onRequest({ socket }) {
      names.push(clientNameOf(socket));
      socket.write(answer());
    },
  });
  const place = await startRelayFor(context, { client: { verify: false } });
  context.after(() => target.close());
  place.webhooks.start();
  const added = await place.ask('POST', PATH, {
    targetUrl: target.url(), triggerEvent: 'x', clientCertificate: { certificate, privateKey },
  });
  const path = `${PATH}/${String(added.json['identifier'])}`;
  await place.ask('POST', '/api/events', { name: 'x', payload: {} });
  await turnsUntil(() => names.length === 1);
  await place.ask('PATCH', path,
    { clientCertificate: { certificate: OTHER.cert, privateKey: OTHER.key } });
  await place.ask('POST', `${path}/send`);
  await place.ask('PATCH', path, { clientCertificate: null });
  await place.ask('POST', `${path}/send`);
  assert.deepEqual(names, ['us', 'other', null]);
  for (const line of place.logLines) assert.ok(!line.includes('BEGIN'), line);
});
