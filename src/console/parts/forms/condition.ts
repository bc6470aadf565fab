/**
 * A condition as rows: what is looked at, how it is compared, with what. A group says how many of
 * its rows must hold, and may stand within another. Whoever likes writes JSON.
 */
import { fill, h } from '../../base/dom.ts';
import { FieldMistake, hintLine, labelOf, leaf, problemLine } from './leaf.ts';
import type { Field, FieldOptions } from './leaf.ts';
import {
  OPERATORS, conditionValueText, isUnary, operatorOf, parseConditionValue,
} from './condition-text.ts';
import type { Condition } from '../../../webhooks/filters/condition.ts';

interface ConditionPart extends Field {
  /** undefined: a group without rows. */
  read(): Condition | undefined;
}

const KINDS = [
  ['all', 'all of these hold'], ['any', 'any of these holds'], ['none', 'none of these holds'],
] as const;

export function conditionField(options: FieldOptions): Field {
  const { name, label = labelOf(name), schema } = options;
  const place = h('div', { class: 'items' });
  let shown: Field = group(options.value as Condition | undefined);
  let isJson = false;
  const show = (): void => {
    fill(place, shown.element, h('button', { type: 'button', class: 'quiet', onclick: toggle },
      isJson ? 'As rows' : 'As JSON'));
  };
  function toggle(): void {
    try {
      const value = shown.read() as Condition | undefined;
      isJson = !isJson;
      shown = isJson ? jsonPart({ ...options, value }) : group(value);
      show();
    } catch (thrown) {
      shown.blame([], String(thrown));
    }
  }
  show();
  return {
    element: h('fieldset', {}, h('legend', {}, label), hintLine(schema), place),
    read: () => shown.read(),
    blame: (steps, detail) => shown.blame(steps, detail),
    clear: () => shown.clear(),
  };
}

function jsonPart({ name, value }: FieldOptions): Field {
  const area = h('textarea', { rows: 6, class: 'mono', spellcheck: 'false' });
  area.value = value === undefined ? '' : JSON.stringify(value, null, 2);
  return leaf({ name, value, schema: {}, isRequired: false, label: 'As JSON' }, area, () => {
    try {
      return area.value.trim() === '' ? undefined : JSON.parse(area.value);
    } catch (thrown) {
      throw new FieldMistake(`The condition is not JSON: ${String(thrown)}`);
    }
  });
}

function group(given: Condition | undefined): ConditionPart {
  const [kind, list] = partsOf(given);
  const parts: ConditionPart[] = list.map(partOf);
  const problem = problemLine();
  const place = h('div', { class: 'items' });
  const select = choice('How many must hold', KINDS, kind);
  const show = (): void => fill(place, ...parts.map((part, index) => h('div', { class: 'row' },
    part.element, h('button', {
      type: 'button', class: 'quiet', 'aria-label': `Remove condition ${index + 1}`,
      onclick: () => {
        parts.splice(index, 1);
        show();
      },
    }, 'Remove'))));
  const adder = (text: string, make: () => ConditionPart): HTMLElement => h('button', {
    type: 'button', class: 'quiet', onclick: () => {
      parts.push(make());
      show();
      place.lastElementChild?.querySelector<HTMLElement>('input, select')?.focus();
    },
  }, text);
  show();
  // An empty group is not sent, and a group of one is its row.
  const sent = (): ConditionPart[] => parts.filter((part) => part.read() !== undefined);
  return {
    element: h('div', { class: 'group' }, select, problem, place, h('div', { class: 'actions' },
      adder('Add a condition', () => comparison({})),
      adder('Add a group', () => group({ any: [{}] })))),
    read() {
      const inner = parts.map((part) => part.read()).filter((part) => part !== undefined);
      const [only] = inner;
      if (only === undefined) return undefined;
      if (select.value === 'none') return { not: inner.length === 1 ? only : { any: inner } };
      return inner.length === 1 ? only : { [select.value]: inner };
    },
    blame(steps, detail) {
      const rest = select.value === 'none' ? steps.slice(1) : steps;
      const [only, second] = sent();
      if (only !== undefined && second === undefined) return only.blame(rest, detail);
      const [, index = '', ...inner] = rest;
      if (sent()[Number(index || NaN)]?.blame(inner, detail) === true) return true;
      problem.textContent = detail;
      return true;
    },
    clear() {
      problem.textContent = '';
      for (const part of parts) part.clear();
    },
  };
}

function partOf(condition: Condition): ConditionPart {
  const { all, any, not } = condition;
  return all === undefined && any === undefined && not === undefined
    ? comparison(condition) : group(condition);
}

function partsOf(given: Condition | undefined): readonly [string, readonly Condition[]] {
  if (given === undefined) return ['all', []];
  const { all, any, not } = given;
  if (all !== undefined) return ['all', all];
  if (any !== undefined) return ['any', any];
  return not === undefined ? ['all', [given]] : ['none', not.any ?? [not]];
}

function comparison(given: Condition): ConditionPart {
  const { path = '', value } = given;
  const problem = problemLine();
  const what = input('What is looked at', 'payload.action', path);
  const how = choice('How it is compared', OPERATORS, operatorOf(given));
  const wanted = input('With what', 'opened', conditionValueText(value, how.value));
  const hide = (): void => {
    wanted.hidden = isUnary(how.value);
  };
  how.addEventListener('change', hide);
  hide();
  return {
    element: h('div', { class: 'comparison' }, what, how, wanted, problem),
    read() {
      const operator = how.value as NonNullable<Condition['op']> | 'missing';
      if (operator === 'missing') return { path: what.value, op: 'exists', value: false };
      if (isUnary(operator)) return { path: what.value, op: operator };
      const parsed = parseConditionValue(wanted.value, operator) ?? null;
      return { path: what.value, op: operator, value: parsed };
    },
    blame([step = ''], detail) {
      problem.textContent = detail;
      const places: Readonly<Record<string, HTMLElement>> = { op: how, value: wanted };
      (places[step] ?? what).setAttribute('aria-invalid', 'true');
      return true;
    },
    clear() {
      problem.textContent = '';
      for (const one of [what, how, wanted]) one.removeAttribute('aria-invalid');
    },
  };
}

function input(label: string, placeholder: string, value: string): HTMLInputElement {
  const element = h('input', { type: 'text', 'aria-label': label, placeholder });
  element.value = value;
  return element;
}

function choice(
  label: string, values: readonly (readonly [string, string])[], value: string,
): HTMLSelectElement {
  const select = h('select', { 'aria-label': label }, ...values.map(([name, text]) =>
    h('option', { value: name }, text)));
  select.value = value;
  return select;
}
