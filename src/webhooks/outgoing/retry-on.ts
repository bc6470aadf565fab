/**
 * The member `retryOn` of an outgoing webhook: the statuses after which a delivery is tried again.
 * An item is a status, or the class of all with its first digit, such as `5xx`. An attempt without
 * a status is tried again in any case; 2xx deliver, and 410 ends the delivery and disables the
 * webhook. Pure.
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

const itemSchema: SchemaOf<RetriedStatus, JsonSchema> = {
  kind: 'json', isObject: false, bytesMax: ITEM_BYTES_MAX, depthMax: 1,
};

export const retryOnMember = {
  schema: { kind: 'array', maxItems: ITEMS_MAX, items: itemSchema },
  label: 'Try again after', form: { group: 'attempts', field: 'statuses' },
  description: 'Statuses and classes that are tried again, such as `5xx`, `408` and `429`; with '
    + 'another one the delivery has failed at once. Without it all but 2xx. Network errors are '
    + 'always tried again; 410 always ends, and turns off',
  option: { placeholder: '<status,… | none>' },
} as const satisfies MemberSchema;

/** Each item must be a status or a class, which the schema cannot say. */
export function findRetryOnProblems(retryOn: JsonValue | undefined): FieldError[] {
  if (!Array.isArray(retryOn)) return [];
  const items: readonly JsonValue[] = retryOn;
  return items.flatMap((item, index) => isStatusOrClass(item) ? [] : [{
    pointer: `/retryOn/${index}`,
    detail: `must be a status from ${STATUS_MIN} to ${STATUS_MAX}, such as 429, or one of "3xx", `
      + '"4xx" and "5xx"',
  }]);
}

/** null: the attempt had no status. */
export function isRetriedStatus(retryOn: RetryOn | undefined, statusCode: number | null): boolean {
  if (retryOn === undefined || statusCode === null) return true;
  return retryOn.includes(statusCode) || retryOn.includes(`${Math.floor(statusCode / 100)}xx`);
}

function isStatusOrClass(item: JsonValue): boolean {
  if (typeof item === 'string') return CLASS.test(item);
  return Number.isInteger(item) && Number(item) >= STATUS_MIN && Number(item) <= STATUS_MAX;
}
