/** The members for the secret of a webhook, which is stored and never shown. */
import type { MemberSchemas, StringSchema } from '../../base/schema.ts';

/** Long enough for a certificate or a private key in PEM. */
export const SECRET_BYTES_MAX = 8192;
export const secretSchema: StringSchema = {
  kind: 'string', minLength: 1, bytesMax: SECRET_BYTES_MAX,
};

export const secretMembers = {
  secret: {
    schema: secretSchema, isWriteOnly: true, isSecret: true,
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
