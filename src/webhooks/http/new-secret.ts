/** Secrets that are made here, in the shape that the sender of the requests wants. */
import { loadCrypto } from '../../base/node-modules.ts';

/**
 * `hex`: 64 hexadecimal digits; `base64` and `whsec`: 32 bytes of base64, in the latter after
 * `whsec_`; `user:password`: of HTTP Basic, where the password is `hex`.
 */
export type SecretShape = 'hex' | 'base64' | 'whsec' | 'user:password';

// 256 bits, as HMAC-SHA256 has (RFC 2104 §3 advises no less).
const SECRET_BYTES = 32;
const USER = 'hookshelf';

export function createSecretBytes(): Buffer {
  return loadCrypto().randomBytes(SECRET_BYTES);
}

/** `current`: the secret whose place it takes; its user stays, as only the password changes. */
export function encodeSecret(shape: SecretShape, bytes: Buffer, current = ''): string {
  switch (shape) {
    case 'hex': return bytes.toString('hex');
    case 'base64': return bytes.toString('base64');
    case 'whsec': return `whsec_${bytes.toString('base64')}`;
    case 'user:password': {
      const [user = '', password] = current.split(':', 2);
      return `${password === undefined || user === '' ? USER : user}:${bytes.toString('hex')}`;
    }
  }
}
