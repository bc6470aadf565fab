/** A form for one record, made from its model; the API's own errors stand beside their fields. */
import { ApiError, messageOf } from '../../base/api.ts';
import { h } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/schema.ts';
import { FieldMistake, memberFields, readMembers } from './field.ts';

type FormOptions = {
  readonly schema: ModelSchema;
  readonly value: unknown;
  /** What the button says. */
  readonly action: string;
  /** Members that are not asked for. */
  readonly without?: readonly string[];
  /** Saves; what it throws is shown in the form. */
  readonly save: (value: Record<string, unknown>) => Promise<void>;
  readonly extra?: readonly Child[];
};

interface RecordForm {
  readonly element: HTMLFormElement;
  read(): Record<string, unknown>;
}

export function recordForm({
  schema, value, action, save, without = [], extra = [],
}: FormOptions): RecordForm {
  const members = memberFields(schema, value);
  for (const name of without) members.delete(name);
  const summary = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { type: 'submit', class: 'primary' }, action);
  const element = h('form', { class: 'record', novalidate: true },
    ...[...members.values()].map((member) => member.element), ...extra, summary,
    h('div', { class: 'actions' }, button));
  const read = (): Record<string, unknown> => readMembers(members);
  const submit = async (): Promise<void> => {
    summary.textContent = '';
    for (const member of members.values()) member.clear();
    button.disabled = true;
    try {
      await save(read());
    } catch (thrown) {
      blame(thrown);
    } finally {
      button.disabled = false;
    }
  };
  const blame = (thrown: unknown): void => {
    const errors = thrown instanceof ApiError ? thrown.problem.errors ?? [] : [];
    const homeless = errors.filter(({ pointer, detail }) => {
      const [name = '', ...rest] = pointer.split('/').slice(1).map(unescapeStep);
      return members.get(name)?.blame(rest, detail) !== true;
    });
    const lines = homeless.map(({ pointer, detail }) => `${pointer}: ${detail}`);
    const isMistake = thrown instanceof FieldMistake;
    summary.textContent = [isMistake || errors.length === 0 ? messageOf(thrown)
      : 'Some fields cannot be saved as they are.', ...lines].join(' ');
    const first = element.querySelector('[aria-invalid]');
    if (first instanceof HTMLElement) first.focus();
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  return { element, read };
}

/** RFC 6901. */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
