/**
 * The member `clientCertificate` of an outgoing webhook: the certificate for its target over TLS,
 * and the key. Both are stored as PEM and never shown; people see the subject, the issuer and the
 * last day of the certificate.
 */
import { formatTimestamp } from '../../base/clock.ts';
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import type { JsonObject, StringSchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf } from '../../base/schema-types.ts';
import { RecentValues } from '../../base/structures/recent-values.ts';
import {
  findCertificateProblem, findKeyProblem, findPairProblem, isCertificateLabel, isKeyLabel,
} from '../../base/text/pem-problems.ts';
import { listPemBlocks, type PemBlock } from '../../base/text/pem.ts';

const PEM_LENGTH_MAX = 64 * 1024;
/** People are warned so long before the end of a certificate. */
const WARNING_MS = 30 * 86_400_000;
const CERTIFICATE = 'CERTIFICATE';
/** The curve of an EC key, which `openssl ecparam -genkey` writes before the key. */
const EC_PARAMETERS = 'EC PARAMETERS';

export const clientCertificateSchema = describeObject({
  kind: 'object',
  name: 'ClientCertificate',
  members: {
    certificate: {
      schema: pemSchema('certificates in PEM', findChainProblem, (text) =>
        listPemBlocks(text)), isWriteOnly: true,
      description: 'The certificate in PEM, those of its issuers after it. Never shown',
      form: { field: 'lines' },
    },
    privateKey: {
      schema: pemSchema('a private key in PEM', findLoneKeyProblem, (text) =>
        listPemBlocks(text).filter(({ label }) => isKeyLabel(label))), isWriteOnly: true,
      isSecret: true,
      label: 'Key', form: { field: 'lines' },
      description: 'PEM, not encrypted. Never shown. Both left out of a change stay',
    },
    subject: { schema: { kind: 'string' }, readOnly: 'ignored', description: 'Whose it is' },
    issuer: { schema: { kind: 'string' }, readOnly: 'ignored', description: 'Who has signed it' },
    notAfter: {
      schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored',
      description: 'When it ends. RFC 3339, UTC, milliseconds',
    },
  },
  check: findPairProblems,
});

type PublicClientCertificate = AnswerOf<typeof clientCertificateSchema>;

/** `findProblem` returns a clause after "must be …". */
function pemSchema(
  mustBe: string, findProblem: (text: string) => string | null,
  selectBlocks: (text: string) => readonly PemBlock[],
): StringSchema {
  return {
    kind: 'string', maxLength: PEM_LENGTH_MAX, mustBe,
    canonical: (text) => findProblem(text) === null
      ? selectBlocks(text).map((block) => block.text).join('') : null,
    explain: (text) => `must be ${mustBe}: ${findProblem(text) ?? ''}`,
  };
}

/** A key in the chain would be stored where nobody expects it. */
function findChainProblem(text: string): string | null {
  const labels = listPemBlocks(text).map(({ label }) => label);
  if (!labels.some(isCertificateLabel) || labels.every((label) => label === CERTIFICATE)) {
    return findCertificateProblem(text);
  }
  return labels.some(isKeyLabel) ? 'the key in it belongs into privateKey'
    : 'there is something else than certificates in it';
}

function findLoneKeyProblem(text: string): string | null {
  const labels = listPemBlocks(text).map(({ label }) => label);
  const others = labels.filter((label) => !isKeyLabel(label) && label !== EC_PARAMETERS);
  return labels.length > others.length && others.length > 0 ? 'there is more in it than one key'
    : findKeyProblem(text);
}

/** Handshakes fail unless both fit together. */
function findPairProblems(
  { certificate, privateKey }: JsonObject, input: JsonObject,
): FieldError[] {
  const missing = ['certificate', 'privateKey'].filter((name) => (input[name] ?? null) === null);
  if (missing.length > 0) {
    return missing.map((name) => ({ pointer: `/${name}`, detail: 'is required' }));
  }
  if (typeof certificate !== 'string' || typeof privateKey !== 'string') return [];
  const problem = findPairProblem(certificate, privateKey);
  return problem === null ? [] : [{ pointer: '/privateKey', detail: problem }];
}

/** A sentence for each shown webhook whose certificate ends within 30 days. */
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
/** By certificate: a list shows every webhook, and reading a certificate takes long. */
const descriptions = new RecentValues<PublicClientCertificate>(DESCRIPTIONS_MAX);

export function describeCertificate(certificate: string): PublicClientCertificate {
  return descriptions.use(certificate, () => {
    const { X509Certificate } = loadCrypto();
    const { subject, issuer, validTo } = new X509Certificate(certificate);
    return {
      subject: formatName(subject), issuer: formatName(issuer),
      notAfter: formatTimestamp(Date.parse(validTo)),
    };
  });
}

/** Node has a line for each part of a name: `C=AT`, `CN=us`. */
function formatName(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ');
}
