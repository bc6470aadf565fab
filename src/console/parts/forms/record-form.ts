/** A form for one record, made from its model; errors of the API are shown beside their fields. */
import { h, type Child } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/model-schema.ts';
import { runExclusively } from '../buttons.ts';
import { showFailureNotice } from '../notice.ts';
import { FIELDS_WRONG, InputError, showFieldErrors, type FieldFactories } from './input-field.ts';
import { MemberFields } from './model-field.ts';
import { SPECIAL_FIELDS } from './special-fields.ts';
import { guardForm } from './unsaved-forms.ts';
import type { MemberForm } from '../../../base/schema.ts';

type FormOptions = {
  readonly schema: ModelSchema;
  /** Makes fields that the special ones of all forms are not, or replaces those. */
  readonly factories?: FieldFactories;
  readonly value: unknown;
  /** The label of the submit button. */
  readonly action: string;
  /** Saves the record; an error that it throws is shown in the form. */
  readonly save: (value: Record<string, unknown>) => Promise<void>;
  readonly extra?: readonly Child[];
  /** Buttons beside the submit button. */
  readonly otherButtons?: readonly HTMLElement[];
};

interface RecordForm {
  readonly element: HTMLFormElement;
  read(): Record<string, unknown>;
  /** Shows why saving failed, beside the fields that the API names. */
  showErrors(thrown: unknown): void;
}

export function recordForm({
  schema, value, action, save, factories, extra = [], otherButtons = [],
}: FormOptions): RecordForm {
  const members = new MemberFields(schema, value, { ...SPECIAL_FIELDS, ...factories });
  const summary = h('p.problem', { role: 'alert' });
  const button = submitButton(action);
  const submit = async (): Promise<void> => {
    summary.textContent = '';
    members.clearErrors();
    try {
      await save(members.read());
    } catch (thrown) {
      if (element.isConnected) showErrors(thrown);
      else showFailureNotice(thrown);
    }
  };
  const showErrors = (thrown: unknown): void => {
    const isShown = thrown instanceof InputError
      && element.querySelector('[aria-invalid]') !== null;
    summary.textContent = isShown ? FIELDS_WRONG : showFieldErrors(members, thrown);
    focusInvalidField(element);
  };
  const element = asyncForm(button, submit, ...foldElements(schema, members), ...extra, summary,
    h('div.actions', {}, ...otherButtons, button));
  guardForm(element);
  return { element, read: () => members.read(), showErrors };
}

export function submitButton(text: string): HTMLButtonElement {
  return h('button', { type: 'submit', class: 'primary' }, text);
}

/**
 * A form that the browser does not validate. Ctrl+Enter submits it from a field of several lines
 * too. While `action` runs, `button` does nothing.
 */
export function asyncForm(
  button: HTMLButtonElement, action: () => Promise<void>, ...children: readonly Child[]
): HTMLFormElement {
  const form = h('form.record', {
    novalidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      void runExclusively([button], action).catch(showFailureNotice);
    },
    onkeydown: (event) => {
      if (!(event instanceof KeyboardEvent) || event.key !== 'Enter') return;
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      form.requestSubmit();
    },
  }, ...children);
  return form;
}

/** Focuses the first field that shows an error, and unfolds what it stands in. */
export function focusInvalidField(form: HTMLElement): void {
  const field = form.querySelector('[aria-invalid]');
  if (!(field instanceof HTMLElement)) return;
  field.closest('details')?.setAttribute('open', '');
  field.focus();
}

/** The groups of fields that few users need, in their order, with their titles. */
const FOLDED_GROUPS: readonly (readonly [group: MemberForm['group'], title: string | null])[] = [
  ['more', null], ['request', 'The request'], ['attempts', 'Attempts'], ['pace', 'Pace and order'],
  ['access', 'Who sends it'],
];

/**
 * The elements of all fields. Those that few users need are folded at the end, unless one of them
 * has a value in `stored`.
 */
export function foldElements(
  { properties = {} }: ModelSchema, { fields }: MemberFields, stored: object = {},
): HTMLElement[] {
  const groupOf = (name: string): MemberForm['group'] => properties[name]?.['x-form']?.group;
  const isFolded = (name: string): boolean =>
    FOLDED_GROUPS.some(([group]) => group === groupOf(name));
  const list = (isWanted: (name: string) => boolean): HTMLElement[] =>
    [...fields].filter(([name]) => isWanted(name)).map(([, { element }]) => element);
  const groups = FOLDED_GROUPS.flatMap(([group, title]) => {
    const elements = list((name) => groupOf(name) === group);
    return elements.length === 0 || title === null ? elements
      : [h('fieldset', h('legend', title), ...elements)];
  });
  const others = list((name) => !isFolded(name));
  return groups.length === 0 ? others : [...others,
    h('details', { open: Object.keys(stored).some(isFolded) }, h('summary', 'More'),
      h('div.record', {}, ...groups))];
}
