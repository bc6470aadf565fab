/** Token servers and targets that are slow, fail and rotate, under load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { IS_LONG } from '../../../support/long.ts';
import { answer, clientNameOf, startServer } from '../../../support/servers.ts';
import { createCertificate } from '../../../support/tls.ts';
import { turnsUntil } from '../../../support/turns.ts';
import { startRelayFor } from '../../relay.ts';
import { headerOf, respond, startTokenServer } from './token-server.ts';

const WEBHOOKS = '/api/outgoing-webhooks';
const DELIVERIES = IS_LONG ? 200 : 20;
const REQUESTS_PER_TOKEN = 15;

test('every event arrives, with revoked tokens and a slow and failing server', async (context) => {
  const tokenServer = await startTokenServer();
  let valid = '';
  let uses = 0;
  let rotations = 0;
  const arrived = new Set<string>();
  const target = await startServer({
    onRequest(received) {
      const isValid = headerOf(received, 'authorization') === `Bearer ${valid}`;
      if (isValid) {
        arrived.add(String(received.body));
        uses += 1;
        if (uses % REQUESTS_PER_TOKEN === 0) {
          valid = '';
          rotations += 1;
        }
      }
      respond(received, isValid ? 200 : 401, '');
    },
  });
  // Of four requests for a token one fails; each takes a while, in which many others wait.
  let asked = 0;
  for (let count = 0; count < DELIVERIES; count += 1) {
    tokenServer.plan.push((received) => setTimeout(() => {
      asked += 1;
      if (asked % 4 === 0) return respond(received, 503, '');
      valid = `planted-${asked}`;
      respond(received, 200, { access_token: valid, expires_in: 3600 });
    }, 5));
  }
  const relay = await startRelayFor(context, {
    outgoing: { retrySchedule: Array.from({ length: 50 }, () => 0.001), maxInFlightPerHook: 30 },
  });
  context.after(() => Promise.all([tokenServer.close(), target.close()]));
  relay.webhooks.start();
  const { status, text } = await relay.ask('POST', WEBHOOKS, {
    targetUrl: target.url('/in'), triggerEvent: 'x',
    oauth2: { tokenUrl: tokenServer.url, clientId: 'id', clientSecret: 'planted-secret' },
  });
  assert.equal(status, 201, text);
  for (let count = 0; count < DELIVERIES; count += 1) {
    await relay.ask('POST', '/api/events', { name: 'x', payload: { count } });
  }
  await turnsUntil(() => relay.webhooks.deliveries.totals().delivered === DELIVERIES);
  assert.equal(arrived.size, DELIVERIES);
  // Each revocation costs one token; a failure of the server, and a token that is revoked while
  // others still wait to use it, another.
  assert.ok(rotations >= DELIVERIES / 20 && asked <= 6 * rotations, `${asked} for ${rotations}`);
  const list = await relay.ask('GET', '/api/deliveries?limit=1000');
  for (const line of [...relay.logLines, list.text]) assert.ok(!line.includes('planted'), line);
});

test('a target that wants another certificate gets it with the next delivery', async (context) => {
  const [old, renewed] = [createCertificate(['old']), createCertificate(['renewed'])];
  const own = createCertificate();
  const names: (string | null)[] = [];
  const sockets = new Set<Socket>();
  const target = createTlsServer({ ...own, requestCert: true, ca: old.cert });
  target.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  target.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      names.push(clientNameOf(socket));
      socket.end(answer(200, 'ok', ['Connection: close']));
    });
  });
  await once(target.listen(0, '127.0.0.1'), 'listening');
  const relay = await startRelayFor(context, { client: { verify: false } });
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    target.close();
  });
  const { json } = await relay.ask('POST', WEBHOOKS, {
    targetUrl: `https://127.0.0.1:${(target.address() as AddressInfo).port}/`,
    clientCertificate: { certificate: old.cert, privateKey: old.key },
  });
  const path = `${WEBHOOKS}/${String(json['identifier'])}`;
  const send = async (): Promise<boolean> =>
    (await relay.ask('POST', `${path}/send`)).json['success'] === true;
  assert.ok(await send());
  target.setSecureContext({ ...own, ca: renewed.cert });
  assert.ok(!await send());
  await relay.ask('PATCH', path,
    { clientCertificate: { certificate: renewed.cert, privateKey: renewed.key } });
  assert.ok(await send());
  assert.deepEqual(names, ['old', 'renewed']);
});

test('a handshake without end holds an attempt no longer than its time limit', async (context) => {
  const target = await startServer();
  const relay = await startRelayFor(context, { outgoing: { retrySchedule: [] } });
  context.after(() => target.close());
  relay.webhooks.start();
  const { cert: certificate, key: privateKey } = createCertificate(['us']);
  await relay.ask('POST', WEBHOOKS, {
    targetUrl: target.url().replace('http:', 'https:'), triggerEvent: 'x', timeout: 0.1,
    clientCertificate: { certificate, privateKey },
  });
  const { json } = await relay.ask('POST', '/api/events', { name: 'x', payload: {} });
  await turnsUntil(() => relay.webhooks.deliveries.totals().failed === 1);
  const [id = ''] = json['deliveries'] as readonly string[];
  const shown = await relay.ask('GET', `/api/deliveries/${id}`);
  const attempts = shown.json['attempts'] as readonly { readonly error: string }[];
  assert.deepEqual(attempts.map(({ error }) => error), ['ETIMEDOUT']);
});
