/** Secrets of webhooks: never a plain argument, and shown once when they are generated. */
import { AppError } from '../../../base/errors.ts';
import {
  createSecretBytes, encodeSecret, type SecretShape,
} from '../../../webhooks/http/new-secret.ts';
import type { CommandContext } from '../command-context.ts';
import { readSecretOption } from '../option-input.ts';

export type NewSecret = {
  readonly secret: string;
  /** A generated secret is printed once, as nobody else knows it. */
  readonly isGenerated: boolean;
};

/**
 * Reads the secret of `--secret-file`, or generates one for `--generate-secret`; null without
 * either. `getShape` may throw where none can be generated. Throws `usage`.
 */
export async function readNewSecret(
  context: CommandContext, getShape: () => SecretShape,
): Promise<NewSecret | null> {
  if (!hasSecretOption(context)) return null;
  const isGenerated = context.args.has('generate-secret');
  const secret = isGenerated ? encodeSecret(getShape(), createSecretBytes())
    : await readSecretOption(context, 'secret-file');
  return { secret, isGenerated };
}

/** Throws `usage` when both options are given. */
export function hasSecretOption({ args }: CommandContext): boolean {
  const isFile = args.has('secret-file');
  const isGenerated = args.has('generate-secret');
  if (isFile && isGenerated) {
    throw new AppError('usage', 'give --secret-file or --generate-secret, not both');
  }
  return isFile || isGenerated;
}
