/** The plan of an apply: what it changes, as it is shown before anything is done. Pure. */
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject, ObjectSchema } from '../../base/schema.ts';
import type { PLAN_SIGNS } from './document-schema.ts';
import { sortFreeJson } from './free-json.ts';

export type PlannedChange = {
  readonly sign: (typeof PLAN_SIGNS)[number];
  /** The noun of the record's kind. */
  readonly kind: string;
  readonly name: string;
  /** With `~`: the members that change, and `secret removed`. */
  readonly members?: readonly string[];
  /** With `-`: how many requests or deliveries wait for the webhook, if any do. */
  readonly waiting?: number;
};

export type ConfigurationPlan = {
  readonly changes: readonly PlannedChange[];
  /** How many records of the document are stored as it says them. */
  readonly unchanged: number;
};

/** Stands among the changed members in place of `secret` when there will be none. */
export const SECRET_REMOVED = 'secret removed';

/** Members that the service writes, and no document has. */
const SERVICE_MEMBERS = [
  'identifier', 'createdAt', 'updatedAt', 'disabledReason', 'disabledAt', 'previousSecret',
];

/**
 * The names of the members that differ between a stored record and the members that are to be
 * stored, in the order of the schema.
 */
export function listChangedMembers(
  schema: ObjectSchema, stored: JsonObject, fields: JsonObject,
): readonly string[] {
  const before = sortFreeJson(schema, stored);
  const after = sortFreeJson(schema, fields);
  return Object.keys(schema.members)
    .filter((name) => !SERVICE_MEMBERS.includes(name)
      && encodeJson(before[name]) !== encodeJson(after[name]))
    .map((name) => name === 'secret' && after[name] === undefined ? SECRET_REMOVED : name);
}
