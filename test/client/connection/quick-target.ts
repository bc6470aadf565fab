/**
 * A process with an https target and a proxy that leads to it. It answers while the client, in a
 * process of its own, is still in the turn of the loop in which it sent its request. The body of an
 * answer is the number of the connection that it came over.
 */
import { startProxy } from '../../support/proxy.ts';
import { answer, startServer } from '../../support/servers.ts';
import { createCertificate } from '../../support/tls.ts';

const target = await startServer({
  certificate: createCertificate(),
  onRequest: ({ socket, connection }) => socket.write(answer(200, String(connection))),
});
const proxy = await startProxy();
process.stdout.write(`${target.url()} ${proxy.url()}\n`);
