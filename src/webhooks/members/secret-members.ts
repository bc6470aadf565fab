/**
 * The members for the secret of a webhook, which is stored and never shown, and new secrets in the
 * shape that the sender of the requests needs.
 */
import { loadCrypto } from '../../base/node-modules.ts';
import type { MemberSchemas, StringSchema } from '../../base/schema.ts';

/** Long enough for a certificate or a private key in PEM. */
export const SECRET_BYTES_MAX = 8192;
/** Refuses `…`, which examples have for a secret: pasted as it is, it would be one all know. */
export const secretText = {
  kind: 'string', minLength: 1, mustBe: 'the secret itself',
  canonical: (value: string) => value === '…' ? null : value,
} as const satisfies StringSchema;
export const secretSchema: StringSchema = { ...secretText, bytesMax: SECRET_BYTES_MAX };

/** How a secret is changed, after what it is for. */
export const SECRET_RULE = 'It is never shown. A change without it leaves it; null removes it';
/** The same in forms. */
export const SECRET_HINT = 'It is never shown. Left empty, it stays as it is';
const PURPOSE = 'Requests are signed with it.';

export const secretMembers = {
  secret: {
    schema: secretSchema, isWriteOnly: true, isSecret: true,
    description: `${PURPOSE} ${SECRET_RULE}`, form: { hint: `${PURPOSE} ${SECRET_HINT}` },
    option: [
      {}, { name: 'generate-secret', isFlag: true, help: 'make a secret, and print it this once' },
    ],
  },
  hasSecret: {
    schema: { kind: 'boolean' }, readOnly: 'ignored', description: 'Whether a secret is stored',
  },
} as const satisfies MemberSchemas;

/**
 * `hex`: 64 hexadecimal digits; `base64`: 32 bytes of base64; `whsec`: the same after `whsec_`;
 * `whsk`: the same after `whsk_`, the seed of an Ed25519 key;
 * `user:password`: for HTTP Basic, with `hex` as the password.
 */
export type SecretShape = 'hex' | 'base64' | 'whsec' | 'whsk' | 'user:password';

/** The shape for a webhook, or why none can be made here, such as `is needed: …`. */
export type SecretShapeChoice =
  | { readonly shape: SecretShape; readonly problem?: undefined }
  | { readonly problem: string };

// 256 bits, the output length of HMAC-SHA256 (RFC 2104 §3 advises no less).
const SECRET_BYTES = 32;
const USER = 'hookshelf';

export function createSecretBytes(): Buffer {
  return loadCrypto().randomBytes(SECRET_BYTES);
}

/** `current` is the secret that is replaced. Its user stays, as only the password changes. */
export function encodeSecret(shape: SecretShape, bytes: Buffer, current = ''): string {
  switch (shape) {
    case 'hex': return bytes.toString('hex');
    case 'base64': return bytes.toString('base64');
    case 'whsec': case 'whsk': return `${shape}_${bytes.toString('base64')}`;
    case 'user:password': {
      const [user = '', password] = current.split(':', 2);
      return `${password === undefined || user === '' ? USER : user}:${bytes.toString('hex')}`;
    }
  }
}
