/** The members for the secret of a webhook, which is stored and never shown. */
import type { MemberSchemas, StringSchema } from '../../base/schema.ts';

/** Long enough for a certificate or a private key in PEM. */
export const SECRET_BYTES_MAX = 8192;
export const secretSchema: StringSchema = {
  kind: 'string', minLength: 1, bytesMax: SECRET_BYTES_MAX,
};

/** How a secret is changed, after what it is for. */
export const SECRET_RULE = 'It is never shown. Left out of a change it stays; null removes it';

export const secretMembers = {
  secret: {
    schema: secretSchema, isWriteOnly: true, isSecret: true,
    description: `Requests are signed with it. ${SECRET_RULE}`,
    option: [
      {}, { name: 'generate-secret', isFlag: true, help: 'make a secret, and print it this once' },
    ],
  },
  hasSecret: {
    schema: { kind: 'boolean' }, readOnly: 'ignored', description: 'Whether a secret is stored',
  },
} as const satisfies MemberSchemas;
