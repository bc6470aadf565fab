/** Says what is wrong with certificates and keys in PEM, in place of the words of OpenSSL. */
import { messageOf } from '../errors.ts';
import { loadCrypto, loadTls } from '../node-modules.ts';
import { listPemBlocks, type PemBlock } from './pem.ts';

/** A header of the encrypted keys that OpenSSL wrote before PKCS #8 (RFC 1421 §4.6.1.1). */
const ENCRYPTED_HEADER = 'Proc-Type: 4,ENCRYPTED';
const ENCRYPTED_KEY = 'ENCRYPTED PRIVATE KEY';

export function isCertificateLabel(label: string): boolean {
  return label.endsWith('CERTIFICATE');
}

export function isKeyLabel(label: string): boolean {
  return label.endsWith('PRIVATE KEY');
}

/** Returns a sentence; null for a text with a certificate or more, whatever else it holds. */
export function findCertificateProblem(text: string): string | null {
  const blocks = listPemBlocks(text);
  const certificates = blocks.filter(({ label }) => isCertificateLabel(label));
  if (certificates.length === 0) {
    return describeOther(blocks[0], 'a certificate') ?? 'there is no '
      + '`-----BEGIN CERTIFICATE-----` with its end; of a file in DER openssl x509 -inform der '
      + 'makes PEM';
  }
  const { X509Certificate } = loadCrypto();
  const index =
    certificates.findIndex((block) => !isReadable(() => new X509Certificate(block.text)));
  return index === -1 ? null : `certificate ${index + 1} of ${certificates.length} cannot be read`;
}

/** Returns a sentence, or null for a text with a key; `path` is its file, for a mending command. */
export function findKeyProblem(text: string, path = 'key.pem'): string | null {
  const blocks = listPemBlocks(text);
  const [key, another] = blocks.filter(({ label }) => isKeyLabel(label));
  if (key === undefined) {
    return describeOther(blocks[0], 'a key') ?? 'there is no '
      + '`-----BEGIN PRIVATE KEY-----` with its end; of a file in DER openssl pkey -inform der '
      + 'makes PEM';
  }
  if (another !== undefined) return 'there is more in it than one key';
  if (key.label === ENCRYPTED_KEY || key.text.includes(ENCRYPTED_HEADER)) {
    return 'the key is encrypted, and no passphrase is kept for it. Write it without one: '
      + `openssl pkey -in ${path} -out plain-key.pem`;
  }
  return isReadable(() => loadCrypto().createPrivateKey(key.text)) ? null : 'it cannot be read';
}

/**
 * Says why a certificate and a key, each without a problem, cannot be used together; null if they
 * can. A secure context accepts an EC key with an RSA certificate; then every handshake fails.
 */
export function findPairProblem(certificate: string, key: string): string | null {
  const { X509Certificate, createPrivateKey } = loadCrypto();
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    return 'is not the key of the certificate: the first certificate must be its own, and those of '
      + 'the issuers follow';
  }
  try {
    loadTls().createSecureContext({ cert: certificate, key });
    return null;
  } catch (thrown) {
    // A key may be too short, for example. The messages of OpenSSL hold nothing of the key.
    return `cannot be used with its certificate: ${messageOf(thrown)}`;
  }
}

/** Says which block a text begins with in place of the expected one; null if it has no block. */
function describeOther(block: PemBlock | undefined, expected: string): string | null {
  if (block === undefined) return null;
  const { label } = block;
  if (isKeyLabel(label)) return `this is a key, not ${expected}`;
  return isCertificateLabel(label) ? `this is a certificate, not ${expected}`
    : `this is a ${label.toLowerCase()}, not ${expected}`;
}

function isReadable(read: () => object): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
