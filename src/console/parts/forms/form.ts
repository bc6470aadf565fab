/** A form for one record, made from its model; the API's own errors stand beside their fields. */
import { ApiError, messageOf } from '../../base/api.ts';
import { h } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/schema.ts';
import { tellFailure } from '../notice.ts';
import { doOnce } from '../work-button.ts';
import { memberFields, readMembers } from './field.ts';
import { FieldMistake } from './leaf.ts';
import type { Asking, Field } from './leaf.ts';

type FormOptions = Asking & {
  readonly schema: ModelSchema;
  readonly value: unknown;
  /** What the button says. */
  readonly action: string;
  /** Members that are not asked for. */
  readonly without?: readonly string[];
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
  blame(thrown: unknown): void;
}

export function recordForm({
  schema, value, action, save, without = [], rare = [], extra = [], ...asking
}: FormOptions): RecordForm {
  const members = memberFields(schema, value, asking);
  for (const name of without) members.delete(name);
  const summary = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { type: 'submit', class: 'primary' }, action);
  const element = h('form', { class: 'record', novalidate: true },
    ...elementsOf(members, (name) => !rare.includes(name)),
    rare.length === 0 ? null : h('details', {}, h('summary', {}, 'More'),
      h('div', { class: 'record' }, ...elementsOf(members, (name) => rare.includes(name)))),
    ...extra, summary,
    h('div', { class: 'actions' }, button));
  const read = (): Record<string, unknown> => readMembers(members);
  const submit = async (): Promise<void> => {
    summary.textContent = '';
    for (const member of members.values()) member.clear();
    try {
      await save(read());
    } catch (thrown) {
      if (element.isConnected) blame(thrown);
      else tellFailure(thrown);
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
    if (!(first instanceof HTMLElement)) return;
    first.closest('details')?.setAttribute('open', '');
    first.focus();
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    void doOnce([button], submit);
  });
  return { element, read, blame };
}

function elementsOf(
  members: ReadonlyMap<string, Field>, isWanted: (name: string) => boolean,
): HTMLElement[] {
  return [...members].filter(([name]) => isWanted(name)).map(([, { element }]) => element);
}

/** RFC 6901. */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
