/** Certificates that the client shows to targets: to whom, and on which connections. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientCertificate } from '../../src/client/client-certificate.ts';
import { startProxy } from '../support/proxy.ts';
import { answer, clientNameOf, startServer, type Received } from '../support/servers.ts';
import { createCertificate } from '../support/tls.ts';
import { failure, setUp } from './setup.ts';

function createClientCertificate(name: string): ClientCertificate {
  const { cert, key } = createCertificate([name]);
  return { certificate: cert, privateKey: key };
}

/** Answers with the number of the connection and the name in the certificate shown on it. */
function answerWithClient({ socket, connection }: Received): void {
  socket.write(answer(200, `${connection} ${clientNameOf(socket)}`));
}

const PATHS = [
  { title: 'directly', proxyCertificate: null },
  { title: 'through the tunnel of a proxy', proxyCertificate: undefined },
  { title: 'through the tunnel of a proxy with TLS', proxyCertificate: createCertificate() },
] as const;
for (const { title, proxyCertificate } of PATHS) {
  test(`a target is shown the certificate ${title}, and a proxy is not`, async (context) => {
    const server = await startServer({
      certificate: createCertificate(), clientCertificates: {}, onRequest: answerWithClient,
    });
    const proxy = proxyCertificate === null ? null : await startProxy({
      asksForCertificate: true,
      ...proxyCertificate === undefined ? {} : { certificate: proxyCertificate },
    });
    const servers = proxy === null ? [server] : [server, proxy];
    const { client } = setUp(context, servers, { verify: false, proxy: proxy?.url() ?? null });
    const clientCertificate = createClientCertificate('us');
    const { body } = await client.request({ method: 'GET', url: server.url(), clientCertificate });
    assert.equal(String(body), '1 us');
    assert.deepEqual(proxy?.clientNames ?? [], proxyCertificate ? [null] : []);
  });
}

test('connections are never shared between certificates, nor with requests without one',
  async (context) => {
    const server = await startServer({
      certificate: createCertificate(), clientCertificates: {}, onRequest: answerWithClient,
    });
    const { client } = setUp(context, [server], { verify: false });
    const [one, two] = [createClientCertificate('one'), createClientCertificate('two')];
    const sameName = createClientCertificate('one');
    const seen: string[] = [];
    for (const clientCertificate of [one, two, undefined, sameName, one, { ...one }, two]) {
      const request = { method: 'GET', url: server.url(), clientCertificate };
      seen.push(String((await client.request(request)).body));
    }
    assert.deepEqual(seen,
      ['1 one', '2 two', '3 null', '4 one', '1 one', '1 one', '2 two']);
  });

test('a target that takes one certificate alone refuses all others', async (context) => {
  const known = createClientCertificate('known');
  const server = await startServer({
    certificate: createCertificate(), clientCertificates: { authority: known.certificate },
    onRequest: answerWithClient,
  });
  const { client } = setUp(context, [server], { verify: false });
  const request = { method: 'GET', url: server.url() };
  for (const clientCertificate of [undefined, createClientCertificate('stranger')]) {
    const { kind, code, message } = await failure(client, { ...request, clientCertificate });
    assert.equal(kind, 'network', code);
    if (clientCertificate !== undefined) continue;
    assert.match(message, /^the server wants a client certificate \(.*CERTIFICATE_REQUIRED\)$/);
  }
  const { statusCode } = await client.request({ ...request, clientCertificate: known });
  assert.equal(statusCode, 200);
});

test('a target without TLS gets no certificate', async (context) => {
  const server = await startServer({
    onRequest: ({ socket, connection }) => socket.write(answer(200, String(connection))),
  });
  const { client } = setUp(context, [server]);
  for (const clientCertificate of [createClientCertificate('us'), undefined]) {
    const { body } = await client.request({ method: 'GET', url: server.url(), clientCertificate });
    assert.equal(String(body), '1');
  }
});
