/**
 * Edits a condition in rows: a path, an operator, an operand. A group says how many of its rows
 * must hold, and may stand within another group. The condition can be edited as JSON, too.
 */
import { fill, h, createSelect } from '../../base/dom.ts';
import {
  createJsonField, errorLine, findLabel, hintLine, type Field, type FieldOptions,
} from './input-field.ts';
import {
  OPERATORS, formatConditionValue, isUnary, findOperator, parseConditionValue,
} from './condition-text.ts';
import type { Condition } from '../../../webhooks/members/filters/condition.ts';

interface ConditionEditor extends Field {
  /** undefined: a group without rows. */
  read(): Condition | undefined;
}

const KINDS = [
  ['all', 'all of these hold'], ['any', 'any of these holds'], ['none', 'none of these holds'],
] as const;

export function conditionField(options: FieldOptions): Field {
  const { name, schema } = options;
  const container = h('div.items');
  let editor: Field = createGroup(options.value as Condition | undefined);
  let isJson = false;
  const show = (): void => {
    fill(container, editor.element, h('button.quiet', { onclick: toggle },
      isJson ? 'As rows' : 'As JSON'));
  };
  function toggle(): void {
    try {
      const value = editor.read() as Condition | undefined;
      isJson = !isJson;
      editor = isJson ? createJsonField({ name, label: 'The condition as JSON', value })
        : createGroup(value);
      show();
    } catch (thrown) {
      editor.showError([], String(thrown));
    }
  }
  show();
  return {
    element: h('fieldset', h('legend', findLabel(options)), hintLine(schema), container),
    read: () => editor.read(),
    showError: (steps, detail) => editor.showError(steps, detail),
    clearError: () => editor.clearError(),
  };
}

function createGroup(condition: Condition | undefined): ConditionEditor {
  const [kind, list] = splitGroup(condition);
  const editors: ConditionEditor[] = list.map(createEditor);
  const problem = errorLine();
  const container = h('div.items');
  const select = createSelect(KINDS, kind, { 'aria-label': 'How many must hold' });
  const show = (): void => fill(container, ...editors.map((editor, index) =>
    h('div.row',
    editor.element, h('button.quiet', {
      'aria-label': `Remove condition ${index + 1}`,
      onclick: () => {
        editors.splice(index, 1);
        show();
      },
    }, 'Remove'))));
  const addButton = (text: string, make: () => ConditionEditor): HTMLElement => h('button.quiet', {
    onclick: () => {
      editors.push(make());
      show();
      container.lastElementChild?.querySelector<HTMLElement>('input, select')?.focus();
    },
  }, text);
  show();
  // An empty group is not sent, and a group of one row is sent as that row.
  const listNonEmpty = (): ConditionEditor[] =>
    editors.filter((editor) => editor.read() !== undefined);
  return {
    element: h('div.group', select, problem, container, h('div.actions',
      addButton('Add a condition', () => createComparison({})),
      addButton('Add a group', () => createGroup({ any: [{}] })))),
    read() {
      const conditions = editors.map((editor) => editor.read())
        .filter((each) => each !== undefined);
      const [first] = conditions;
      if (first === undefined) return undefined;
      const isSingle = conditions.length === 1;
      if (select.value === 'none') return { not: isSingle ? first : { any: conditions } };
      return isSingle ? first : { [select.value]: conditions };
    },
    // The steps of the pointer lead through the condition as `read` has built it: `not`, then `any`
    // and an index, unless there is only one row.
    showError(steps, detail) {
      const rest = select.value === 'none' ? steps.slice(1) : steps;
      const [first, second] = listNonEmpty();
      if (first !== undefined && second === undefined) return first.showError(rest, detail);
      const [, index = '', ...inner] = rest;
      if (listNonEmpty()[Number(index || NaN)]?.showError(inner, detail) === true) return true;
      problem.textContent = detail;
      return true;
    },
    clearError() {
      problem.textContent = '';
      for (const editor of editors) editor.clearError();
    },
  };
}

function createEditor(condition: Condition): ConditionEditor {
  const { all, any, not } = condition;
  return all === undefined && any === undefined && not === undefined
    ? createComparison(condition) : createGroup(condition);
}

/** The kind of a group, and its rows; a condition that is no group is one row of `all`. */
function splitGroup(condition: Condition | undefined): readonly [string, readonly Condition[]] {
  if (condition === undefined) return ['all', []];
  const { all, any, not } = condition;
  if (all !== undefined) return ['all', all];
  if (any !== undefined) return ['any', any];
  return not === undefined ? ['all', [condition]] : ['none', not.any ?? [not]];
}

function createComparison(condition: Condition): ConditionEditor {
  const { path = '', value: initialValue } = condition;
  const problem = errorLine();
  const subject = textInput('What is looked at', 'payload.action', path);
  const operatorSelect =
    createSelect(OPERATORS, findOperator(condition), { 'aria-label': 'How it is compared' });
  const operand =
    textInput('With what', 'opened', formatConditionValue(initialValue, operatorSelect.value));
  const showOperand = (): void => {
    operand.hidden = isUnary(operatorSelect.value);
  };
  operatorSelect.addEventListener('change', showOperand);
  showOperand();
  return {
    element: h('div.comparison', subject, operatorSelect, operand, problem),
    read() {
      const operator = operatorSelect.value as NonNullable<Condition['op']> | 'missing';
      if (operator === 'missing') return { path: subject.value, op: 'exists', value: false };
      if (isUnary(operator)) return { path: subject.value, op: operator };
      const value = parseConditionValue(operand.value, operator) ?? null;
      return { path: subject.value, op: operator, value };
    },
    showError([step = ''], detail) {
      problem.textContent = detail;
      const inputs: Readonly<Record<string, HTMLElement>> = { op: operatorSelect, value: operand };
      (inputs[step] ?? subject).setAttribute('aria-invalid', 'true');
      return true;
    },
    clearError() {
      problem.textContent = '';
      for (const control of [subject, operatorSelect, operand]) {
        control.removeAttribute('aria-invalid');
      }
    },
  };
}

function textInput(label: string, placeholder: string, value: string): HTMLInputElement {
  return h('input', { type: 'text', 'aria-label': label, placeholder, value });
}
