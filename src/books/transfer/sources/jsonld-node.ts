/**
 * Makes field records of the nodes of JSON-LD. The fields that are read have schema.org's names, as
 * have the members of their values at every depth; the others have the names of the file. Where
 * such a name could be mistaken for schema.org's, as it is another vocabulary's, or a second name
 * for one field, it is written out as an absolute one. A name that its context says to ignore goes.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { JsonNodeSplitter } from '../grammars/nested-json.ts';
import type { JsonNode, JsonScope } from '../grammars/nested-json.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter } from '../mapping/format-table.ts';
import { ReferenceQueue } from './jsonld-references.ts';
import type { LinkedNode } from './jsonld-references.ts';
import { ContextTerms } from './jsonld-terms.ts';
import { findTexts } from './jsonld-values.ts';
import { BOOK_TYPES, SCHEMA_ORG_TERMS } from './schema-org.ts';

export class JsonldSplitter implements FieldSplitter {
  readonly #splitter = new JsonNodeSplitter();
  readonly #queue: ReferenceQueue;
  readonly #readFields: ReadonlySet<string>;
  /** The terms of contexts around nodes, read once for all: a context may be a megabyte. */
  readonly #terms = new WeakMap<JsonScope, ContextTerms>();

  /** `readFields`: schema.org's names of the fields that a table reads. */
  constructor(readFields: readonly string[]) {
    this.#readFields = new Set(['@id', '@type', ...readFields]);
    this.#queue = new ReferenceQueue(readFields);
  }

  push(chunk: Buffer): readonly (FieldRecord | BrokenRecord)[] {
    const items = this.#splitter.push(chunk);
    for (const item of items) this.#add(item);
    return this.#queue.release(items.length).map(createRecord);
  }

  *end(): Generator<FieldRecord | BrokenRecord, void, void> {
    for (const item of this.#splitter.end()) this.#add(item);
    for (const record of this.#queue.releaseAll()) yield createRecord(record);
  }

  #add(item: JsonNode | BrokenRecord): void {
    if ('problem' in item) {
      this.#queue.addRecord(item);
      return;
    }
    const { line, node, scope } = item;
    const terms = this.#findTerms(scope);
    const fields = renameMembers(node, terms, '', (name) => this.#readFields.has(name));
    const isBook = findTexts(fields.get('@type')).texts.some((name) => BOOK_TYPES.includes(name));
    if (!isBook && fields.has('@id')) {
      this.#queue.addNode(renameMembers(node, terms, '', () => true));
    }
    this.#queue.addRecord({ line, fields });
  }

  #findTerms(scope: JsonScope | null): ContextTerms {
    if (scope === null) return ContextTerms.schemaOrg;
    const knownTerms = this.#terms.get(scope);
    if (knownTerms !== undefined) return knownTerms;
    const terms = this.#findTerms(scope.outer).with(scope.context);
    this.#terms.set(scope, terms);
    return terms;
  }
}

function createRecord(record: LinkedNode | BrokenRecord): FieldRecord | BrokenRecord {
  if ('problem' in record) return record;
  const { line } = record;
  const fields = new Map(record.fields);
  const types = findTexts(fields.get('@type')).texts;
  const type = types.find((name) => BOOK_TYPES.includes(name)) ?? types[0] ?? '';
  // Every record says that it is a book.
  if (types.length === 1 && type === 'Book') fields.delete('@type');
  const [id = ''] = findTexts(fields.get('@id')).texts;
  fields.delete('@id');
  // The name of a blank node holds within its file alone.
  const key = id === '' || id.startsWith('_:') ? null : id;
  if (key !== null) fields.set('@id', key);
  return { line, key, type, fields };
}

/** Fields whose texts are names of schema.org, perhaps with a prefix. */
const NAME_FIELDS: ReadonlySet<string> = new Set(['@type', 'bookFormat']);

/** Members of an object that hold the value of the field itself. */
const VALUE_MEMBERS: ReadonlySet<string> = new Set(['@value', '@id', '@list', '@set']);

/** The members of an object that is the value of `field`, or a node. */
function renameMembers(
  object: JsonObject, outerTerms: ContextTerms, field: string, isRead: (name: string) => boolean,
): Map<string, JsonValue> {
  const { '@context': context } = object;
  const terms = context === undefined ? outerTerms : outerTerms.with(context);
  const members = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(object)) {
    if (name === '@context') continue;
    const property = terms.resolve(name);
    if (property !== null && isRead(property) && !members.has(property)) {
      const valueName = VALUE_MEMBERS.has(property) ? field : property;
      members.set(property, renameValue(value, terms, valueName));
      continue;
    }
    const isMistakable = SCHEMA_ORG_TERMS.has(name) && (property !== name || isRead(name));
    const ownName = isMistakable ? terms.expand(name) : name;
    if (ownName !== null) members.set(ownName, value);
  }
  return members;
}

function renameValue(value: JsonValue, terms: ContextTerms, field: string): JsonValue {
  if (typeof value === 'string') {
    return NAME_FIELDS.has(field) ? terms.resolve(value) ?? value : value;
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue) => renameValue(item, terms, field));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(renameMembers(value, terms, field, () => true));
}
