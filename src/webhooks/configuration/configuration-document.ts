/**
 * The configuration document of an apply: each action configuration and webhook whole, with every
 * member that is left out at its default.
 *
 *     { "actionConfigurations": [{ "identifier": … }], "incomingWebhooks": [{ "pathSegment": … }],
 *       "outgoingWebhooks": [{ "name": … }], "set": "default", "prune": false, "dryRun": false }
 *
 * A record has the member that it is found by, and no two of a kind the same. `{ "$env": … }` and
 * `{ "$file": … }` are resolved where the command runs; here they are refused, as is `***`, but in
 * the place of a member that is kept as it is stored (`findUnresolved`).
 */
import type { FieldError } from '../../base/errors.ts';
import { invalid, isJsonObject, pointerStep, readObjectInto } from '../../base/fields.ts';
import { JSON_DEPTH_MAX } from '../../base/json/parse.ts';
import { MASK } from '../../base/log.ts';
import type { JsonObject, JsonValue, ObjectSchema } from '../../base/schema.ts';
import { restoreUrlSecrets } from '../members/url-credentials.ts';
import { OPTION_MEMBERS, RECORDS_MAX } from './document-schema.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';

/** A record of a document, not checked by its own schema yet. */
export type DocumentRecord = {
  readonly kind: RecordKind;
  readonly name: string;
  /** Its place in the document: `/incomingWebhooks/0`. */
  readonly pointer: string;
  readonly body: JsonObject;
};

export type ConfigurationDocument = {
  readonly records: readonly DocumentRecord[];
  /** The set that new records belong to, and that `isPruning` deletes records of. */
  readonly set: string;
  /** Whether records are deleted that are of the set and not in the document. */
  readonly isPruning: boolean;
  readonly isDryRun: boolean;
  /** Whether a secret that changes counts beside the new one for a while. */
  readonly overlaps: boolean;
  /** What stays as it is stored: see `KEEP_VALUES`. */
  readonly keep: readonly string[];
  /** Whether the caller confirms what the plan asks to confirm. */
  readonly isConfirmed: boolean;
  /** Errors of the document as such, which are told together with those of its records. */
  readonly errors: readonly FieldError[];
};

const ENVELOPE_SCHEMA: ObjectSchema = {
  kind: 'object',
  members: {
    ...Object.fromEntries(RECORD_KINDS.map(({ member }) => [member, {
      schema: {
        kind: 'array', maxItems: RECORDS_MAX,
        items: { kind: 'json', isObject: true, bytesMax: Infinity, depthMax: JSON_DEPTH_MAX },
      },
      default: [],
    }] as const)),
    ...OPTION_MEMBERS,
  },
};

/** Throws `invalid` for what is no object. */
export function parseDocument(body: unknown): ConfigurationDocument {
  const errors: FieldError[] = [];
  const envelope = readObjectInto(ENVELOPE_SCHEMA, body, errors);
  if (envelope === undefined) throw invalid(errors);
  const { keep } = envelope;
  const records = RECORD_KINDS.flatMap((kind) => parseRecords(envelope, kind, errors));
  return {
    records, errors, set: String(envelope['set']), isPruning: envelope['prune'] === true,
    isDryRun: envelope['dryRun'] === true, overlaps: envelope['noOverlap'] !== true,
    keep: Array.isArray(keep) ? keep.map(String) : [], isConfirmed: envelope['yes'] === true,
  };
}

/** Adds to `errors`. */
function parseRecords(
  envelope: JsonObject, kind: RecordKind, errors: FieldError[],
): readonly DocumentRecord[] {
  const { member, naming } = kind;
  const list: JsonValue | undefined = envelope[member];
  const names = new Set<string>();
  return (Array.isArray(list) ? list : []).flatMap((body: JsonValue, index) => {
    if (!isJsonObject(body)) return [];
    const pointer = `/${member}/${index}`;
    const name = body[naming];
    const namePointer = pointer + pointerStep(naming);
    if (name === undefined || name === null) {
      const detail = 'is required: a stored record is found by it';
      errors.push({ pointer: namePointer, detail });
      // It stays, so that its other mistakes are told as well.
      return [{ kind, name: '', pointer, body }];
    }
    if (names.has(String(name))) {
      errors.push({ pointer: namePointer, detail: 'must not stand twice' });
    }
    names.add(String(name));
    return [{ kind, name: String(name), pointer, body }];
  });
}

const REFERENCES = ['$env', '$file'];

/** Errors for references, which only the command resolves, and for masks, which hold no value. */
export function findUnresolved(value: JsonValue | undefined, pointer: string): FieldError[] {
  if (typeof value === 'string') {
    return value !== MASK && restoreUrlSecrets(value, '') !== null ? [] : [{
      pointer, detail: `must be the value itself, not ${MASK}: a document says a record whole and `
        + 'keeps nothing of the stored one; write { "$env": "<NAME>" } in the file of apply',
    }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) => findUnresolved(item, `${pointer}/${index}`));
  }
  if (!isJsonObject(value)) return [];
  const reference = REFERENCES.find((name) => Object.hasOwn(value, name));
  if (reference !== undefined) {
    return [{
      pointer, detail: `${reference} is resolved where \`hookshelf apply\` runs, and never by a `
        + 'server: send the value itself',
    }];
  }
  return Object.entries(value).flatMap(([name, member]) =>
    findUnresolved(member, pointer + pointerStep(name)));
}
