/** Creates the field for a member of a model, by its type. An emptied input is an absent member. */
import { encodeJson } from '../../base/json-text.ts';
import { fill, h, createSelect } from '../../base/dom.ts';
import {
  findModelName, hasField, resolveSchema, findType, type ModelSchema,
} from '../../base/model-schema.ts';
import { messageOf } from '../../base/api-calls.ts';
import { conditionField } from './condition-field.ts';
import { hasLineBreak } from './condition-text.ts';
import {
  createJsonField, errorLine, findLabel, hintLine, inputField, type Field, type FieldFactories,
  type FieldOptions,
} from './input-field.ts';

/** Texts that may be longer get several lines: paths and ids have one. */
const LINE_LENGTH = 4096;
export const CONDITION = 'WebhookConditionBody';
const INPUT_TYPES = ['string', 'number', 'integer'];

export function modelField(options: FieldOptions): Field {
  const schema = resolveSchema(options.schema);
  const name = findModelName(options.schema);
  const { outerModels = [] } = options;
  if (name === CONDITION) return conditionField(options);
  if (name !== null && outerModels.includes(name)) return createJsonField({ ...options, schema });
  const fieldOptions = {
    ...options, schema, outerModels: name === null ? outerModels : [...outerModels, name],
  };
  switch (findType(schema)) {
    case 'boolean': return createBooleanField(fieldOptions);
    case 'integer':
    case 'number': return createInputField(fieldOptions, { type: 'number', step: 'any' }, Number);
    case 'string': return createStringField(fieldOptions);
    case 'array': return createArrayField(fieldOptions);
    case 'object': return schema.properties === undefined ? createJsonField(fieldOptions)
      : createObjectField(fieldOptions);
    default: return createJsonField(fieldOptions);
  }
}

function createStringField(options: FieldOptions): Field {
  const { schema, value } = options;
  if (schema.enum !== undefined) return createSelectField(options);
  const isSecret = schema.writeOnly === true;
  const text = typeof value === 'string' ? value : '';
  const isLong = (schema.maxLength ?? 0) > LINE_LENGTH || hasLineBreak(text);
  if (!isSecret && schema.format === undefined && isLong) {
    const area = h('textarea', { rows: 3 });
    area.value = text;
    return inputField(options, area, () => area.value === '' ? undefined : area.value);
  }
  return createInputField(options, isSecret ? { type: 'password', autocomplete: 'new-password' }
    : { type: schema.format === 'uri' ? 'url' : 'text', autocomplete: 'off' }, String);
}

function createInputField(
  options: FieldOptions, attributes: Readonly<Record<string, string>>,
  parse: (text: string) => unknown,
): Field {
  const { value, schema: { minimum, maximum, default: placeholder = '' } } = options;
  const input = h('input', {
    ...attributes, min: minimum, max: maximum, placeholder: String(placeholder),
    value: String(value ?? ''),
  });
  return inputField(options, input, () => input.value === '' ? undefined : parse(input.value));
}

function createSelectField(options: FieldOptions): Field {
  const { schema, value, isRequired } = options;
  const values = (schema.enum ?? []).map(String);
  const none = isRequired ? [] : [['', '–'] as const];
  const select = createSelect([...none, ...values.map((one) => [one, one] as const)],
    String(value ?? ''));
  return inputField(options, select, () => select.value === '' ? undefined : select.value);
}

function createBooleanField(options: FieldOptions): Field {
  const box = h('input', { type: 'checkbox', checked: options.value === true });
  return inputField(options, box, () => box.checked);
}

function createObjectField(options: FieldOptions): Field {
  const { schema, value, isRequired, outerModels, factories } = options;
  const members = new MemberFields(schema, value, factories, outerModels);
  const problem = errorLine();
  // The stars in it are of members that it needs if it is there at all.
  const isChosen = !isRequired && (schema.required ?? []).length > 0;
  const element = h('fieldset',
    h('legend', findLabel(options), isChosen && h('span.hint', ' optional')), hintLine(schema),
    problem, ...members.elements);
  return {
    element,
    read() {
      const memberValues = members.read();
      const isEmpty = Object.keys(memberValues).length === 0;
      return isEmpty && !isRequired ? undefined : memberValues;
    },
    showError(steps, detail) {
      if (!members.showError(steps, detail)) problem.textContent = detail;
      return true;
    },
    clearError() {
      problem.textContent = '';
      members.clearErrors();
    },
  };
}

/** A field for each member of a model that forms ask for, in the model's order. */
export class MemberFields {
  readonly fields: ReadonlyMap<string, Field>;

  constructor(
    { properties = {}, required = [] }: ModelSchema, value: unknown,
    factories: FieldFactories = {}, outerModels: readonly string[] = [],
  ) {
    const values = Object(value);
    this.fields = new Map(Object.entries(properties).filter(([, member]) => hasField(member))
      .map(([name, member]) => {
        const { choices, field = choices === undefined ? name : 'choices' } =
          member['x-form'] ?? {};
        const create = factories[name] ?? factories[field] ?? modelField;
        return [name, keepUntouchedValue(create, {
          name, schema: member, value: Reflect.get(values, name), outerModels, factories,
          isRequired: required.includes(name),
        })];
      }));
  }

  get elements(): HTMLElement[] {
    return [...this.fields.values()].map(({ element }) => element);
  }

  /** The members that are there. Throws InputError. */
  read(): Record<string, unknown> {
    return Object.fromEntries([...this.fields].map(([name, field]) => [name, field.read()] as const)
      .filter(([, value]) => value !== undefined));
  }

  /** `steps` begin with the name of a member. Returns false where no field shows the error. */
  showError([name = '', ...rest]: readonly string[], detail: string): boolean {
    return this.fields.get(name)?.showError(rest, detail) === true;
  }

  clearErrors(): void {
    for (const field of this.fields.values()) field.clearError();
  }
}

/**
 * A field that returns its original value as long as its inputs are unchanged: inputs cannot tell
 * an empty list or text from an absent one, and they change line breaks.
 */
function keepUntouchedValue(
  create: (options: FieldOptions) => Field, options: FieldOptions,
): Field {
  const field = create(options);
  const { value, isRequired } = options;
  // A required member is never absent: the new field's value counts.
  if (value === undefined && isRequired) return field;
  const initialJson = encodeJson(field.read());
  return {
    ...field,
    read() {
      const currentValue = field.read();
      return encodeJson(currentValue) === initialJson ? value : currentValue;
    },
  };
}

function createArrayField(options: FieldOptions): Field {
  const { schema, value, outerModels = [], factories = {} } = options;
  const label = findLabel(options);
  const { item: itemLabel, hasEmptyItems = false } = schema['x-form'] ?? {};
  let items: Field[] = [];
  const itemName = (index: number): string => `${itemLabel ?? label} ${index + 1}`;
  const container = h('div.items');
  const problem = errorLine();
  const itemSchema = resolveSchema(schema.items ?? {});
  const areInputs = itemSchema.enum === undefined && INPUT_TYPES.includes(findType(itemSchema));
  /** The items that are sent: an empty input is no item, unless it may be empty. */
  const listSentItems = (): Field[] => areInputs && !hasEmptyItems
    ? items.filter((item) => item.read() !== undefined) : items;
  const create = (item: unknown, index: number): Field => keepUntouchedValue(modelField, {
    // An emptied input is no item; of an object or a choice something is always sent.
    name: itemName(index), value: item, isRequired: !areInputs, outerModels, factories,
    // The hint of the list need not be repeated for each item.
    schema: { ...schema.items, ...itemLabel === undefined ? {} : { description: '' } },
  });
  // Creates all fields again, as their names hold their numbers.
  const showItems = (values: readonly unknown[]): void => {
    items = values.map(create);
    fill(container, ...items.map((item, index) => h('div.item', item.element,
      h('div.actions',
        index === 0 ? null : itemButton('Up', index, () =>
          change((all) => all.splice(index - 1, 0, ...all.splice(index, 1)))),
        // The removed item is not read: what stands in it may be wrong.
        itemButton('Remove', index, () => change(() => {}, items.toSpliced(index, 1)))))));
  };
  const itemButton = (text: string, index: number, onclick: () => void): HTMLElement =>
    h('button.quiet', {
      'aria-label': `${text} ${itemName(index)}`, onclick: () => {
        onclick();
        add.focus();
      },
    }, text);
  const change = (edit: (all: unknown[]) => void, remaining: readonly Field[] = items): void => {
    problem.textContent = '';
    try {
      const all = remaining.map((item) => item.read());
      edit(all);
      showItems(all);
    } catch (thrown) {
      problem.textContent = messageOf(thrown);
    }
  };
  showItems(Array.isArray(value) ? value : []);
  const add = h('button.quiet', { onclick: () => {
    change((all) => all.push(undefined));
    container.lastElementChild?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  } }, itemLabel === undefined ? `Add to ${label.toLowerCase()}`
    : `Add ${itemLabel.toLowerCase()}`);
  return {
    element: h('fieldset', h('legend', label), hintLine(schema), problem, container, add),
    read() {
      const values = listSentItems().map((item) => item.read() ?? (hasEmptyItems ? '' : null));
      return values.length === 0 ? undefined : values;
    },
    showError([step, ...rest], detail) {
      const item = step === undefined ? undefined : listSentItems()[Number(step)];
      if (item?.showError(rest, detail) === true) return true;
      problem.textContent = detail;
      return true;
    },
    clearError() {
      problem.textContent = '';
      for (const item of items) item.clearError();
    },
  };
}
