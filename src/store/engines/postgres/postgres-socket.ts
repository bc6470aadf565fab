/**
 * The socket of a connection to PostgreSQL, encrypted when the URL says so. TLS begins with an
 * SSLRequest of 8 bytes; the server replies with one byte, `S` or `N` (PostgreSQL's chapter "SSL
 * Session Encryption"). Nothing else is sent here, and a failure is not tried again.
 */
import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { AppError, messageOf } from '../../../base/errors.ts';
import { loadTls } from '../../../base/node-modules.ts';
import { readCertificates } from '../../../base/pem-file.ts';
import { formatHost } from './postgres-url.ts';
import type { PostgresAddress, PostgresHost, PostgresTls } from './postgres-url.ts';

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const KEEP_ALIVE_MS = 10_000;
/** Longest time until the socket is there, and until the server replies to a first statement. */
export const CONNECT_MS_MAX = 5000;

/** Throws `unavailable`, or `usage` for files that cannot be read. */
export async function openSocket(
  { tls }: PostgresAddress, postgresHost: PostgresHost,
): Promise<Socket> {
  const tlsOptions = tls === null ? null : createTlsOptions(tls, postgresHost.host);
  const { host, port } = postgresHost;
  const socket = host.startsWith('/')
    ? connect({ path: `${host}/.s.PGSQL.${port}` }) : connect({ host, port });
  let tlsSocket: TLSSocket | null = null;
  const timer = setTimeout(() => {
    (tlsSocket ?? socket).destroy(new Error(`no answer in ${CONNECT_MS_MAX / 1000} s`));
  }, CONNECT_MS_MAX);
  try {
    await once(socket, 'connect');
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (tlsOptions === null) return socket;
    await requestTls(socket);
    tlsSocket = loadTls().connect({ ...tlsOptions, socket });
    await once(tlsSocket, 'secureConnect');
    return tlsSocket;
  } catch (thrown) {
    (tlsSocket ?? socket).destroy();
    if (thrown instanceof AppError) throw thrown;
    const isCertificate = Boolean(tlsSocket?.authorizationError);
    throw new AppError('unavailable', `cannot reach PostgreSQL at ${formatHost(postgresHost)}: `
      + (isCertificate ? `its certificate is refused (${messageOf(thrown)}); is sslrootcert the `
        + 'authority that signed it, and is the host in the URL the one it names?'
        : messageOf(thrown)), {}, thrown);
  } finally {
    clearTimeout(timer);
  }
}

async function requestTls(socket: Socket): Promise<void> {
  socket.write(SSL_REQUEST);
  const reply = await new Promise<Buffer>((resolve, reject) => {
    const onClose = (): void => reject(new Error('the connection was closed'));
    socket.once('data', (bytes) => {
      socket.pause();
      socket.off('close', onClose);
      resolve(bytes);
    });
    socket.once('error', reject);
    socket.once('close', onClose);
  });
  // Further bytes would have been injected by somebody before the encryption.
  if (reply.length === 1 && reply[0] === 'S'.charCodeAt(0)) return;
  throw new AppError('misconfigured', 'this PostgreSQL server offers no TLS: set ssl = on in '
    + 'postgresql.conf, or say sslmode=disable in the URL on a network that you trust');
}

function createTlsOptions(
  { verifies, authorities }: PostgresTls, host: string,
): ConnectionOptions {
  return {
    host,
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: verifies !== 'none',
    ...authorities === null ? {} : {
      ca: readCertificates({ name: 'sslrootcert of the PostgreSQL URL', path: authorities }),
    },
    ...verifies === 'chain' ? { checkServerIdentity: () => undefined } : {},
  };
}
