/**
 * What a resource is, said once: its repository, routes, part of the OpenAPI document and commands
 * follow from this description. A description is data and pure functions; it opens nothing.
 */
import type { JsonObject, JsonValue, MemberSchema, ObjectSchema } from '../base/schema.ts';
import type { Access } from '../server/http-route.ts';
import type { CollectionSpec } from '../store/store-port.ts';
import type { Observation } from './representation.ts';

export type Resource = ListedResource & {
  /** The key, `createdAt` and `updatedAt` (read-only) stand before the model's members. */
  readonly schema: NamedSchema;
  /** Where its records are kept, by what key, and which members are unique. */
  readonly collection: CollectionSpec;
  /** Scopes that a caller needs; `read` and `write` when not given. */
  readonly access?: { readonly read: Access; readonly write: Access };
  /** A new record may bring its key; without one it gets a new identifier. */
  readonly isKeyGiven?: boolean;
  /** A body that is accepted as it stands, for the documentation. */
  readonly example?: JsonObject;
  /** What callers see of a record; the record itself when not given. */
  readonly toPublic?: (record: JsonObject) => JsonObject;
  /** What is shown after that and is not stored in the record; `present` is needed beside it. */
  readonly observe?: (record: JsonObject) => Observation;
  /**
   * The body that is parsed, made from the one that came (for a merge patch: the patched record)
   * and the stored record, null for a new one. For members that are write-only, masked, or written
   * by the service. `nowMs` is the time of the change.
   */
  readonly reconcile?: (
    body: JsonObject, current: JsonObject | null, cause: WriteCause, nowMs: number,
  ) => JsonObject;
  /** What a merge patch is applied to, made from the stored record; that itself when not given. */
  readonly patchBase?: (stored: JsonObject) => JsonObject;
};

/** What a list of records on a terminal needs; deliveries and tokens are no more than that. */
export type ListedResource = {
  /** `/api/books` */
  readonly path: string;
  /** `book`, as messages and summaries say it. */
  readonly noun: string;
  /** `books` */
  readonly plural: string;
  readonly columns: readonly ColumnSpec[];
};

/** Named: the name makes operation ids, `getBook`. */
export type NamedSchema = ObjectSchema & { readonly name: string };

export type WriteCause = 'add' | 'replace' | 'patch';

/** A column of a list on a terminal. */
type ColumnSpec = {
  readonly title: string;
  readonly member: string;
  /** Identifiers and times are never cut, but have a short form. */
  readonly form?: 'identifier' | 'time';
  /** Never cut: its end says as much as its beginning. */
  readonly isWhole?: boolean;
  /** With less it says too little. */
  readonly widthMin?: number;
  /** Where room is short columns go, the lowest first; one without this stays. */
  readonly importance?: number;
  /** The member in words, or others in its place; null when there is nothing to say. */
  readonly show?: (value: JsonValue | undefined, row: JsonObject) => string | null;
  /** Colours, by the member's value. */
  readonly tones?: Readonly<Record<string, 'good' | 'warning' | 'bad'>>;
};

/** The times that the service gives every record. */
export const timestampMembers: Readonly<Record<string, MemberSchema>> = {
  createdAt: {
    schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored',
    description: 'RFC 3339, UTC, milliseconds',
  },
  updatedAt: {
    schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored',
    description: 'RFC 3339, UTC, milliseconds; later with every change',
  },
};
