/** Client credentials and certificates in configuration documents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCertificate } from '../../support/tls.ts';
import { startRelayFor } from '../relay.ts';

const PATH = '/api/configuration';

test('secrets and keys are exported as references, the rest as it is, and an apply keeps all',
  async (context) => {
    const relay = await startRelayFor(context);
    const { cert: certificate, key: privateKey } = createCertificate(['us']);
    const webhook = {
      name: 'bank', targetUrl: 'https://bank.example/',
      oauth2: {
        tokenUrl: 'https://login.example/token', clientId: 'id', clientSecret: 'planted',
        clientAuthentication: 'body',
      },
      clientCertificate: { certificate, privateKey },
    };
    const added = await relay.ask('POST', '/api/outgoing-webhooks', webhook);
    assert.equal(added.status, 201, added.text);
    const { json, text } = await relay.ask('GET', PATH);
    assert.ok(!/planted|PRIVATE KEY/.test(text), text);
    assert.deepEqual(json['outgoingWebhooks'], [{
      ...webhook,
      oauth2: { ...webhook.oauth2, clientSecret: { $env: 'BANK_CLIENT_SECRET' } },
      clientCertificate: { certificate, privateKey: { $env: 'BANK_PRIVATE_KEY' } },
    }]);
    const applied = await relay.ask('PUT', PATH, { outgoingWebhooks: [webhook] });
    assert.deepEqual(applied.json, { changes: [], unchanged: 1 });
    const other = { ...webhook, oauth2: { ...webhook.oauth2, clientSecret: 'another' } };
    const changed = await relay.ask('PUT', PATH, { outgoingWebhooks: [other] });
    assert.deepEqual(changed.json, { unchanged: 0, changes: [
      {
        sign: '~', kind: 'outgoing webhook', name: 'bank', members: ['oauth2'],
        details: ['oauth2: { "tokenUrl": "https://login.example/token", "clientId": "id", '
          + '"clientSecret": "***", "clientAuthentication": "body" }, with another value that is '
          + 'not shown'],
      },
    ] });
  });

test('a document says credentials whole: what it leaves out is not kept', async (context) => {
  const relay = await startRelayFor(context);
  const { cert: certificate, key: privateKey } = createCertificate(['us']);
  const oauth2 = { tokenUrl: 'https://login.example/token', clientId: 'id' };
  const webhook = {
    name: 'bank', targetUrl: 'https://bank.example/',
    oauth2: { ...oauth2, clientSecret: 'planted' }, clientCertificate: { certificate, privateKey },
  };
  await relay.ask('POST', '/api/outgoing-webhooks', webhook);
  const { status, json } = await relay.ask('PUT', PATH, { outgoingWebhooks: [
    { ...webhook, oauth2, clientCertificate: { certificate } },
  ] });
  assert.equal(status, 422);
  const errors = json['errors'] as readonly { readonly pointer: string }[];
  assert.deepEqual(errors.map(({ pointer }) => pointer), [
    '/outgoingWebhooks/0/oauth2/clientSecret',
    '/outgoingWebhooks/0/clientCertificate/privateKey',
  ]);
});
