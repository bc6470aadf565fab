/**
 * The order that a webhook keeps, as data:
 *
 * - `none`, which is the default: deliveries begin as they were made, several at once, and one that
 *   has to be retried is overtaken;
 * - `strict`: one at a time, and the next only when the one before is done or given up;
 * - `{ "key": "<path>" }`: strict among the deliveries that have the same value at the path.
 *
 * An invalid order is refused when the webhook is saved, with its JSON Pointer. Pure.
 */
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { ExactNumber, normalizeNumber, type JsonNumber } from '../../../base/exact-number.ts';
import { loadCrypto } from '../../../base/node-modules.ts';
import type { JsonSchema, JsonValue, MemberSchema } from '../../../base/schema.ts';
import type { SchemaOf } from '../../../base/schema-types.ts';
import { createFactReader, findPathProblem, type Facts, type FactSource } from './facts.ts';

export type Order = 'none' | 'strict' | { readonly key: string };

/** The key that the deliveries of one order share: `42` is another key than `"42"`. */
export type OrderKey = string | JsonNumber | boolean;

/** Reads the key of an event or a request; null: it has none, and is in no order. */
export type KeyReader = (facts: Facts, eventKey: string | null) => OrderKey | null;

/** The path that names the key of the event itself. */
const EVENT_KEY_PATH = 'key';
const PATH_LENGTH_MAX = 500;
const ORDER_BYTES_MAX = 2048;
/** A longer text is cut, and told from others by its digest: each pending task has its key. */
const KEY_LENGTH_MAX = 200;
const KEY_START_LENGTH = 100;

/** `findOrderProblems` checks it. */
const orderSchema: SchemaOf<Order, JsonSchema> = {
  kind: 'json', isObject: false, bytesMax: ORDER_BYTES_MAX, depthMax: 1,
};

export const orderMember = {
  schema: orderSchema,
  form: {
    group: 'more',
    choices: [
      ['none', 'None: what is retried is overtaken'], ['strict', 'Strict: one at a time'],
      ['key', 'One at a time of each key', 'Path of the key, such as payload.data.book.id'],
    ],
  },
  option: [
    {
      name: 'order', values: ['none', 'strict'],
      help: 'strict: one at a time, and what is retried holds back the next',
    },
    {
      name: 'order-key', placeholder: '<path>',
      help: 'strict among those with the same value there, such as payload.data.book.id',
    },
  ],
} as const satisfies MemberSchema;

/** Problems of the form of an order, and of its path, which begins with one of `sources`. */
export function findOrderProblems(
  order: JsonValue | undefined, sources: readonly (FactSource | typeof EVENT_KEY_PATH)[],
): FieldError[] {
  if (order === undefined || order === 'none' || order === 'strict') return [];
  const members = isJsonObject(order) ? Object.keys(order) : [];
  if (!isJsonObject(order) || members.length !== 1 || members[0] !== 'key') {
    return [{ pointer: '/order', detail: 'must be "none", "strict" or { "key": "<path>" }' }];
  }
  const { key: path } = order;
  if (typeof path !== 'string' || path === '' || path.length > PATH_LENGTH_MAX) {
    const detail = `must be a path of 1 to ${PATH_LENGTH_MAX} characters, such as payload.data.id`;
    return [{ pointer: '/order/key', detail }];
  }
  const problem = findPathProblem(path, sources);
  return problem === null ? [] : [{ pointer: '/order/key', detail: problem }];
}

export function findKeyPath(order: Order | undefined): string | null {
  return typeof order === 'object' ? order.key : null;
}

export function createKeyReader(path: string): KeyReader {
  if (path === EVENT_KEY_PATH) return (_, eventKey) => shortenKey(eventKey);
  const read = createFactReader(path);
  return (facts) => shortenKey(read(facts));
}

function shortenKey(value: unknown): OrderKey | null {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const key = value instanceof ExactNumber ? normalizeNumber(value) : value;
  if (typeof key === 'number') return key;
  if (typeof key !== 'string' && !(key instanceof ExactNumber)) return null;
  const text = String(key);
  if (text.length <= KEY_LENGTH_MAX) return key;
  const digest = loadCrypto().createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, KEY_START_LENGTH)}…${digest}`;
}
