/** Secrets of webhooks: never a plain argument, and shown once when they are generated. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { Resource } from '../../../resources/resource.ts';
import {
  createSecretBytes, encodeSecret, type SecretShape,
} from '../../../webhooks/http/new-secret.ts';
import type { CommandContext } from '../command-context.ts';
import { readSecretOption } from '../option-input.ts';
import { pickDefined } from '../option-members.ts';
import { parseObject, recordPath, formatValue } from '../resource-commands.ts';
import { resolveWebhookId } from './find-webhook.ts';

// Thirty days, as the service allows.
const OVERLAP_HOURS_MAX = 720;

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

/**
 * `<resource>:rotate-secret`: sets the secret of `--secret-file`, else one that the service
 * generates, which is printed once.
 */
export async function rotateSecret(
  context: CommandContext, resource: Resource,
): Promise<number> {
  const identifier = await resolveWebhookId(context, resource);
  const { args, output } = context;
  hasSecretOption(context);
  const overlapHours = args.integer('overlap-hours', 0, OVERLAP_HOURS_MAX);
  const body = pickDefined({
    secret: args.has('secret-file') ? await readSecretOption(context, 'secret-file') : undefined,
    overlapHours, force: args.has('force'),
  });
  const apiClient = await context.openApiClient();
  const path = `${recordPath(resource, identifier)}/rotate-secret`;
  const result = parseObject((await apiClient.request({ method: 'POST', path, body })).body);
  if (output.isJson) {
    await output.json(result);
    return 0;
  }
  const { previousSecret, secret } = result;
  const until = isJsonObject(previousSecret)
    ? `; the old one counts until ${formatValue(previousSecret['validUntil'])}` : '';
  await output.line(`${resource.noun} ${identifier} has a new secret${until}`);
  if (secret !== undefined) await output.line(`secret (shown this once): ${formatValue(secret)}`);
  return 0;
}
