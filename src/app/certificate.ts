/** Reads and checks the TLS certificate that the settings name, and tells how long it is valid. */
import { loadCrypto } from '../base/node-modules.ts';
import { readCertificateWithKey } from '../base/pem-file.ts';
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

/** null when the settings name none. Throws `usage`. */
export function readCertificate({ server: { tlsCert, tlsKey } }: Settings): Certificate | null {
  if (tlsCert === null || tlsKey === null) return null;
  return readCertificateWithKey(
    { name: 'server.tlsCert', path: tlsCert }, { name: 'server.tlsKey', path: tlsKey });
}
