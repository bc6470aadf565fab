/** TLS over a socket that is connected already, directly or through a proxy. */
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { loadTls } from '../../base/node-modules.ts';
import { NetworkError } from '../network-error.ts';
import type { PendingConnection } from './pending-connection.ts';

export type TlsOptions = {
  /** False: every certificate is accepted. */
  readonly verifiesCertificates: boolean;
  readonly secureContext: SecureContext;
};

/** The session that the next connection resumes, so that it needs no full handshake. */
export type SessionSlot = { session: Buffer | null };

/**
 * Resolves when TLS is set up. Rejects with NetworkError `certificate` when the peer's certificate
 * is refused, and with other errors as node:tls has them. `slot` lends and receives the session.
 */
export function startTls(
  pending: PendingConnection, socket: Socket, hostname: string, tls: TlsOptions, slot: SessionSlot,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const tlsSocket = loadTls().connect({
      socket,
      host: hostname,
      // Server names are names (RFC 6066 §3); the certificate is still checked against `host`.
      servername: isIP(hostname) === 0 ? hostname : '',
      secureContext: tls.secureContext,
      rejectUnauthorized: tls.verifiesCertificates,
      ALPNProtocols: ['http/1.1'],
      ...slot.session === null ? {} : { session: slot.session },
    });
    pending.own(tlsSocket);
    const onError = (error: Error): void => {
      // The session may be the reason, so it is not offered again.
      slot.session = null;
      // node:tls sets `authorizationError` only when it refuses the certificate.
      const isCertificate = Boolean(tlsSocket.authorizationError);
      reject(isCertificate ? certificateError(error) : error);
    };
    const onClose = (): void => onError(new Error('the connection was closed'));
    tlsSocket.once('error', onError);
    tlsSocket.once('close', onClose);
    tlsSocket.on('session', (session: Buffer) => {
      slot.session = session;
    });
    tlsSocket.once('secureConnect', () => {
      tlsSocket.off('error', onError);
      tlsSocket.off('close', onClose);
      resolve(tlsSocket);
    });
  });
}

function certificateError(error: Error): NetworkError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'ECERTIFICATE';
  return new NetworkError('certificate', code, 'the certificate was refused', { cause: error });
}
