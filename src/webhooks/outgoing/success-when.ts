/** The member `successWhen`: a condition over `status` and `body` of responses that deliver. */
import type { FieldError } from '../../base/errors.ts';
import type { JsonValue, MemberSchema } from '../../base/schema.ts';
import {
  conditionSchema, findConditionProblems, type Condition,
} from '../members/filters/condition.ts';
import { Facts, RESPONSE_SOURCES } from '../members/filters/facts.ts';
import { prepareCondition } from '../members/filters/prepare-condition.ts';
import { formatResponseBody, isSuccessStatus } from '../members/http-sender.ts';

export type SuccessTest = (statusCode: number, body: Buffer) => boolean;

export const successWhenMember = {
  schema: conditionSchema, label: 'Delivered when',
  form: {
    group: 'attempts',
    hint: 'Which answers deliver, by a condition over `status` and `body`, such as that `body.ok` '
      + 'is true. Where it does not look at `status`, that must be 2xx as well. Without it 2xx '
      + 'delivers',
  },
  description: 'Which answers deliver, by a condition over `status` and `body`, such as '
    + '`{ "path": "body.ok", "op": "eq", "value": true }`. Where it does not look at `status`, '
    + 'that must be 2xx as well. Without a condition 2xx delivers',
  option: { isPublic: true },
} as const satisfies MemberSchema;

export function findSuccessWhenProblems(condition: JsonValue | undefined): FieldError[] {
  return findConditionProblems(condition, '/successWhen', RESPONSE_SOURCES);
}

/** An error page must not deliver because it lacks a member. */
export function prepareSuccessTest(condition: Condition): SuccessTest {
  const predicate = prepareCondition(condition);
  const readsStatus = hasStatusPath(condition);
  return (statusCode, body) => (readsStatus || isSuccessStatus(statusCode))
    && predicate(new Facts({
      status: statusCode, payload: () => formatResponseBody(body), event: () => null,
    }));
}

function hasStatusPath({ path, not, all = [], any = [] }: Condition): boolean {
  return path === 'status' || (not !== undefined && hasStatusPath(not))
    || [...all, ...any].some(hasStatusPath);
}
