/**
 * Writes books as JSON-LD, each a node: one book alone is an object, several are the `@graph` of
 * one. Nothing is written that schema.org does not define for the types of the node: what is left
 * out for this is counted.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../../base/fields.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { BookWriter, WriterOptions } from '../format-codec.ts';
import type { FormatTable } from '../mapping/format-table.ts';
import { createTableWriter } from '../mapping/table-codec.ts';
import type { WrittenRecord } from '../mapping/write-record.ts';
import { ContextTerms } from './jsonld-terms.ts';
import { findTexts } from './jsonld-values.ts';
import {
  BOOK_TYPES, isAudiobookProperty, isBookProperty, isWorkProperty, isWorkType,
} from './schema-org.ts';

const CONTEXT = 'https://schema.org';

export function createNodeWriter(
  table: FormatTable, { isOneBook = false }: WriterOptions,
): BookWriter {
  return createTableWriter(table, (record) => {
    const { node, leavesOut } = createNode(record);
    const text = isOneBook
      ? `${encodeJson({ '@context': CONTEXT, ...node })}\n` : `\n${encodeJson(node)}`;
    return { text, leavesOut };
  }, isOneBook ? {}
    : { begin: `{"@context":"${CONTEXT}","@graph":[`, separator: ',', end: '\n]}\n' });
}

type WrittenNode = {
  readonly node: JsonObject;
  /** Whether it lacks fields of the record. */
  readonly leavesOut: boolean;
};

function createNode({ ownId, fields }: WrittenRecord): WrittenNode {
  const sourceTypes = findTexts(fields.get('@type')).texts;
  const ownTypes = sourceTypes.flatMap((type) => findTypeName(type) ?? []);
  const isProperty = ownTypes.includes('Audiobook') ? isAudiobookProperty : isBookProperty;
  const members = new Map<string, JsonValue>();
  let isWhole = true;
  for (const [name, value] of fields) {
    if (name === '@type') continue;
    const property = ContextTerms.schemaOrg.resolve(name);
    if (property !== null && isProperty(property) && !members.has(property)) {
      const ownValue = withoutForeignNames(value);
      members.set(property, ownValue);
      isWhole &&= isDeepStrictEqual(ownValue, value);
    } else {
      isWhole = false;
    }
  }
  const types = completeTypes(ownTypes, [...members.keys()]);
  const [type = ''] = types;
  const node = {
    '@type': types.length === 1 ? type : [...types],
    '@id': ownId,
    ...Object.fromEntries(members),
  };
  return { node, leavesOut: !isWhole || ownTypes.length < sourceTypes.length };
}

const TYPE_NAME = /^[A-Z0-9][A-Za-z0-9]*$/;

function findTypeName(type: string): string | null {
  const name = ContextTerms.schemaOrg.resolve(type);
  return name !== null && TYPE_NAME.test(name) ? name : null;
}

/** The types, and Book too where none of them has all the properties. */
function completeTypes(
  types: readonly string[], properties: readonly string[],
): readonly string[] {
  const isComplete = types.some((type) => BOOK_TYPES.includes(type))
    || (types.some(isWorkType) && properties.every(isWorkProperty));
  return isComplete ? types : [...types, 'Book'];
}

/** By their form: a value from another file may have members that are no names of schema.org. */
const OWN_NAME = /^@?[A-Za-z][A-Za-z0-9]*$/;

function withoutForeignNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutForeignNames(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => OWN_NAME.test(name))
    .map(([name, item]) => [name, withoutForeignNames(item)]));
}
