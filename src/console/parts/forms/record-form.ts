/** A form for one record, made from its model; the API's own errors stand beside their fields. */
import { ApiError, messageOf } from '../../base/api-calls.ts';
import { h } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/model-schema.ts';
import { showFailureNotice } from '../notice.ts';
import { runExclusively } from '../async-button.ts';
import { createMemberFields, readMembers } from './model-field.ts';
import { InputError } from './input-field.ts';
import type { FieldCustomization, Field } from './input-field.ts';

type FormOptions = FieldCustomization & {
  readonly schema: ModelSchema;
  readonly value: unknown;
  /** What the button says. */
  readonly action: string;
  /** Members that are not asked for. */
  readonly omitted?: readonly string[];
  /** Members that few people need: they stand folded at the end. */
  readonly rare?: readonly string[];
  /** Saves; what it throws is shown in the form. */
  readonly save: (value: Record<string, unknown>) => Promise<void>;
  readonly extra?: readonly Child[];
};

interface RecordForm {
  readonly element: HTMLFormElement;
  read(): Record<string, unknown>;
  /** Shows why it could not be saved, beside the fields that the API names. */
  showErrors(thrown: unknown): void;
}

export function recordForm({
  schema, value, action, save, omitted = [], rare = [], extra = [], ...asking
}: FormOptions): RecordForm {
  const members = createMemberFields(schema, value, asking);
  for (const name of omitted) members.delete(name);
  const summary = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { type: 'submit', class: 'primary' }, action);
  const element = h('form', { class: 'record', novalidate: true },
    ...listElements(members, (name) => !rare.includes(name)),
    rare.length === 0 ? null : h('details', {}, h('summary', {}, 'More'),
      h('div', { class: 'record' }, ...listElements(members, (name) => rare.includes(name)))),
    ...extra, summary,
    h('div', { class: 'actions' }, button));
  const read = (): Record<string, unknown> => readMembers(members);
  const submit = async (): Promise<void> => {
    summary.textContent = '';
    for (const member of members.values()) member.clearError();
    try {
      await save(read());
    } catch (thrown) {
      if (element.isConnected) showErrors(thrown);
      else showFailureNotice(thrown);
    }
  };
  const showErrors = (thrown: unknown): void => {
    const errors = thrown instanceof ApiError ? thrown.problem.errors ?? [] : [];
    const unplacedErrors = errors.filter(({ pointer, detail }) => {
      const [name = '', ...rest] = pointer.split('/').slice(1).map(unescapePointerToken);
      return members.get(name)?.showError(rest, detail) !== true;
    });
    const lines = unplacedErrors.map(({ pointer, detail }) => `${pointer}: ${detail}`);
    const isMistake = thrown instanceof InputError;
    summary.textContent = [isMistake || errors.length === 0 ? messageOf(thrown)
      : 'Some fields cannot be saved as they are.', ...lines].join(' ');
    const first = element.querySelector('[aria-invalid]');
    if (!(first instanceof HTMLElement)) return;
    first.closest('details')?.setAttribute('open', '');
    first.focus();
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    void runExclusively([button], submit);
  });
  return { element, read, showErrors };
}

function listElements(
  members: ReadonlyMap<string, Field>, isIncluded: (name: string) => boolean,
): HTMLElement[] {
  return [...members].filter(([name]) => isIncluded(name)).map(([, { element }]) => element);
}

/** RFC 6901. */
function unescapePointerToken(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
