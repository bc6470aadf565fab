/** Secrets of webhooks: never given as a plain argument, and shown once when made here. */
import { AppError } from '../../base/errors.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import type { CommandContext } from './context.ts';
import { readSecretOption } from './input.ts';

// 256 bits, as HMAC-SHA256 has (RFC 2104 §3 advises no less).
const SECRET_BYTES = 32;

export type GivenSecret = {
  readonly secret: string;
  /** It is shown once, since nobody else knows it. */
  readonly isGenerated: boolean;
};

/** `whsec`: base64 after `whsec_`, as libraries of Standard Webhooks take it. */
type SecretForm = 'hex' | 'whsec';

/** The secret that `--secret-file` or `--generate-secret` gives; null without either. */
export async function readSecret(
  context: CommandContext, form: SecretForm,
): Promise<GivenSecret | null> {
  const isFile = context.given.has('secret-file');
  const isGenerated = context.given.has('generate-secret');
  if (isFile && isGenerated) {
    throw new AppError('usage', 'give --secret-file or --generate-secret, not both');
  }
  if (isGenerated) return { secret: generate(form), isGenerated };
  if (!isFile) return null;
  return { secret: await readSecretOption(context, 'secret-file'), isGenerated };
}

function generate(form: SecretForm): string {
  const bytes = loadCrypto().randomBytes(SECRET_BYTES);
  return form === 'hex' ? bytes.toString('hex') : `whsec_${bytes.toString('base64')}`;
}
