/** The member `rate` of an outgoing webhook: how many of its attempts may start in which time. */
import type { MemberSchema } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';

const LIMIT_MAX = 10_000;
const SECONDS_MAX = 3600;

export const rateMember = {
  schema: describeObject({
    kind: 'object', name: 'Rate',
    members: {
      limit: {
        schema: { kind: 'integer', minimum: 1, maximum: LIMIT_MAX }, isRequired: true,
        label: 'Attempts', description: 'How many attempts may start',
      },
      seconds: {
        schema: { kind: 'integer', minimum: 1, maximum: SECONDS_MAX }, isRequired: true,
        label: 'In so many seconds', description: 'Within how many seconds',
      },
    },
  }),
  form: { group: 'pace' },
  description: 'How many attempts may start in how many seconds, evenly spread; what waits stays '
    + 'in order. Without it, as fast as the target answers',
  option: { placeholder: '<n/seconds>' },
} as const satisfies MemberSchema;

export type Rate = RecordOf<typeof rateMember.schema>;
