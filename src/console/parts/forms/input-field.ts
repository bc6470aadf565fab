/** One input with its label, its hint, and what is wrong with it. */
import { h, uniqueId } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/model-schema.ts';

export interface Field {
  readonly element: HTMLElement;
  /** undefined: absent. Throws FieldMistake for what cannot be sent. */
  read(): unknown;
  /** Shows what is wrong at a JSON Pointer below this field; false when there is no such place. */
  showError(steps: readonly string[], detail: string): boolean;
  clearError(): void;
}

export class InputError extends Error {}

export type FieldOptions = {
  readonly name: string;
  readonly schema: ModelSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  /** What the field is called; made of its name when absent. */
  readonly label?: string;
  readonly itemLabel?: string;
  /** The models that this stands in: one that holds itself is asked for as JSON. */
  readonly outerModels?: readonly string[];
  readonly customization?: FieldCustomization;
};

/** By the name of a member; `item` is what one of a list is called. */
export type FieldTexts =
  Readonly<Record<string, readonly [label: string, hint: string, item?: string]>>;

/** How some members are asked for; a form may say it better than the model does. */
export type FieldCustomization = {
  readonly texts?: FieldTexts;
  readonly factories?: Readonly<Record<string, (options: FieldOptions) => Field>>;
};

type InputElement = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export function inputField(
  { name, schema, isRequired, label = formatLabel(name) }: FieldOptions,
  input: InputElement, read: () => unknown, ...more: readonly Child[]
): Field {
  const id = uniqueId('field');
  const problem = errorLine(id);
  input.id = id;
  input.name = name;
  input.setAttribute('aria-describedby', `${id}-problem ${id}-hint`);
  if (isRequired) input.setAttribute('aria-required', 'true');
  const element = h('div', { class: `field ${input.type}` },
    h('label', { for: id }, label, isRequired ? h('span', {
      class: 'required', 'aria-hidden': 'true',
    }, ' *') : null),
    input, problem, hintLine(schema, `${id}-hint`), ...more);
  const showError: Field['showError'] = (_, detail) => {
    problem.textContent = detail;
    input.setAttribute('aria-invalid', 'true');
    return true;
  };
  const clearError = (): void => {
    problem.textContent = '';
    input.removeAttribute('aria-invalid');
  };
  input.addEventListener('input', clearError);
  return {
    element, showError, clearError,
    read() {
      try {
        // Its value is empty then, as if nothing had been typed.
        if (input.validity.badInput) throw new InputError(`${label}: this is no number.`);
        return read();
      } catch (thrown) {
        if (thrown instanceof InputError) showError([], thrown.message);
        throw thrown;
      }
    },
  };
}

export function errorLine(id: string | null = null): HTMLElement {
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
export function formatLabel(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
    .replace(/\b(url|isbn|id)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
