/** One member of a model as inputs. What is emptied is absent from the value. */
import { fill, h } from '../../base/dom.ts';
import { nameOf, resolve, typeOf } from '../../base/schema.ts';
import type { ModelSchema } from '../../base/schema.ts';
import { messageOf } from '../../base/api.ts';
import { conditionField } from './condition.ts';
import { hasLineBreak } from './condition-text.ts';
import { FieldMistake, hintLine, labelOf, leaf, problemLine } from './leaf.ts';
import type { Asking, Field, FieldOptions } from './leaf.ts';

/** Longer texts get several lines. */
const LINE_LENGTH = 1000;
const CONDITION = 'WebhookConditionBody';
const INPUT_TYPES = ['string', 'number', 'integer'];

export function field(options: FieldOptions): Field {
  const schema = resolve(options.schema);
  const name = nameOf(options.schema);
  const { above = [] } = options;
  if (name === CONDITION) return conditionField(options);
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
  const text = typeof value === 'string' ? value : '';
  const isLong = (schema.maxLength ?? 0) > LINE_LENGTH || hasLineBreak(text);
  if (!isSecret && schema.format === undefined && isLong) {
    const area = h('textarea', { rows: 3 });
    area.value = text;
    return leaf(options, area, () => area.value === '' ? undefined : area.value);
  }
  return inputField(options, isSecret ? { type: 'password', autocomplete: 'new-password' }
    : { type: schema.format === 'uri' ? 'url' : 'text', autocomplete: 'off' }, String);
}

function inputField(
  options: FieldOptions, attributes: Readonly<Record<string, string>>,
  parse: (text: string) => unknown,
): Field {
  const { value, schema: { minimum, maximum, default: placeholder = '' } } = options;
  const input = h('input', {
    ...attributes, min: minimum, max: maximum, placeholder: String(placeholder),
  });
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

function objectField(
  { name, schema, value, isRequired, above, label = labelOf(name), asking }: FieldOptions,
): Field {
  const members = memberFields(schema, value, asking, above);
  const problem = problemLine();
  const element = h('fieldset', {}, h('legend', {}, label), hintLine(schema), problem,
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
  schema: ModelSchema, value: unknown, asking: Asking = {}, above: readonly string[] = [],
): Map<string, Field> {
  const values = typeof value === 'object' && value !== null ? value : {};
  const { words = {}, makers = {} } = asking;
  const required = schema.required ?? [];
  const entries = Object.entries(schema.properties ?? {})
    .filter(([, member]) => resolve(member).readOnly !== true && member.readOnly !== true)
    .map(([name, member]): [string, Field] => {
      const [label = labelOf(name), description = member.description, item] = words[name] ?? [];
      const { [name]: make = field } = makers;
      return [name, keepUntouched(make, {
        name, label, value: Reflect.get(values, name), above, asking,
        ...item === undefined ? {} : { item },
        schema: description === undefined ? member : { ...member, description },
        isRequired: required.includes(name),
      })];
    });
  return new Map(entries);
}

/**
 * A field that gives the value it was given while its inputs hold what they held at first: inputs
 * cannot tell an empty list or text from none, and change line breaks.
 */
function keepUntouched(make: (options: FieldOptions) => Field, options: FieldOptions): Field {
  const made = make(options);
  const { value, isRequired } = options;
  if (value === undefined && isRequired) return made;
  const before = JSON.stringify(made.read());
  return {
    ...made,
    read() {
      const now = made.read();
      return JSON.stringify(now) === before ? value : now;
    },
  };
}

export function readMembers(members: ReadonlyMap<string, Field>): Record<string, unknown> {
  const entries = [...members].map(([name, member]) => [name, member.read()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function arrayField(
  { name, schema, value, above = [], label = labelOf(name), item: one, asking = {} }: FieldOptions,
): Field {
  let items: Field[] = [];
  const itemName = (index: number): string => `${one ?? label} ${index + 1}`;
  const place = h('div', { class: 'items' });
  const problem = problemLine();
  const itemSchema = resolve(schema.items ?? {});
  const mayBeEmpty = itemSchema.enum === undefined && INPUT_TYPES.includes(typeOf(itemSchema));
  /** Those that are sent: an input that is left empty is no item. */
  const filledItems = (): Field[] =>
    mayBeEmpty ? items.filter((item) => item.read() !== undefined) : items;
  const make = (item: unknown, index: number): Field => keepUntouched(field, {
    name: itemName(index), value: item, isRequired: !mayBeEmpty, above, asking,
    // What is said of all need not be said of each.
    schema: one === undefined ? schema.items ?? {} : { ...schema.items, description: '' },
  });
  // Each is made anew, as its number stands in its name.
  const put = (values: readonly unknown[]): void => {
    items = values.map(make);
    fill(place, ...items.map((item, index) => h('div', { class: 'item' }, item.element,
      h('div', { class: 'actions' },
        index === 0 ? null : itemButton('Up', index, () =>
          change((all) => all.splice(index - 1, 0, ...all.splice(index, 1)))),
        itemButton('Remove', index, () => change(() => {}, items.toSpliced(index, 1)))))));
  };
  const itemButton = (text: string, index: number, onclick: () => void): HTMLElement =>
    h('button', {
      type: 'button', class: 'quiet', 'aria-label': `${text} ${itemName(index)}`, onclick: () => {
        onclick();
        add.focus();
      },
    }, text);
  const change = (edit: (all: unknown[]) => void, kept: readonly Field[] = items): void => {
    problem.textContent = '';
    try {
      const all = kept.map((item) => item.read());
      edit(all);
      put(all);
    } catch (thrown) {
      problem.textContent = messageOf(thrown);
    }
  };
  put(Array.isArray(value) ? value : []);
  const add = h('button', { type: 'button', class: 'quiet', onclick: () => {
    change((all) => all.push(undefined));
    place.lastElementChild?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  } }, one === undefined ? `Add to ${label.toLowerCase()}` : `Add ${one.toLowerCase()}`);
  return {
    element: h('fieldset', {}, h('legend', {}, label), hintLine(schema), problem, place, add),
    read() {
      const filled = filledItems();
      return filled.length === 0 ? undefined : filled.map((item) => item.read() ?? null);
    },
    blame([step, ...rest], detail) {
      const item = step === undefined ? undefined : filledItems()[Number(step)];
      if (item?.blame(rest, detail) === true) return true;
      problem.textContent = detail;
      return true;
    },
    clear() {
      problem.textContent = '';
      for (const item of items) item.clear();
    },
  };
}
