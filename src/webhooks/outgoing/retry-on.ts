/**
 * The member `retryOn` of an outgoing webhook: after which statuses a delivery is tried again. Each
 * item is a status, or the class of all that begin with its digit, such as `5xx`. Pure.
 *
 * It says nothing of attempts without a status: they are tried again in any case. Nor of 2xx, which
 * deliver, and 410, which ends the delivery and disables the webhook.
 */
import type { FieldError } from '../../base/errors.ts';
import type { JsonSchema, JsonValue, MemberSchema } from '../../base/schema.ts';
import type { SchemaOf } from '../../base/schema-types.ts';

type RetriedStatus = number | string;
export type RetryOn = readonly RetriedStatus[];

const ITEMS_MAX = 100;
const ITEM_BYTES_MAX = 16;
const CLASS = /^[345]xx$/;
const STATUS_MIN = 300;
const STATUS_MAX = 599;

/** `findRetryOnProblems` checks it. */
const itemSchema: SchemaOf<RetriedStatus, JsonSchema> = {
  kind: 'json', isObject: false, bytesMax: ITEM_BYTES_MAX, depthMax: 1,
};

export const retryOnMember = {
  schema: {
    kind: 'array', maxItems: ITEMS_MAX,
    items: itemSchema,
  },
  label: 'Try again after', form: { group: 'more', field: 'statuses' },
  description: 'Statuses and classes that are tried again, such as `5xx`, `408` and `429`; with '
    + 'another one the delivery has failed at once. Without it all but 2xx. Network errors are '
    + 'always tried again; 410 always ends, and turns off',
  option: { placeholder: '<status,… | none>' },
} as const satisfies MemberSchema;

/** Checks what the schema cannot say: that each item is a status or a class. */
export function findRetryOnProblems(retryOn: JsonValue | undefined): FieldError[] {
  if (!Array.isArray(retryOn)) return [];
  const items: readonly JsonValue[] = retryOn;
  return items.flatMap((item, index) => isStatusOrClass(item) ? [] : [{
    pointer: `/retryOn/${index}`,
    detail: `must be a status from ${STATUS_MIN} to ${STATUS_MAX}, such as 429, or one of "3xx", `
      + '"4xx" and "5xx"',
  }]);
}

/** Whether a delivery is tried again after that status; null: the attempt has had none. */
export function isRetriedStatus(retryOn: RetryOn | undefined, statusCode: number | null): boolean {
  if (retryOn === undefined || statusCode === null) return true;
  return retryOn.includes(statusCode) || retryOn.includes(`${Math.floor(statusCode / 100)}xx`);
}

function isStatusOrClass(item: JsonValue): boolean {
  if (typeof item === 'string') return CLASS.test(item);
  return Number.isInteger(item) && Number(item) >= STATUS_MIN && Number(item) <= STATUS_MAX;
}
