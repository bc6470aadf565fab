/**
 * Certificates made on the spot, so that no test needs a program or a file: an X.509 v3 certificate
 * (RFC 5280 §4.1), self-signed with ECDSA P-256, written in DER by hand.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

export type Certificate = { readonly key: string; readonly cert: string };

const DAY_MS = 24 * 60 * 60 * 1000;
const OID_COMMON_NAME = [0x55, 0x04, 0x03];
const OID_SUBJECT_ALT_NAME = [0x55, 0x1d, 0x11];
const OID_ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];

/** A certificate for `names`, host names and addresses alike, valid for `days` around now. */
export function createCertificate(
  names: readonly string[] = ['localhost', '127.0.0.1', '::1'],
  { fromDays = -1, toDays = 1 }: { fromDays?: number; toDays?: number } = {},
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(OID_ECDSA_WITH_SHA256));
  const name = sequence(der(0x31, sequence(oid(OID_COMMON_NAME), der(0x0c, text(names[0] ?? '')))));
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)]);
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    name,
    sequence(time(fromDays), time(toDays)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAltName(names))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, privateKey)]);
  const certificate = sequence(toBeSigned, algorithm, der(0x03, signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(certificate),
  };
}

export function createEncryptedKey(): string {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256', publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey;
}

function subjectAltName(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    isIP(name) === 0 ? der(0x82, text(name)) : der(0x87, addressBytes(name)));
  return sequence(oid(OID_SUBJECT_ALT_NAME), der(0x04, sequence(...entries)));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  if (address !== '::1') throw new Error('of IPv6, only ::1 is needed');
  return Buffer.from([...Array.from({ length: 15 }, () => 0), 1]);
}

function time(days: number): Buffer {
  const iso = new Date(Date.now() + days * DAY_MS).toISOString();
  return der(0x18, text(`${iso.slice(0, 19).replace(/[-:T]/g, '')}Z`));
}

function sequence(...members: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(members));
}

function oid(bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  // The shortest form: Go takes no other.
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
