/**
 * Requests as the senders make them, written from what their documentation says. Nothing here
 * calls the code that is tested: what both had in common could be wrong in both.
 */
import {
  createHash, createHmac, generateKeyPairSync, sign, type KeyObject,
} from 'node:crypto';

export type Key = {
  /** What the webhook is given as its secret. */
  readonly secret: string;
  readonly sign: (content: Buffer) => Buffer;
};

export type Wanted = {
  readonly body: Buffer;
  /** Seconds since the epoch. */
  readonly atS: number;
  /** The encoded signature as it is to be written. */
  readonly spell: (signature: string) => string;
};

export type Sent = {
  readonly headers: Readonly<Record<string, string>>;
  /** Without `?`. */
  readonly query: string;
  readonly body: Buffer;
};

export type Sender = {
  /** Tells the rows of one preset apart. */
  readonly title: string;
  readonly verification: { readonly preset: string } & Readonly<Record<string, unknown>>;
  readonly makeKey: (seed: string) => Key;
  readonly send: (key: Key, wanted: Wanted) => Sent;
  /** Where the signature is; null: in the body. */
  readonly header: string | null;
  readonly encoding: 'hex' | 'base64' | 'text';
  /** Between two signatures of one header; null: it holds one. */
  readonly between: string | null;
  /** Seconds; null: an age is no reason to refuse. */
  readonly tolerance: number | null;
  readonly coversBody: boolean;
};

type Row = Partial<Sender> & Pick<Sender, 'makeKey' | 'send'>
  & { readonly preset: string; readonly settings?: Readonly<Record<string, unknown>> };

export function row({ preset, settings = {}, ...rest }: Row): Sender {
  return {
    title: preset, verification: { preset, ...settings }, header: null, encoding: 'hex',
    between: null, tolerance: null, coversBody: true, ...rest,
  };
}

export const JSON_TYPE = { 'Content-Type': 'application/json' };
export const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };

export function join(...pieces: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

export function hmacKey(
  secret: string, hash = 'sha256', bytes: string | Buffer = secret,
): Key {
  return { secret, sign: (content) => createHmac(hash, bytes).update(content).digest() };
}

export const textKey = (seed: string): Key => hmacKey(`key ${seed} é`);

export const whsecKey = (seed: string): Key => {
  const bytes = createHash('sha256').update(seed).digest();
  return hmacKey(`whsec_${bytes.toString('base64')}`, 'sha256', bytes);
};

export const ed25519Key = (): Key => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    secret: derOf(publicKey).subarray(-32).toString('hex'),
    sign: (content) => sign(null, content, privateKey),
  };
};
export const ecdsaKey = (): Key => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    secret: derOf(publicKey).toString('base64'),
    sign: (content) => sign('sha256', content, privateKey),
  };
};
/** Takes a while to make: there is one of each seed. */
const rsaKeys = new Map<string, Key>();
export const rsaKey = (seed: string): Key => {
  const made = rsaKeys.get(seed) ?? makeRsaKey();
  rsaKeys.set(seed, made);
  return made;
};

function makeRsaKey(): Key {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    secret: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    sign: (content) => sign('sha256', content, privateKey),
  };
}

function derOf(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' });
}

/** IEEE 802.3, bit by bit. */
export function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
