/**
 * The report of a conversion beside its document: the gaps, which are the parts of a hook without a
 * counterpart, and the things that people have to provide.
 */
import { isJsonObject, mapInner, pointerStep } from '../../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { takeUniqueName } from '../../../../base/text/unique-name.ts';
import { parseSecretTemplate } from './hook-template.ts';

export type Gap = {
  /** The `id` of the hook; empty: it has none. */
  readonly hook: string;
  /** The JSON Pointer of its place in the hooks file. */
  readonly pointer: string;
  readonly reason: string;
  readonly remedy: string;
  /** Whether the webhook is disabled, as it would do something else than the hook. */
  readonly isDisabling: boolean;
};

/** A text of a hooks file, and its place. */
export type HookText = { readonly value: string; readonly pointer: string };

/** A variable that a document names in place of a secret. */
export type HookSecret = {
  readonly name: string; readonly hook: string; readonly pointer: string;
  /** null: the hooks file names the variable. */
  readonly value: string | null;
};

const SECRETS_FOLDER = '/run/secrets';

/** Collects what is to be told of one hook. */
export class HookReport {
  readonly hook: string;
  /** The place of the hook in the file. */
  readonly pointer: string;
  readonly gaps: Gap[] = [];
  readonly variables: HookSecret[] = [];
  /** Whether a part of what keeps strangers out is lost: then nothing may run. */
  isLocked = false;
  readonly #takenNames: Set<string>;

  /** `takenNames` are the names of all variables of the document. */
  constructor(hook: string, pointer: string, takenNames: Set<string>) {
    this.hook = hook;
    this.pointer = pointer;
    this.#takenNames = takenNames;
  }

  get isDisabled(): boolean {
    return this.gaps.some(({ isDisabling }) => isDisabling);
  }

  /** The list that a member of the hook is; one that is none is told, and empty. */
  readList(hook: JsonObject, member: string): readonly JsonValue[] {
    const list = hook[member] ?? [];
    if (Array.isArray(list)) return list;
    this.lose(at(this.pointer, member), 'this is no list', 'write an array');
    return [];
  }

  /** Tells a gap that changes what runs, or what the sender is answered. */
  lose(pointer: string, reason: string, remedy: string): void {
    this.gaps.push({ hook: this.hook, pointer, reason, remedy, isDisabling: true });
  }

  /** Tells a gap in what keeps strangers out. */
  lock(pointer: string, reason: string, remedy: string): void {
    this.isLocked = true;
    this.lose(pointer, reason, remedy);
  }

  /** Tells a gap that matters in rare cases, or to people alone. */
  note(pointer: string, reason: string, remedy: string): void {
    this.gaps.push({ hook: this.hook, pointer, reason, remedy, isDisabling: false });
  }

  /** The reference to a variable, or a file, that holds the secret at the place. */
  referToSecret({ value, pointer }: HookText): JsonObject {
    const template = parseSecretTemplate(value);
    if (template?.source === 'secret') return { $file: `${SECRETS_FOLDER}/${template.name}` };
    const variable = template === null ? { name: this.#makeName(), value }
      : { name: template.name, value: null };
    this.variables.push({ ...variable, hook: this.hook, pointer });
    return { $env: variable.name };
  }

  #makeName(): string {
    const letters = this.hook.toUpperCase().replace(/[^A-Z0-9]+/g, '_').replace(/^_|_$/g, '');
    const isReserved = /^(?:\d|$)/.test(letters) || letters.startsWith('HOOKSHELF');
    const base = `${isReserved ? `HOOK_${letters}` : letters}_SECRET`.replace('__', '_');
    return takeUniqueName(base, this.#takenNames, { separator: '_' });
  }
}

/** The JSON Pointer of what is within a place. */
export function at(pointer: string, ...steps: readonly (string | number)[]): string {
  return pointer + steps.map(pointerStep).join('');
}

/** A part of the document with a text in place of each reference, to be checked. */
export function fillReferences(value: JsonValue): JsonValue {
  const isReference = isJsonObject(value)
    && (value['$env'] !== undefined || value['$file'] !== undefined);
  return isReference ? 'secret' : mapInner(value, fillReferences);
}
