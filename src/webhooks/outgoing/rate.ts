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
        description: 'So many attempts may start',
      },
      seconds: {
        schema: { kind: 'integer', minimum: 1, maximum: SECONDS_MAX }, isRequired: true,
        description: 'in so many seconds',
      },
    },
  }),
  description: 'At most `limit` attempts start in any `seconds`, evenly spread; what waits stays '
    + 'in order. Absent: as fast as the target answers',
  option: {
    placeholder: '<n/seconds>',
    help: 'attempts that may start in so many seconds, such as 100/60',
  },
} satisfies MemberSchema;

export type Rate = RecordOf<typeof rateMember.schema>;
