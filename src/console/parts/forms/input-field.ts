/** The contract of form fields, and a field of one input with its label, hint and error. */
import { h, uniqueId, type Child } from '../../base/dom.ts';
import { formatFieldProblem, formatLabel, parsePointer } from '../../base/field-problem.ts';
import { ApiError, messageOf } from '../../base/api-calls.ts';
import { parseTypedJson } from '../../base/json-places.ts';
import { encodeJson } from '../../base/json-text.ts';
import type { ModelSchema } from '../../base/model-schema.ts';

export interface Field {
  readonly element: HTMLElement;
  /** undefined: the member is absent. Throws InputError for input that cannot be sent. */
  read(): unknown;
  /**
   * Shows an error of the value at `steps`, the steps of a JSON Pointer below this field; none: the
   * field's own value. Returns false when there is no field for it. A field without fields in it
   * shows any error as its own.
   */
  showError(steps: readonly string[], detail: string): boolean;
  clearError(): void;
}

/** A form says this below its fields while these show what is wrong. */
export const FIELDS_WRONG = 'Some fields cannot be saved as they are.';

export class InputError extends Error {}

/**
 * Shows errors of the API beside the fields that it names. Returns what is to be said below them:
 * an error that no field shows stands there in full.
 */
export function showFieldErrors(fields: Pick<Field, 'showError'>, thrown: unknown): string {
  const errors = thrown instanceof ApiError ? thrown.problem.errors ?? [] : [];
  if (errors.length === 0) return messageOf(thrown);
  const otherErrors = errors.filter(({ pointer, detail }) =>
    !fields.showError(parsePointer(pointer), detail));
  return [FIELDS_WRONG, ...otherErrors.map(formatFieldProblem)].join(' ');
}

export type FieldOptions = {
  readonly name: string;
  readonly schema: ModelSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  /** The label; by default the schema's title, else the words of the name. */
  readonly label?: string | undefined;
  /** The models around this field: a model within itself is edited as JSON. */
  readonly outerModels?: readonly string[];
  /** For the fields within this one. */
  readonly factories?: FieldFactories;
};

/** Options of a field of one input, which need not be that of a member of a model. */
type InputOptions = Pick<FieldOptions, 'name' | 'label'>
  & Partial<Pick<FieldOptions, 'schema' | 'isRequired'>>;

/** Functions that make fields, by the kind of field that a model asks for, or by member name. */
export type FieldFactories = Readonly<Record<string, (options: FieldOptions) => Field>>;

type InputElement = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/**
 * A field that is one input. `read` returns the value of the input, and may throw InputError.
 * `afterHint` is shown below the hint, such as a button that belongs to the input.
 */
export function inputField(
  options: InputOptions, input: InputElement, read: () => unknown, ...afterHint: readonly Child[]
): Field {
  const { name, schema = {}, isRequired = false } = options;
  const label = findLabel(options);
  const id = uniqueId('field');
  const problemId = `${id}-problem`;
  const hintId = `${id}-hint`;
  const problem = errorLine(problemId);
  input.id = id;
  input.name = name;
  input.setAttribute('aria-describedby', `${problemId} ${hintId}`);
  if (isRequired) input.setAttribute('aria-required', 'true');
  const element = h('div', { class: `field ${input.type}` },
    h('label', { for: id }, label, isRequired ? h('span.required', {
      'aria-hidden': 'true',
    }, ' *') : null),
    input, problem, hintLine(schema, hintId), ...afterHint);
  const showError: Field['showError'] = (_steps, detail) => {
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
        // The value of a bad number or time is empty, as if the user had typed nothing.
        if (input.validity.badInput) {
          const noun = input.type === 'number' ? 'number' : 'time';
          throw new InputError(`${label}: this is no ${noun}.`);
        }
        return read();
      } catch (thrown) {
        if (thrown instanceof InputError) showError([], thrown.message);
        throw thrown;
      }
    },
  };
}

export function codeArea(rows: number, text = ''): HTMLTextAreaElement {
  const area = h('textarea', { rows, class: 'mono', spellcheck: 'false', autocomplete: 'off' });
  area.value = text;
  return area;
}

/**
 * Edits an object without a model, or a value of any type, as JSON text. It shows every error
 * within it, each behind the name of its member.
 */
export function createJsonField(options: InputOptions & { readonly value: unknown }): Field {
  const { value } = options;
  const area = codeArea(4, value === undefined ? '' : encodeJson(value, 2));
  const details: string[] = [];
  const field = inputField(options, area, () => {
    if (area.value.trim() === '') return undefined;
    try {
      return parseTypedJson(area.value, findLabel(options));
    } catch (thrown) {
      throw new InputError(messageOf(thrown));
    }
  });
  const forget = (): void => {
    details.length = 0;
  };
  area.addEventListener('input', forget);
  return {
    ...field,
    showError(steps, detail) {
      if (steps.length === 0) return field.showError(steps, detail);
      details.push(`${steps.join('.')}: ${detail}`);
      return field.showError([], details.join('; '));
    },
    clearError() {
      forget();
      field.clearError();
    },
  };
}

/** The empty line in which a field shows its error; `id` is the id of that line. */
export function errorLine(id: string | null = null): HTMLElement {
  return h('p.problem', { id });
}

/**
 * The schema's hint, else its description, as a line with this `id`; null without either. Text
 * between backticks is shown as code.
 */
export function hintLine(
  { description = '', 'x-form': form }: ModelSchema, id: string | null = null,
): HTMLElement | null {
  const hint = form?.hint ?? description;
  return hint === '' ? null : h('p.hint', { id }, ...hint.split(/\x60/)
    .map((part, index) => index % 2 === 1 ? h('code', part) : part));
}

export function findLabel(
  { name, schema = {}, label }: InputOptions,
): string {
  return label ?? schema.title ?? formatLabel(name);
}
