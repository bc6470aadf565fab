/** Reads and checks the TLS certificate that the settings name, and tells how long it is valid. */
import { loadCrypto } from '../base/node-modules.ts';
import { readCertificateWithKey } from '../base/pem-file.ts';
import type { Certificate } from '../server/listening/listener.ts';
import type { Settings } from '../settings/load-settings.ts';

const DAY_MS = 86_400_000;
/** Most renew 30 days before the end or earlier: with less left, a renewal has probably failed. */
const WARNING_MS = 30 * DAY_MS;

export const RENEWAL_HINT = 'renew it, and send the server SIGHUP';

/** The end of the first certificate in the file; those of its issuers may follow it. */
export function readExpiryMs({ cert }: Certificate): number {
  const { X509Certificate } = loadCrypto();
  return Date.parse(new X509Certificate(cert).validTo);
}

type CertificateValidity = {
  readonly isExpired: boolean;
  /** Whole days; below 0 once it has expired. */
  readonly daysLeft: number;
  /** The message for the operator, with the last day; null while more than 30 days are left. */
  readonly problem: string | null;
};

export function examineValidity(expiresMs: number, nowMs: number): CertificateValidity {
  const leftMs = expiresMs - nowMs;
  const validity = { isExpired: leftMs <= 0, daysLeft: Math.floor(leftMs / DAY_MS) };
  if (leftMs > WARNING_MS) return { ...validity, problem: null };
  const lastDay = new Date(expiresMs).toISOString().slice(0, 10);
  return { ...validity, problem: validity.isExpired
    ? `the certificate has expired: its last day was ${lastDay}`
    : `the certificate expires soon: its last day is ${lastDay}, ${inDays(validity.daysLeft)}` };
}

function inDays(days: number): string {
  if (days === 0) return 'in less than a day';
  return days === 1 ? 'in a day' : `in ${days} days`;
}

/** null when the settings name none. Throws `usage`. */
export function readCertificate({ server: { tlsCert, tlsKey } }: Settings): Certificate | null {
  if (tlsCert === null || tlsKey === null) return null;
  return readCertificateWithKey(
    { name: 'server.tlsCert', path: tlsCert }, { name: 'server.tlsKey', path: tlsKey });
}
