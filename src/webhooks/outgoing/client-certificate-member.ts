/**
 * The member `clientCertificate` of an outgoing webhook: the certificate that its target is shown
 * over TLS, and the key. Both are stored as PEM and never shown; what is shown of the certificate
 * is who it is of, who made it, and until when it is valid.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { messageOf, type FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { MASK } from '../../base/log.ts';
import { loadCrypto, loadTls } from '../../base/node-modules.ts';
import type { JsonObject, ObjectSchema, StringSchema } from '../../base/schema.ts';
import { RecentValues } from '../../base/structures/recent-values.ts';
import { listPemBlocks, type PemBlock } from '../../base/text/pem.ts';

/** What is shown of a certificate. */
export type PublicClientCertificate = {
  readonly subject: string;
  readonly issuer: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly notAfter: string;
};

const PEM_LENGTH_MAX = 64 * 1024;
/** As long before its end people are told of a certificate. */
const WARNING_MS = 30 * 86_400_000;
const CERTIFICATE = 'CERTIFICATE';
const KEY_LABELS = ['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY'];
const ENCRYPTED_KEY = 'ENCRYPTED PRIVATE KEY';
/** The curve of an EC key, which `openssl ecparam -genkey` writes before the key. */
const EC_PARAMETERS = 'EC PARAMETERS';
/** A header of the encrypted keys that OpenSSL wrote before PKCS #8 (RFC 1421 §4.6.1.1). */
const ENCRYPTED_HEADER = 'Proc-Type: 4,ENCRYPTED';

export const clientCertificateSchema: ObjectSchema = {
  kind: 'object',
  name: 'ClientCertificate',
  members: {
    certificate: {
      schema: pemSchema('certificates in PEM', findChainProblem, (text) =>
        listPemBlocks(text)), isWriteOnly: true,
      description: 'PEM: the certificate, and those of its issuers after it. Never shown',
    },
    privateKey: {
      schema: pemSchema('a private key in PEM', findKeyProblem, (text) =>
        listPemBlocks(text).filter(({ label }) => KEY_LABELS.includes(label))), isWriteOnly: true,
      description: 'PEM, not encrypted. Never shown. Both absent in PUT and PATCH keep the stored '
        + 'ones',
    },
    subject: { schema: { kind: 'string' }, readOnly: 'ignored', description: 'Whose it is' },
    issuer: { schema: { kind: 'string' }, readOnly: 'ignored', description: 'Who has signed it' },
    notAfter: {
      schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored',
      description: 'When it ends. RFC 3339, UTC, milliseconds',
    },
  },
  check: findPairProblems,
};

/** `findProblem` says what is wrong with a text, after "must be …". */
function pemSchema(
  description: string, findProblem: (text: string) => string | null,
  selectBlocks: (text: string) => readonly PemBlock[],
): StringSchema {
  return {
    kind: 'string', maxLength: PEM_LENGTH_MAX, description,
    canonical: (text) => findProblem(text) === null
      ? selectBlocks(text).map((block) => block.text).join('') : null,
    explain: (text) => `must be ${description}: ${findProblem(text) ?? ''}`,
  };
}

function findChainProblem(text: string): string | null {
  const blocks = listPemBlocks(text);
  if (blocks.length === 0) return 'there is no `-----BEGIN CERTIFICATE-----` with its end';
  const other = blocks.find(({ label }) => label !== CERTIFICATE);
  if (other !== undefined) {
    return other.label.endsWith('PRIVATE KEY') ? 'the key in it belongs into privateKey'
      : 'there is something else than certificates in it';
  }
  const { X509Certificate } = loadCrypto();
  const index = blocks.findIndex((block) => !isReadable(() => new X509Certificate(block.text)));
  return index === -1 ? null : `certificate ${index + 1} of ${blocks.length} cannot be read`;
}

function findKeyProblem(text: string): string | null {
  const blocks = listPemBlocks(text).filter(({ label }) => label !== EC_PARAMETERS);
  const [block, another] = blocks;
  if (block === undefined) return 'there is no `-----BEGIN PRIVATE KEY-----` with its end';
  if (another !== undefined) return 'there is more in it than one key';
  if (block.label === ENCRYPTED_KEY || block.text.includes(ENCRYPTED_HEADER)) {
    return 'it is encrypted, and no passphrase is kept for it. Write it without one: '
      + 'openssl pkey -in key.pem -out plain-key.pem';
  }
  if (block.label === CERTIFICATE) return 'it is a certificate, which belongs into certificate';
  if (!KEY_LABELS.includes(block.label)) return 'it is of another kind';
  return isReadable(() => loadCrypto().createPrivateKey(block.text)) ? null : 'it cannot be read';
}

function isReadable(read: () => object): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** Checks both together, as the handshakes would fail otherwise. */
function findPairProblems(
  { certificate, privateKey }: JsonObject, given: JsonObject,
): FieldError[] {
  const missing = ['certificate', 'privateKey'].filter((name) => (given[name] ?? null) === null);
  if (missing.length > 0) {
    return missing.map((name) => ({ pointer: `/${name}`, detail: 'is required' }));
  }
  if (typeof certificate !== 'string' || typeof privateKey !== 'string') return [];
  const { X509Certificate, createPrivateKey } = loadCrypto();
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))) {
    const detail = 'is not the key of the certificate: the first certificate must be its own, and '
      + 'those of the issuers follow';
    return [{ pointer: '/privateKey', detail }];
  }
  try {
    loadTls().createSecureContext({ cert: certificate, key: privateKey });
    return [];
  } catch (thrown) {
    // Such as a key that is too short. The messages of OpenSSL hold nothing of the key.
    return [{ pointer: '/certificate', detail: `cannot be used: ${messageOf(thrown)}` }];
  }
}

/**
 * The body with the stored certificate and key where it says nothing of them, or `***`. One of them
 * alone replaces that one.
 */
export function keepClientCertificate(
  body: JsonObject, stored: JsonObject | null,
): JsonObject {
  const { clientCertificate } = body;
  const storedPair = stored?.['clientCertificate'];
  if (!isJsonObject(clientCertificate) || !isJsonObject(storedPair)) return body;
  const given = Object.entries(clientCertificate).filter(([, value]) => value !== MASK);
  return { ...body, clientCertificate: { ...storedPair, ...Object.fromEntries(given) } };
}

/** Replaces certificate and key by what is shown of the certificate. */
export function toPublicClientCertificate(webhook: JsonObject): JsonObject {
  const { clientCertificate, ...rest } = webhook;
  if (!isJsonObject(clientCertificate)) return webhook;
  return { ...rest, clientCertificate: describe(String(clientCertificate['certificate'])) };
}

/** A sentence for each webhook, as it is shown, whose certificate ends within 30 days. */
export function findEndingCertificates(
  webhooks: readonly JsonObject[], nowMs: number,
): readonly string[] {
  return webhooks.flatMap(({ name, identifier, clientCertificate }) => {
    if (!isJsonObject(clientCertificate)) return [];
    const endMs = Date.parse(String(clientCertificate['notAfter']));
    if (endMs - nowMs > WARNING_MS) return [];
    const lastDay = new Date(endMs).toISOString().slice(0, 10);
    const verb = endMs <= nowMs ? 'has expired: its last day was' : 'expires soon: its last day is';
    return [`the client certificate of ${String(name ?? identifier)} ${verb} ${lastDay}`];
  });
}

const DESCRIPTIONS_MAX = 1000;
/** By their certificates, as a list shows every webhook, and reading one takes long. */
const descriptions = new RecentValues<PublicClientCertificate>(DESCRIPTIONS_MAX);

function describe(certificate: string): PublicClientCertificate {
  return descriptions.use(certificate, () => {
    const { X509Certificate } = loadCrypto();
    const { subject, issuer, validTo } = new X509Certificate(certificate);
    return {
      subject: formatName(subject), issuer: formatName(issuer),
      notAfter: formatTimestamp(Date.parse(validTo)),
    };
  });
}

/** Node has a name with a line for each of its parts: `C=AT`, `CN=us`. */
function formatName(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ');
}
