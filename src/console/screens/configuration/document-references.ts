/**
 * The values that a configuration document leaves to its surroundings: `{ "$env": <name> }` for a
 * variable, `{ "$file": <path> }` for the text of a file. The server takes neither. Pure.
 */
import { isContainer } from '../../base/json-text.ts';

/** `key` is the same for all references to one value. */
type DocumentReference = {
  readonly kind: '$env' | '$file'; readonly name: string; readonly key: string;
};

/** The references in a document, each value once, in the order of the document. */
export function listReferences(document: unknown): readonly DocumentReference[] {
  const references = new Map<string, DocumentReference>();
  replaceReferences(document, (reference) => {
    references.set(reference.key, reference);
    return '';
  });
  return [...references.values()];
}

/** The document with what `findText` returns in place of each reference. */
export function replaceReferences(
  value: unknown, findText: (reference: DocumentReference) => string,
): unknown {
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map((item) => replaceReferences(item, findText));
  const reference = parseReference(value);
  if (reference !== null) return findText(reference);
  // Not by assignment: `__proto__` is a member like any other.
  return Object.fromEntries(Object.entries(value)
    .map(([name, member]) => [name, replaceReferences(member, findText)]));
}

function parseReference(value: object): DocumentReference | null {
  const [[kind, name] = [], another] = Object.entries(value);
  if (another !== undefined || typeof name !== 'string') return null;
  return kind === '$env' || kind === '$file' ? { kind, name, key: `${kind} ${name}` } : null;
}
