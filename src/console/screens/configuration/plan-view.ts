/** Shows what an apply of a configuration document would change, or has changed. */
import { h } from '../../base/dom.ts';
import { formatQuantity } from '../../base/format.ts';
import type {
  SECRET_REMOVED as PLANNED_REMOVAL,
} from '../../../webhooks/configuration/configuration-plan.ts';
import type {
  ConfigurationPlan, PlannedChange,
} from '../../../webhooks/configuration/document-schema.ts';

/** Stands among the members of a change; the console takes only types from the server. */
const SECRET_REMOVED: typeof PLANNED_REMOVAL = 'secret removed';
const SIGNS = {
  '+': ['+ add', 'good'], '~': ['~ change', 'waiting'], '-': ['- remove', 'bad'],
} as const;

/** The changes of a plan as a list, and the number of records that stay as they are. */
export function planList({ changes, unchanged }: ConfigurationPlan): HTMLElement {
  return h('div', changes.length === 0 ? h('p', 'Nothing: all is as the document says.')
    : h('ul.log', {}, ...changes.map(renderChange)),
  unchanged === 0 ? null : h('p.hint', `= ${formatQuantity(unchanged, 'record')} unchanged`));
}

function renderChange({ sign, kind, name, details = [], waiting = 0 }: PlannedChange): HTMLElement {
  const [text, tone] = SIGNS[sign];
  return h('li', h('span', { class: `badge ${tone}` }, text), ` ${kind} `, h('strong', name),
    details.length === 0 ? null : h('ul', {}, ...details.map(renderDetail)),
    waiting === 0 ? null : h('span.problem', ` ${formatWaiting(waiting)}`));
}

function renderDetail(detail: string): HTMLElement {
  return detail === SECRET_REMOVED ? h('li.problem', detail) : h('li', detail);
}

function formatWaiting(waiting: number): string {
  return `${formatQuantity(waiting, 'request or delivery', 'requests or deliveries')} still ${
    waiting === 1 ? 'waits' : 'wait'} for it`;
}

/** What will be done, and what will be lost, as sentences. */
export function describePlan({ changes }: ConfigurationPlan): string {
  const count = (wanted: PlannedChange['sign'], verb: string): string | null => {
    const { length } = changes.filter(({ sign }) => sign === wanted);
    return length === 0 ? null : `${formatQuantity(length, 'record')} ${verb}`;
  };
  const counts = [count('+', 'added'), count('~', 'changed'), count('-', 'removed')]
    .filter((text) => text !== null);
  const losses = changes.flatMap(({ kind, name, members = [], confirm = [], waiting = 0 }) => [
    ...members.includes(SECRET_REMOVED) ? [`The secret of ${kind} ${name} is removed.`] : [],
    ...confirm.map((clause) => `This would ${clause}.`),
    ...waiting > 0 ? [`${kind} ${name} goes: ${formatWaiting(waiting)}.`] : [],
  ]);
  return [`${counts.join(', ')}, all in one.`, ...losses].join(' ');
}

/** Whether something is lost that applying an older document does not bring back. */
export function isDestructive({ changes }: ConfigurationPlan): boolean {
  return changes.some(({ sign, members = [], confirm = [] }) =>
    sign === '-' || members.includes(SECRET_REMOVED) || confirm.length > 0);
}
