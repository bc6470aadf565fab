/**
 * References in a configuration document. `{ "$env": "NAME" }` stands for the value of a variable,
 * `{ "$file": "path" }` for the text of a file without one last newline; either may stand for any
 * string. They are resolved where the command runs: a server reads no variable and no file for its
 * callers, and refuses a document that still holds a reference.
 *
 * Valid is an object with exactly one member, `$env` or `$file`, whose value is a string that is
 * not empty. What it stands for is not empty either: an empty variable is how many CI systems pass
 * on a secret that nobody has set.
 */
import { resolve } from 'node:path';
import { AppError, messageOf } from '../../../base/errors.ts';
import { explainFileError } from '../../../base/file-error.ts';
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject, mapInner, mapMembers, pointerStep } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { quote } from '../../../base/text/error-message.ts';
import { formatFieldErrors } from '../../../server/problem.ts';
import { isKeepable } from '../../../webhooks/configuration/keepable-members.ts';

const ENVIRONMENT = '$env';
const FILE = '$file';
const EXAMPLES: Readonly<Record<string, string>> = {
  [ENVIRONMENT]: '{ "$env": "GITHUB_SECRET" }', [FILE]: '{ "$file": "/run/secrets/github" }',
};

type ReferenceDeps = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute; relative paths are below it. */
  readonly folder: string;
  /** Whether a file is read only once the process is the owner of the data directory. */
  readonly isReadLast: (path: string) => boolean;
  readonly readFile: (path: string) => Buffer;
  /** Members that stored webhooks keep: their references may stand for nothing (`isKeepable`). */
  readonly keep: readonly string[];
};

/** A reference, with the JSON Pointer of its place. */
type StringReference = { readonly pointer: string; readonly kind: string; readonly name: string };

export type ResolvedDocument = {
  readonly document: JsonObject;
  /** The texts that came from references, each with the reference that messages show for it. */
  readonly sources: ReadonlyMap<string, string>;
  /**
   * Why references stand for nothing, by their pointers: they are left as they are, since the
   * stored webhooks may keep these members. The server refuses those of a webhook that is new.
   */
  readonly problems: ReadonlyMap<string, string>;
};

/**
 * The document with what its references stand for in their place. Throws `invalid` that names all
 * that are wrong or stand for nothing, but not those that webhooks may keep.
 */
export function resolveReferences(document: JsonObject, deps: ReferenceDeps): ResolvedDocument {
  const errors: FieldError[] = [];
  const references: StringReference[] = [];
  collectReferences(document, '', references, errors);
  const texts = new Map<string, string>();
  const sources = new Map<string, string>();
  const problems = new Map<string, string>();
  for (const reference of orderReferences(references, deps)) {
    try {
      const text = readReference(reference, deps);
      texts.set(reference.pointer, text);
      sources.set(text, `{ "${reference.kind}": ${JSON.stringify(reference.name)} }`);
    } catch (thrown) {
      const { pointer } = reference;
      const [, kind = '', , member = ''] = pointer.split('/');
      if (isKeepable(kind, member, deps.keep)) problems.set(pointer, messageOf(thrown));
      else errors.push({ pointer, detail: messageOf(thrown) });
    }
  }
  if (errors.length > 0) throw new AppError('invalid', formatFieldErrors(errors), { errors });
  return {
    sources, problems, document: mapMembers(document, (value, name) =>
      replaceReferences(value, pointerStep(name), texts)),
  };
}

/**
 * The message with references in place of what they stand for: an error quotes the value that it
 * refuses, and a secret may stand where none belongs.
 */
export function hideValues(
  message: string, sources: ResolvedDocument['sources'],
): string {
  const quotedTexts = [...sources].map(([text, source]) => [quote(text), source] as const)
    .toSorted(([text], [otherText]) => otherText.length - text.length);
  return quotedTexts.reduce((hidden, [text, source]) =>
    hidden.replaceAll(text, () => `what ${source} stands for`), message);
}

function collectReferences(
  value: JsonValue, pointer: string, references: StringReference[], errors: FieldError[],
): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      collectReferences(item, pointer + pointerStep(index), references, errors);
    }
    return;
  }
  if (!isJsonObject(value)) return;
  const kind = [ENVIRONMENT, FILE].find((name) => Object.hasOwn(value, name));
  if (kind !== undefined) {
    const name = value[kind];
    const isValid = typeof name === 'string' && name !== '' && Object.keys(value).length === 1;
    if (isValid) references.push({ pointer, kind, name });
    else errors.push({ pointer, detail: `must be ${EXAMPLES[kind]}, with nothing beside it` });
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    collectReferences(member, pointer + pointerStep(name), references, errors);
  }
}

/**
 * Files that the owner of the data directory could replace come last: to read them, root becomes
 * that owner for good, who may not be allowed to read the others.
 */
function orderReferences(
  references: readonly StringReference[], deps: ReferenceDeps,
): readonly StringReference[] {
  const isLast = ({ kind, name }: StringReference): boolean =>
    kind === FILE && deps.isReadLast(resolve(deps.folder, name));
  const lastReferences = new Set(references.filter(isLast));
  return [
    ...references.filter((reference) => !lastReferences.has(reference)), ...lastReferences,
  ];
}

/** Throws `not_found` with what is wrong. */
function readReference({ kind, name }: StringReference, deps: ReferenceDeps): string {
  if (kind === FILE) return readText(resolve(deps.folder, name), deps);
  const value = Object.hasOwn(deps.environment, name) ? deps.environment[name] : undefined;
  if (value === undefined) {
    throw new AppError('not_found', `the environment variable ${name} is not set`);
  }
  if (value === '') throw new AppError('not_found', `the environment variable ${name} is empty`);
  return value;
}

function readText(path: string, { readFile }: ReferenceDeps): string {
  let bytes: Buffer;
  try {
    bytes = readFile(path);
  } catch (cause) {
    throw new AppError('not_found', `cannot read ${path}: ${explainFileError(cause)}`, {}, cause);
  }
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) {
    throw new AppError('not_found', `the file ${path} is not UTF-8`);
  }
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw new AppError('not_found', `the file ${path} is empty`);
  return value;
}

function replaceReferences(
  value: JsonValue, pointer: string, texts: ReadonlyMap<string, string>,
): JsonValue {
  return texts.get(pointer) ?? mapInner(value, (inner, step) =>
    replaceReferences(inner, pointer + pointerStep(step), texts));
}
