/** Secrets of webhooks: never given as a plain argument, and shown once when made here. */
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import type { Resource } from '../../resources/resource.ts';
import type { CommandContext } from './context.ts';
import { readSecretOption } from './input.ts';
import { objectOf, pathOf, textOf } from './resource.ts';

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
  if (isFile && isGenerated) throw bothGiven();
  if (isGenerated) return { secret: generate(form), isGenerated };
  if (!isFile) return null;
  return { secret: await readSecretOption(context, 'secret-file'), isGenerated };
}

function generate(form: SecretForm): string {
  const bytes = loadCrypto().randomBytes(SECRET_BYTES);
  return form === 'hex' ? bytes.toString('hex') : `whsec_${bytes.toString('base64')}`;
}

/**
 * `<resource>:rotate-secret`: with the secret of `--secret-file`, else with one that the service
 * makes, which is printed this once.
 */
export async function rotateSecret(
  context: CommandContext, resource: Resource, identifier: string,
): Promise<number> {
  const { given, output } = context;
  if (given.has('secret-file') && given.has('generate-secret')) throw bothGiven();
  const hours = given.find('overlap-hours');
  if (hours !== undefined && !/^\d{1,4}$/.test(hours)) {
    throw new AppError('usage', `--overlap-hours must be a number from 0 to 720, not ${hours}`);
  }
  const body = {
    ...given.has('secret-file') ? { secret: await readSecretOption(context, 'secret-file') } : {},
    ...hours === undefined ? {} : { overlapHours: Number(hours) },
    force: given.has('force'),
  };
  const session = await context.openSession();
  const path = `${pathOf(resource, identifier)}/rotate-secret`;
  const rotated = objectOf((await session.request({ method: 'POST', path, body })).body);
  if (output.isJson) {
    await output.json(rotated);
    return 0;
  }
  const { previousSecret, secret } = rotated;
  const until = isJsonObject(previousSecret)
    ? `; the old one counts until ${textOf(previousSecret['validUntil'])}` : '';
  await output.line(`${resource.noun} ${identifier} has a new secret${until}`);
  if (secret !== undefined) await output.line(`secret (shown this once): ${textOf(secret)}`);
  return 0;
}

function bothGiven(): AppError {
  return new AppError('usage', 'give --secret-file or --generate-secret, not both');
}
