/** Reads and checks the TLS certificate that the settings name, and tells how long it is valid. */
import { AppError, messageOf } from '../base/errors.ts';
import { CONFIGURATION_BYTES_MAX, readBounded } from '../base/files/bounded-read.ts';
import { loadCrypto, loadTls } from '../base/node-modules.ts';
import type { Certificate } from '../server/listening/listener.ts';
import type { Settings } from '../settings/load-settings.ts';

const DAY_MS = 86_400_000;
/** Most renew 30 days before the end or earlier: with less left, a renewal has probably failed. */
const WARNING_MS = 30 * DAY_MS;

export const RENEWAL_HINT = 'renew it, and send the server SIGHUP';

type CertificateValidity = {
  readonly expiresMs: number;
  readonly isExpired: boolean;
  /** The message for the operator, with the last day; null while more than 30 days are left. */
  readonly problem: string | null;
};

/** The validity of the first certificate in the file; those of its issuers may follow it. */
export function examineValidity({ cert }: Certificate, nowMs: number): CertificateValidity {
  const { X509Certificate } = loadCrypto();
  const expiresMs = Date.parse(new X509Certificate(cert).validTo);
  const problem = findValidityProblem(expiresMs, nowMs);
  return { expiresMs, isExpired: expiresMs <= nowMs, problem };
}

function findValidityProblem(expiresMs: number, nowMs: number): string | null {
  if (expiresMs - nowMs > WARNING_MS) return null;
  const lastDay = new Date(expiresMs).toISOString().slice(0, 10);
  return expiresMs <= nowMs ? `the certificate has expired: its last day was ${lastDay}`
    : `the certificate expires soon: its last day is ${lastDay}`;
}

/**
 * null when the settings name none. Throws `usage`, also for a pipe: it is read again on SIGHUP,
 * and a pipe would be empty then.
 */
export function readCertificate({ server: { tlsCert, tlsKey } }: Settings): Certificate | null {
  if (tlsCert === null || tlsKey === null) return null;
  const pair = {
    cert: readPem(tlsCert, 'server.tlsCert'),
    key: readPem(tlsKey, 'server.tlsKey'),
  };
  try {
    loadTls().createSecureContext(pair);
    checkKeyMatches(pair);
  } catch (thrown) {
    throw new AppError('usage', 'server.tlsCert and server.tlsKey are no certificate with its key '
      + `(${messageOf(thrown)})`, {}, thrown);
  }
  return pair;
}

/**
 * Throws when the key is not the certificate's. A secure context accepts an EC key with an RSA
 * certificate, and then every handshake fails.
 */
function checkKeyMatches({ cert, key }: { readonly cert: Buffer; readonly key: Buffer }): void {
  const { X509Certificate, createPrivateKey } = loadCrypto();
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return;
  throw new Error('the key is another one than the certificate\'s');
}

function readPem(path: string, setting: string): Buffer {
  try {
    return readBounded(path, { bytesMax: CONFIGURATION_BYTES_MAX, isRegular: true }).bytes;
  } catch (thrown) {
    throw new AppError('usage', `cannot read ${setting}: ${messageOf(thrown)}`, {}, thrown);
  }
}
