/**
 * References within a file of JSON-LD: `{"@id": "#p"}` stands for the node of that id, wherever it
 * is: in the graph before or behind, or in a field that is read of another book (JSON-LD 1.1 §3.3).
 * Ids are compared as they are written.
 *
 * A book waits, and those behind it, until the nodes that it names have come, the file ends, or
 * more waits than may. So memory is bounded, and books come as they stand in the file. Of a node no
 * more is known than a book takes of it. References are followed three deep, and so many of a book.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { BrokenRecord, Fields } from '../mapping/format-table.ts';

/**
 * The members of persons, organizations, addresses, images, terms, series and reviews that a book
 * takes. By its `author` a review is told from the reader's own.
 */
const TAKEN_MEMBERS: readonly string[] = [
  '@type', '@value', 'name', 'givenName', 'familyName', 'birthDate', 'deathDate', 'address', 'url',
  'contentUrl', 'streetAddress', 'addressLocality', 'addressRegion', 'postalCode',
  'addressCountry', 'author', 'reviewBody', 'reviewRating', 'ratingValue', 'bestRating',
];
/** Fields whose ids are values themselves. */
const ID_FIELDS: ReadonlySet<string> = new Set(['@id', '@type', 'isbn', 'url', 'bookFormat']);
/** Fields that wait for whatever id they name; others only for what can be in this file alone. */
const AGENT_FIELDS: ReadonlySet<string> = new Set(['author', 'creator', 'publisher']);
const LOCAL_ID = /^(?:_:|#)/;

const NODES_MAX = 10_000;
const NODE_LENGTH_MAX = 4000;
const NODES_LENGTH_MAX = 4 * 1024 * 1024;
const FOLLOWED_MAX = 500;
const DEPTH_MAX = 3;
const WAITING_LENGTH_MAX = 4 * 1024 * 1024;
/** The memory of a value besides its text, about. */
const VALUE_LENGTH = 64;
/** So many records are handed on at once, besides as many as have come: others have a turn. */
const RELEASED_MAX = 100;

/** The nodes of a file by their ids, the first of each. */
class KnownNodes {
  readonly #nodes = new Map<string, JsonObject>();
  #length = 0;

  find(id: string): JsonObject | undefined {
    return this.#nodes.get(id);
  }

  add(id: string, members: JsonObject): void {
    if (this.#nodes.has(id) || this.#nodes.size === NODES_MAX) return;
    const takenNames = TAKEN_MEMBERS.filter((name) => Object.hasOwn(members, name));
    if (takenNames.every((name) => name === '@type')) return;
    const node = Object.fromEntries(takenNames.map((name) => [name, members[name] ?? null]));
    const length = measure(node);
    if (length > NODE_LENGTH_MAX || this.#length + length > NODES_LENGTH_MAX) return;
    this.#length += length;
    // The name of a blank node holds within its file alone.
    this.#nodes.set(id, id.startsWith('_:') ? node : { '@id': id, ...node });
  }

  /** Adds the nodes that stand within a value. */
  addWithin(value: JsonValue): void {
    for (const item of walk(value)) {
      const id = isJsonObject(item) ? item['@id'] : undefined;
      if (isJsonObject(item) && typeof id === 'string') this.add(id, item);
    }
  }
}

/** A node that is a record, with fields that may refer to others. */
export type LinkedNode = { readonly line: number; readonly fields: Fields };

type WaitingRecord = {
  readonly record: LinkedNode | BrokenRecord;
  /** The ids that it waits for. */
  readonly missing: ReadonlySet<string>;
  readonly length: number;
};

export class ReferenceQueue {
  readonly #nodes = new KnownNodes();
  readonly #followedFields: ReadonlySet<string>;
  #waiting: WaitingRecord[] = [];
  #waitingLength = 0;

  /** `readFields`: schema.org's names of the fields that a table reads; others stay as they are. */
  constructor(readFields: readonly string[]) {
    this.#followedFields = new Set(readFields.filter((name) => !ID_FIELDS.has(name)));
  }

  /** Makes a node known that is no book. */
  addNode(fields: Fields): void {
    const id = fields.get('@id');
    if (typeof id === 'string') this.#nodes.add(id, Object.fromEntries(fields));
  }

  addRecord(record: LinkedNode | BrokenRecord): void {
    const missing = new Set<string>();
    let length = VALUE_LENGTH;
    if ('fields' in record) {
      for (const [name, value] of record.fields) {
        if (this.#followedFields.has(name)) this.#nodes.addWithin(value);
      }
      this.#resolve(record.fields, missing);
      // Most files have no references: their records are handed on at once.
      const isHandedOn = missing.size === 0 && this.#waiting.length === 0;
      if (!isHandedOn) length = measure(Object.fromEntries(record.fields));
    }
    this.#waiting.push({ record, missing, length });
    this.#waitingLength += length;
  }

  /** The records that wait for nothing, or no longer may; `arrivedCount` have come just now. */
  release(arrivedCount: number): readonly (LinkedNode | BrokenRecord)[] {
    let count = 0;
    let waitingLength = this.#waitingLength;
    for (const { missing, length } of this.#waiting) {
      if (count === RELEASED_MAX + arrivedCount) break;
      const isReady = [...missing].every((id) => this.#nodes.find(id) !== undefined);
      if (!isReady && waitingLength <= WAITING_LENGTH_MAX) break;
      waitingLength -= length;
      count += 1;
    }
    if (count === 0) return [];
    const records = this.#waiting.splice(0, count);
    this.#waitingLength = waitingLength;
    return records.map((record) => this.#finish(record));
  }

  /** All that wait, at the end of the file. */
  *releaseAll(): Generator<LinkedNode | BrokenRecord, void, void> {
    for (const record of this.#waiting) yield this.#finish(record);
    this.#waiting = [];
  }

  #finish({ record }: WaitingRecord): LinkedNode | BrokenRecord {
    return 'problem' in record
      ? record : { line: record.line, fields: this.#resolve(record.fields, new Set()) };
  }

  /** The fields with what they refer to; adds the ids that are to be waited for. */
  #resolve(fields: Fields, missing: Set<string>): Map<string, JsonValue> {
    const resolvedFields = new Map<string, JsonValue>();
    const resolver = new Resolver(this.#nodes);
    for (const [name, value] of fields) {
      const isAgent = AGENT_FIELDS.has(name);
      resolver.onMissing = (id) => {
        if (isAgent || LOCAL_ID.test(id)) missing.add(id);
      };
      const isFollowed = this.#followedFields.has(name);
      resolvedFields.set(name, isFollowed ? resolver.resolve(value, isAgent) : value);
    }
    return resolvedFields;
  }
}

/** Follows the references of one book. */
class Resolver {
  onMissing: (id: string) => void = () => {};
  readonly #nodes: KnownNodes;
  #left = FOLLOWED_MAX;

  constructor(nodes: KnownNodes) {
    this.#nodes = nodes;
  }

  /** `isAgent`: where a text may be an id, as a context can say. */
  resolve(value: JsonValue, isAgent: boolean, depth = 0): JsonValue {
    if (Array.isArray(value)) {
      return value.map((item: JsonValue) => this.resolve(item, isAgent, depth));
    }
    if (typeof value === 'string') {
      const isId = isAgent && (value.startsWith('_:') || this.#nodes.find(value) !== undefined);
      return isId ? this.#follow(value, value, depth) : value;
    }
    if (!isJsonObject(value)) return value;
    const { '@id': id } = value;
    const isReference = typeof id === 'string'
      && Object.keys(value).every((name) => name === '@id' || name === '@type');
    return isReference ? this.#follow(id, value, depth) : this.#resolveMembers(value, depth);
  }

  #follow(id: string, reference: JsonValue, depth: number): JsonValue {
    const node = this.#nodes.find(id);
    if (node === undefined) this.onMissing(id);
    if (node === undefined || depth === DEPTH_MAX || this.#left === 0) return reference;
    this.#left -= 1;
    return this.#resolveMembers(node, depth + 1);
  }

  #resolveMembers(object: JsonObject, depth: number): JsonObject {
    return Object.fromEntries(Object.entries(object).map(([name, item]) =>
      [name, ID_FIELDS.has(name) ? item : this.resolve(item, false, depth)]));
  }
}

/** About how much memory a value takes. */
function measure(value: JsonValue): number {
  let length = 0;
  for (const item of walk(value)) {
    length += VALUE_LENGTH + (typeof item === 'string' ? item.length : 0);
  }
  return length;
}

/** A value and all that it holds, without recursion. */
function* walk(value: JsonValue): Generator<JsonValue, void, void> {
  const rest: JsonValue[] = [value];
  for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
    yield item;
    if (Array.isArray(item)) for (const inner of item) rest.push(inner);
    else if (isJsonObject(item)) for (const inner of Object.values(item)) rest.push(inner);
  }
}
