import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { PendingConnection } from '../../../src/client/connection/pending-connection.ts';
import { startTls, type SessionSlot } from '../../../src/client/connection/tls.ts';
import { startServer } from '../../support/servers.ts';
import { createCertificate } from '../../support/tls.ts';

test('a session is lent until a handshake with it fails', async (context) => {
  const server = await startServer({ certificate: createCertificate() });
  const broken = await startServer({
    onConnection: (socket) => socket.once('data', () => socket.destroy()),
  });
  context.after(() => Promise.all([server.close(), broken.close()]));
  const slot: SessionSlot = { session: null };
  const options = { verifiesCertificates: false, secureContext: createSecureContext() };
  const startTlsTo = (port: number): ReturnType<typeof startTls> => startTls(
    new PendingConnection(systemClock), connect(port, '127.0.0.1'), 'localhost', options, slot);
  const first = await startTlsTo(server.port);
  if (slot.session === null) await once(first, 'session');
  const second = await startTlsTo(server.port);
  assert.ok(second.isSessionReused());
  await assert.rejects(startTlsTo(broken.port));
  assert.equal(slot.session, null);
});
