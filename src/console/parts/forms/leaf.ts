/** One input with its label, its hint, and what is wrong with it. */
import { h, uniqueId } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/schema.ts';

export interface Field {
  readonly element: HTMLElement;
  /** undefined: absent. Throws FieldMistake for what cannot be sent. */
  read(): unknown;
  /** Shows what is wrong at a JSON Pointer below this field; false when there is no such place. */
  blame(steps: readonly string[], detail: string): boolean;
  clear(): void;
}

export class FieldMistake extends Error {}

export type FieldOptions = {
  readonly name: string;
  readonly schema: ModelSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  /** What the field is called; made of its name when absent. */
  readonly label?: string;
  readonly item?: string;
  /** The models that this stands in: one that holds itself is asked for as JSON. */
  readonly above?: readonly string[];
  readonly asking?: Asking;
};

/** By the name of a member; `item` is what one of a list is called. */
export type Words = Readonly<Record<string, readonly [label: string, hint: string, item?: string]>>;

/** How some members are asked for; a form may say it better than the model does. */
export type Asking = {
  readonly words?: Words;
  readonly makers?: Readonly<Record<string, (options: FieldOptions) => Field>>;
};

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export function leaf(
  { name, schema, isRequired, label = labelOf(name) }: FieldOptions,
  input: Input, read: () => unknown, ...more: readonly Child[]
): Field {
  const id = uniqueId('field');
  const problem = problemLine(id);
  input.id = id;
  input.name = name;
  input.setAttribute('aria-describedby', `${id}-problem ${id}-hint`);
  if (isRequired) input.setAttribute('aria-required', 'true');
  const element = h('div', { class: `field ${input.type}` },
    h('label', { for: id }, label, isRequired ? h('span', {
      class: 'required', 'aria-hidden': 'true',
    }, ' *') : null),
    input, problem, hintLine(schema, `${id}-hint`), ...more);
  const blame: Field['blame'] = (_, detail) => {
    problem.textContent = detail;
    input.setAttribute('aria-invalid', 'true');
    return true;
  };
  const clear = (): void => {
    problem.textContent = '';
    input.removeAttribute('aria-invalid');
  };
  input.addEventListener('input', clear);
  return {
    element, blame, clear,
    read() {
      try {
        // Its value is empty then, as if nothing had been typed.
        if (input.validity.badInput) throw new FieldMistake(`${label}: this is no number.`);
        return read();
      } catch (thrown) {
        if (thrown instanceof FieldMistake) blame([], thrown.message);
        throw thrown;
      }
    },
  };
}

export function problemLine(id: string | null = null): HTMLElement {
  return h('p', { class: 'problem', id: id === null ? null : `${id}-problem` });
}

/** What stands between backticks is code. */
export function hintLine(
  { description = '' }: ModelSchema, id: string | null = null,
): HTMLElement | null {
  return description === '' ? null : h('p', { class: 'hint', id }, ...description.split(/\x60/)
    .map((part, index) => index % 2 === 1 ? h('code', {}, part) : part));
}

/** `allowedMethods` reads `Allowed methods`. */
export function labelOf(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
    .replace(/\b(url|isbn|id)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
