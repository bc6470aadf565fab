/** One member of a model as inputs. What is left empty is absent from the value. */
import { h, fill, uniqueId } from '../../base/dom.ts';
import { nameOf, resolve, typeOf } from '../../base/schema.ts';
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

type FieldOptions = {
  readonly name: string;
  readonly schema: ModelSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  /** The models that this stands in: one that holds itself is asked for as JSON. */
  readonly above?: readonly string[];
};

/** Longer texts get several lines. */
const LINE_LENGTH = 1000;

export function field(options: FieldOptions): Field {
  const schema = resolve(options.schema);
  const name = nameOf(options.schema);
  const { above = [] } = options;
  if (name !== null && above.includes(name)) return jsonField({ ...options, schema });
  const given = { ...options, schema, above: name === null ? above : [...above, name] };
  switch (typeOf(schema)) {
    case 'boolean': return booleanField(given);
    case 'integer':
    case 'number': return inputField(given, { type: 'number', step: 'any' }, Number);
    case 'string': return stringField(given);
    case 'array': return arrayField(given);
    case 'object': return schema.properties === undefined ? jsonField(given) : objectField(given);
    default: return jsonField(given);
  }
}

function stringField(options: FieldOptions): Field {
  const { schema, value } = options;
  if (schema.enum !== undefined) return selectField(options);
  const isSecret = schema.writeOnly === true;
  if (!isSecret && (schema.maxLength ?? 0) > LINE_LENGTH) {
    const area = h('textarea', { rows: 3 });
    area.value = typeof value === 'string' ? value : '';
    return leaf(options, area, () => area.value === '' ? undefined : area.value);
  }
  return inputField(options, isSecret
    ? { type: 'password', autocomplete: 'new-password', placeholder: 'unchanged when left empty' }
    : { type: 'text' }, String);
}

function inputField(
  options: FieldOptions, attributes: Readonly<Record<string, string>>,
  parse: (text: string) => unknown,
): Field {
  const { value, schema: { minimum, maximum } } = options;
  const input = h('input', { ...attributes, min: minimum, max: maximum });
  input.value = value === undefined || value === null ? '' : String(value);
  return leaf(options, input, () => input.value === '' ? undefined : parse(input.value));
}

function selectField(options: FieldOptions): Field {
  const { schema, value, isRequired } = options;
  const values = (schema.enum ?? []).map(String);
  const select = h('select', {}, ...isRequired ? [] : [h('option', { value: '' }, '–')],
    ...values.map((one) => h('option', { value: one }, one)));
  select.value = String(value ?? schema.default ?? '');
  return leaf(options, select, () => select.value === '' ? undefined : select.value);
}

function booleanField(options: FieldOptions): Field {
  const { value, schema } = options;
  const box = h('input', { type: 'checkbox' });
  box.checked = (value ?? schema.default) === true;
  return leaf(options, box, () => box.checked);
}

/** An object without a model, or a value of any type: JSON as text. */
function jsonField(options: FieldOptions): Field {
  const { value, name } = options;
  const area = h('textarea', { rows: 4, class: 'mono', spellcheck: 'false' });
  area.value = value === undefined ? '' : JSON.stringify(value, null, 2);
  return leaf(options, area, () => {
    if (area.value.trim() === '') return undefined;
    try {
      return JSON.parse(area.value);
    } catch (thrown) {
      throw new FieldMistake(`${name} is not JSON: ${String(thrown)}`);
    }
  });
}

function leaf(
  { name, schema, isRequired }: FieldOptions,
  input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement, read: () => unknown,
): Field {
  const id = uniqueId('field');
  const problem = h('p', { class: 'problem', id: `${id}-problem` });
  const hint = h('p', { class: 'hint', id: `${id}-hint` }, schema.description ?? '');
  input.id = id;
  input.name = name;
  input.setAttribute('aria-describedby', `${id}-problem ${id}-hint`);
  if (isRequired) input.setAttribute('aria-required', 'true');
  const label = h('label', { for: id }, labelOf(name), isRequired ? h('span', {
    class: 'required', 'aria-hidden': 'true',
  }, ' *') : null);
  const element = h('div', { class: `field ${input.type}` }, label, input, problem,
    schema.description === undefined ? null : hint);
  return {
    element, read,
    blame(_, detail) {
      problem.textContent = detail;
      input.setAttribute('aria-invalid', 'true');
      return true;
    },
    clear() {
      problem.textContent = '';
      input.removeAttribute('aria-invalid');
    },
  };
}

function objectField({ name, schema, value, isRequired, above = [] }: FieldOptions): Field {
  const members = memberFields(schema, value, above);
  const problem = h('p', { class: 'problem' });
  const element = h('fieldset', {}, h('legend', {}, labelOf(name)), problem,
    ...[...members.values()].map((member) => member.element));
  return {
    element,
    read() {
      const read = readMembers(members);
      return Object.keys(read).length === 0 && !isRequired ? undefined : read;
    },
    blame([step = '', ...rest], detail) {
      if (members.get(step)?.blame(rest, detail) === true) return true;
      problem.textContent = detail;
      return true;
    },
    clear() {
      problem.textContent = '';
      for (const member of members.values()) member.clear();
    },
  };
}

/** A field for each member of a model that may be sent, in the model's order. */
export function memberFields(
  schema: ModelSchema, value: unknown, above: readonly string[] = [],
): Map<string, Field> {
  const values = typeof value === 'object' && value !== null ? value : {};
  const required = schema.required ?? [];
  const entries = Object.entries(schema.properties ?? {})
    .filter(([, member]) => resolve(member).readOnly !== true && member.readOnly !== true)
    .map(([name, member]): [string, Field] => [name, field({
      name, schema: member, value: Reflect.get(values, name), above,
      isRequired: required.includes(name),
    })]);
  return new Map(entries);
}

export function readMembers(members: ReadonlyMap<string, Field>): Record<string, unknown> {
  const entries = [...members].map(([name, member]) => [name, member.read()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function arrayField({ name, schema, value, above = [] }: FieldOptions): Field {
  const items: Field[] = [];
  const place = h('div', { class: 'items' });
  const problem = h('p', { class: 'problem' });
  const show = (): void => fill(place, ...items.map((item, index) => h('div', { class: 'item' },
    item.element, h('button', {
      type: 'button', class: 'quiet', 'aria-label': `Remove ${labelOf(name)} ${index + 1}`,
      onclick: () => {
        items.splice(index, 1);
        show();
        button.focus();
      },
    }, 'Remove'))));
  const add = (item: unknown): void => {
    items.push(field({
      name: `${labelOf(name)} ${items.length + 1}`, schema: schema.items ?? {}, value: item,
      isRequired: true, above,
    }));
    show();
  };
  for (const item of Array.isArray(value) ? value : []) add(item);
  const button = h('button', { type: 'button', class: 'quiet', onclick: () => {
    add(undefined);
    const input = items.at(-1)?.element.querySelector('input, textarea, select');
    if (input instanceof HTMLElement) input.focus();
  } },
    `Add to ${labelOf(name).toLowerCase()}`);
  return {
    element: h('fieldset', {}, h('legend', {}, labelOf(name)), problem, place, button),
    read: () => items.length === 0 ? undefined : items.map((item) => item.read() ?? null),
    blame([step, ...rest], detail) {
      if (step !== undefined && items[Number(step)]?.blame(rest, detail) === true) return true;
      problem.textContent = detail;
      return true;
    },
    clear() {
      problem.textContent = '';
      for (const item of items) item.clear();
    },
  };
}

/** `allowedMethods` reads `Allowed methods`. */
export function labelOf(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
    .replace(/\b(url|isbn|id)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
