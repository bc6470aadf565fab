/** Secrets of webhooks: never given as a plain argument, and shown once when made here. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { Resource } from '../../../resources/resource.ts';
import {
  createSecretBytes, encodeSecret, type SecretShape,
} from '../../../webhooks/http/new-secret.ts';
import type { CommandContext } from '../command-context.ts';
import { readSecretOption } from '../option-input.ts';
import { parseObject, recordPath, formatCell } from '../resource-commands.ts';

// Thirty days, as the service allows.
const OVERLAP_HOURS_MAX = 720;

export type NewSecret = {
  readonly secret: string;
  /** It is shown once, since nobody else knows it. */
  readonly isGenerated: boolean;
};

/**
 * The secret that `--secret-file` or `--generate-secret` gives; null without either. `shapeOf` may
 * throw, where none can be made. Throws `usage`.
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

/** Throws `usage` for a secret that is given twice. */
export function hasSecretOption({ args }: CommandContext): boolean {
  const isFile = args.has('secret-file');
  const isGenerated = args.has('generate-secret');
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
  const { args, output } = context;
  hasSecretOption(context);
  const overlapHours = args.integer('overlap-hours', 0, OVERLAP_HOURS_MAX);
  const body = {
    ...args.has('secret-file') ? { secret: await readSecretOption(context, 'secret-file') } : {},
    ...overlapHours === undefined ? {} : { overlapHours },
    force: args.has('force'),
  };
  const apiClient = await context.openApiClient();
  const path = `${recordPath(resource, identifier)}/rotate-secret`;
  const result = parseObject((await apiClient.request({ method: 'POST', path, body })).body);
  if (output.isJson) {
    await output.json(result);
    return 0;
  }
  const { previousSecret, secret } = result;
  const until = isJsonObject(previousSecret)
    ? `; the old one counts until ${formatCell(previousSecret['validUntil'])}` : '';
  await output.line(`${resource.noun} ${identifier} has a new secret${until}`);
  if (secret !== undefined) await output.line(`secret (shown this once): ${formatCell(secret)}`);
  return 0;
}
