/**
 * The description of a resource. Its repository, routes, part of the OpenAPI document and commands
 * follow from it. A description is data and pure functions; it opens nothing.
 */
import type { JsonObject, JsonValue, MemberSchemas, ObjectSchema } from '../base/schema.ts';
import type { Access } from '../server/http-route.ts';
import type { CollectionSpec } from '../store/store-port.ts';

export type Resource = ListedResource & {
  /** Its first members are the key, `createdAt` and `updatedAt`, which are read-only. */
  readonly schema: NamedSchema;
  /** The collection of its records, with its key and its unique members. */
  readonly collection: CollectionSpec;
  /** Scopes that callers need; default `read` and `write`. */
  readonly access?: { readonly read: Access; readonly write: Access };
  /** Whether the body of a new record may have its key; without one it gets an identifier. */
  readonly isKeyGiven?: boolean;
  /** A valid body, for the documentation. */
  readonly example?: JsonObject;
  /** Converts a stored record to the one that callers see; default: the record itself. */
  readonly toPublic?: (record: JsonObject) => JsonObject;
  /** Further members that callers see and the record does not store. Needs `toPublic`. */
  readonly observe?: (record: JsonObject) => Observation;
  /**
   * The body that is parsed, made from the one that came (for a merge patch: the patched record)
   * and the stored record, null for a new one. For members that are write-only, masked, or written
   * by the service. `nowMs` is the time of the change.
   */
  readonly reconcile?: (
    body: JsonObject, current: JsonObject | null, cause: WriteCause, nowMs: number,
  ) => JsonObject;
  /**
   * The members of the next version of a stored record, with the members that the service has
   * written and no body has; default: the members of the body.
   */
  readonly keepStored?: (members: JsonObject, stored: Buffer) => JsonObject;
  /** Converts the stored record to the target of a merge patch; default: the record itself. */
  readonly patchBase?: (stored: JsonObject) => JsonObject;
};

/** Members that callers see and the record does not store: they change without a write of it. */
export type Observation = {
  readonly members: JsonObject;
  /** When the members or the record changed last, in milliseconds since the epoch. */
  readonly changedAtMs: number;
};

/** A resource that a terminal can list; deliveries and tokens are only listed. */
export type ListedResource = {
  /** `/api/books` */
  readonly path: string;
  /** `book`, as messages and summaries say it. */
  readonly noun: string;
  /** `books` */
  readonly plural: string;
  readonly columns: readonly ColumnSpec[];
};

/** A schema with a name, which operation ids such as `getBook` are made of. */
export type NamedSchema = ObjectSchema & { readonly name: string };

/** `apply`: the body is a whole record, which may be stored already. */
export type WriteCause = 'add' | 'replace' | 'patch' | 'apply';

type ColumnSpec = {
  readonly title: string;
  readonly member: string;
  /** Identifiers and times are never cut, but have a short form. */
  readonly form?: 'identifier' | 'time';
  /** `whole`: values are never cut, as their end says as much as their beginning. */
  readonly fit?: 'whole';
  /** The least width in which values say enough. */
  readonly widthMin?: number;
  /** On narrow terminals columns are left out, the least important first; default: never. */
  readonly importance?: number;
  /** Formats the cell; null leaves it empty. Default: the member itself. */
  readonly show?: (value: JsonValue | undefined, row: JsonObject) => string | null;
  readonly tones?: Readonly<Record<string, 'good' | 'warning' | 'bad'>>;
};

/** Members that the service gives every record. */
export const timestampMembers = {
  createdAt: {
    schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored',
    description: 'RFC 3339, UTC, milliseconds',
  },
  updatedAt: {
    schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored',
    description: 'RFC 3339, UTC, milliseconds; later with every change',
  },
} as const satisfies MemberSchemas;
