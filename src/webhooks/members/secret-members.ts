/** The members for the secret of a webhook, which is stored and never shown. */
import type { JsonObject, MemberSchemas, StringSchema } from '../../base/schema.ts';
import type { WriteCause } from '../../resources/resource.ts';

/** Long enough for a certificate or a private key in PEM. */
export const SECRET_BYTES_MAX = 8192;
export const secretSchema: StringSchema = {
  kind: 'string', minLength: 1, bytesMax: SECRET_BYTES_MAX,
};

export const secretMembers = {
  secret: {
    schema: secretSchema, isWriteOnly: true,
    description: 'Never shown. Absent in PUT and PATCH keeps the stored one, null removes it.',
    option: [
      {
        name: 'secret-file', placeholder: '<path | ->', completes: 'file',
        help: 'file that holds the secret, - for standard input',
      },
      { name: 'generate-secret', isFlag: true, help: 'make a secret, and print it this once' },
    ],
  },
  hasSecret: {
    schema: { kind: 'boolean' }, readOnly: 'ignored', description: 'Whether a secret is stored',
  },
} satisfies MemberSchemas;

/**
 * A replacement without the member keeps the stored secret; null removes it, as it does in a patch.
 */
export function keepSecret(
  body: JsonObject, current: JsonObject | null, cause: WriteCause,
): JsonObject {
  const mustKeep = cause === 'replace' && !Object.hasOwn(body, 'secret')
    && current?.['secret'] !== undefined;
  return mustKeep ? { ...body, secret: current['secret'] ?? null } : body;
}

/** Replaces the secret by `hasSecret`. */
export function hideSecret(record: JsonObject): JsonObject {
  const { secret, ...publicMembers } = record;
  return { ...publicMembers, hasSecret: secret !== undefined };
}
