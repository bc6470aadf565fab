/** Secrets of webhooks: never given as a plain argument, and shown once when made here. */
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { Resource } from '../../resources/resource.ts';
import {
  randomSecretBytes, secretOf, type SecretShape,
} from '../../webhooks/http/new-secret.ts';
import type { CommandContext } from './context.ts';
import { readSecretOption } from './input.ts';
import { objectOf, pathOf, textOf } from './resource.ts';

// Thirty days, as the service allows.
const OVERLAP_HOURS_MAX = 720;

export type GivenSecret = {
  readonly secret: string;
  /** It is shown once, since nobody else knows it. */
  readonly isGenerated: boolean;
};

/**
 * The secret that `--secret-file` or `--generate-secret` gives; null without either. `shapeOf` may
 * throw, where none can be made. Throws `usage`.
 */
export async function readSecret(
  context: CommandContext, shapeOf: () => SecretShape,
): Promise<GivenSecret | null> {
  if (!isSecretGiven(context)) return null;
  const isGenerated = context.given.has('generate-secret');
  const secret = isGenerated ? secretOf(shapeOf(), randomSecretBytes())
    : await readSecretOption(context, 'secret-file');
  return { secret, isGenerated };
}

/** Throws `usage` for a secret that is given twice. */
export function isSecretGiven({ given }: CommandContext): boolean {
  const isFile = given.has('secret-file');
  const isGenerated = given.has('generate-secret');
  if (isFile && isGenerated) {
    throw new AppError('usage', 'give --secret-file or --generate-secret, not both');
  }
  return isFile || isGenerated;
}

/**
 * `<resource>:rotate-secret`: with the secret of `--secret-file`, else with one that the service
 * makes, which is printed this once.
 */
export async function rotateSecret(
  context: CommandContext, resource: Resource, identifier: string,
): Promise<number> {
  const { given, output } = context;
  isSecretGiven(context);
  const overlapHours = given.integer('overlap-hours', 0, OVERLAP_HOURS_MAX);
  const body = {
    ...given.has('secret-file') ? { secret: await readSecretOption(context, 'secret-file') } : {},
    ...overlapHours === undefined ? {} : { overlapHours },
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
