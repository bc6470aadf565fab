/**
 * All actions and webhooks as one document: exported as a file, and applied, after its plan has
 * been seen. Exactly what the plan shows is done: `If-Match` has the state that it is for.
 */
import { ApiError, LatestCall, callApi, hasStatus, messageOf } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { downloadFile } from '../../base/file-transfer.ts';
import { formatQuantity } from '../../base/format.ts';
import {
  findLine, findPlace, isMistake, locateJson, type JsonPlace,
} from '../../base/json-places.ts';
import { parseJson } from '../../base/json-text.ts';
import { runExclusively } from '../../parts/buttons.ts';
import { askToConfirm } from '../../parts/dialog.ts';
import { codeArea, inputField, type Field } from '../../parts/forms/input-field.ts';
import { asyncForm, submitButton } from '../../parts/forms/record-form.ts';
import { showFailureNotice, showNotice } from '../../parts/notice.ts';
import { backLink, heading } from '../../parts/screen.ts';
import { shellQuote } from '../../../base/text/shell-quote.ts';
import type {
  SECRET_REMOVED as PLANNED_REMOVAL,
} from '../../../webhooks/configuration/configuration-plan.ts';
import type {
  ConfigurationPlan, PlannedChange,
} from '../../../webhooks/configuration/document-schema.ts';
import { listReferences, replaceReferences } from './document-references.ts';

const PATH = '/api/configuration';
const FILE_NAME = 'shelf.json';
/** Stands among the members of a change; the console takes only types from the server. */
const SECRET_REMOVED: typeof PLANNED_REMOVAL = 'secret removed';
const SIGNS = {
  '+': ['+ add', 'good'], '~': ['~ change', 'waiting'], '-': ['- remove', 'bad'],
} as const;
/** A longer document is not parsed while it is typed: its fields are shown once it is sent. */
const TYPED_LENGTH_MAX = 1 << 20;

export function openConfigurationScreen(container: HTMLElement): () => void {
  fill(container, backLink('settings', 'Settings'), heading('Configuration as a file'),
    h('p', 'All actions and webhooks, incoming and outgoing, as one document. It can be kept in a '
      + 'repository, and applied here, by a command, or at the start.'),
    exportSection(), new ApplyForm().element);
  return () => {};
}

function exportSection(): HTMLElement {
  const report = h('div', { role: 'status' });
  const download = (onlyApplied: boolean): void =>
    void downloadDocument(onlyApplied, report).catch(showFailureNotice);
  return h('section', h('h2', 'Export'),
    h('p', 'Secrets are not in it: each stands as ', h('code', '{ "$env": "NAME" }'),
      ', to be given where it is applied.'),
    h('div.actions',
      h('button', { onclick: () => download(false) }, `Download ${FILE_NAME}`),
      h('button', { onclick: () => download(true) }, 'Only what was applied')),
    report);
}

async function downloadDocument(onlyApplied: boolean, report: HTMLElement): Promise<void> {
  const file = await downloadFile(onlyApplied ? `${PATH}?onlyApplied=true` : PATH, FILE_NAME);
  const names = listReferences(parseJson(await file.text())).map(({ name }) => name);
  fill(report, h('p.hint', names.length === 0 ? 'It leaves nothing to be set.'
    : `To be set where it is applied: ${names.join(', ')}`));
}

/** The document and the options that are sent with it, without `dryRun`. */
type PastedApply = Readonly<Record<string, unknown>>;

/** One thing that is wrong. `place` is null where it is about no place in the document. */
type DocumentProblem = { readonly detail: string; readonly place: JsonPlace | null };

/** The form of a document, and below it the plan, until the form is changed. */
class ApplyForm {
  readonly element: HTMLElement;
  readonly #area = codeArea(16);
  readonly #references = new ReferenceFields();
  readonly #isPruning = h('input', { type: 'checkbox' });
  readonly #set = h('input', { autocomplete: 'off', spellcheck: 'false', placeholder: 'default' });
  readonly #button = submitButton('Show the plan');
  readonly #problem = h('p.problem', { role: 'alert' });
  readonly #problems = h('div');
  readonly #plan = h('div', { role: 'status' });
  readonly #planCall = new LatestCall();

  constructor() {
    this.#area.wrap = 'off';
    const file = h('input', { type: 'file', accept: '.json,application/json' });
    file.addEventListener('change', () => {
      void this.#readFile(file.files?.[0]).catch(showFailureNotice);
    });
    // A file that is chosen once more, after it has changed, must be read once more.
    file.addEventListener('click', () => {
      file.value = '';
    });
    this.#area.addEventListener('input', () => this.#references.show(this.#area.value));
    const form = asyncForm(this.#button, () => this.#showPlan(),
      createField('file', 'A file', '', file),
      createField('document', 'The document', 'Or paste it here. It is sent when you ask for its '
        + 'plan', this.#area),
      this.#references.element,
      createField('set', 'Set', 'The name under which it is remembered what it has added: another '
        + 'document needs another one', this.#set),
      createField('prune', 'Remove what is gone from it', 'What the document has added to this set '
        + 'before, and no longer has', this.#isPruning),
      this.#problem, this.#problems, h('div.actions', this.#button));
    form.addEventListener('input', () => this.#clear());
    this.element = h('section', h('h2', 'Apply'), form, this.#plan);
  }

  async #readFile(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    this.#area.value = await file.text();
    this.#clear();
    this.#references.show(this.#area.value);
  }

  /** Removes the plan and the problems, which are those of the document before an edit. */
  #clear(): void {
    this.#planCall.abort();
    this.#problem.textContent = '';
    this.#area.removeAttribute('aria-invalid');
    for (const element of [this.#problems, this.#plan]) fill(element);
  }

  async #showPlan(): Promise<void> {
    this.#clear();
    const request = this.#readRequest();
    if (request === null) return;
    const signal = this.#planCall.begin();
    try {
      const { body: plan, etag } = await callApi<ConfigurationPlan>('PUT', PATH,
        { body: { ...request, dryRun: true }, signal });
      this.#renderPlan(plan, request, etag);
    } catch (thrown) {
      if (!signal.aborted) this.#showFailure(thrown);
    }
  }

  /** null: the document cannot be sent, and the form says why. */
  #readRequest(): PastedApply | null {
    const text = this.#area.value;
    const result = locateJson(text);
    if (isMistake(result)) {
      const { offset, column, reason } = result;
      this.#showProblems('This is no JSON.', [{
        detail: `column ${column}: ${reason}`, place: { start: offset, end: offset + 1 },
      }]);
      return null;
    }
    const document: unknown = parseJson(text);
    if (typeof document !== 'object' || document === null || Array.isArray(document)) {
      this.#showProblems('The document must be an object.', []);
      return null;
    }
    const filledDocument = this.#references.fill(document);
    if (filledDocument === null) {
      this.#problem.textContent = 'The document leaves values open: they are missing above.';
      return null;
    }
    const set = this.#set.value.trim();
    return { ...filledDocument, prune: this.#isPruning.checked, ...set === '' ? {} : { set } };
  }

  #renderPlan(plan: ConfigurationPlan, request: PastedApply, etag: string): void {
    const isEmpty = plan.changes.length === 0;
    const apply = h('button.primary', {
      onclick: () => void runExclusively([apply, this.#button], () =>
        this.#apply(plan, request, etag)),
    }, 'Apply it');
    fill(this.#plan, h('h2', 'What would change'), h('div.record', planList(plan),
      isEmpty ? null : h('div.actions', apply)));
    this.#plan.scrollIntoView({ block: 'nearest' });
  }

  async #apply(plan: ConfigurationPlan, request: PastedApply, etag: string): Promise<void> {
    const isSure = await askToConfirm({
      title: 'Apply the document?', text: describePlan(plan), action: 'Apply it',
      isDestructive: isDestructive(plan), command: formatCommand(request),
    });
    if (!isSure) return;
    try {
      const { body } = await callApi<ConfigurationPlan>('PUT', PATH,
        { body: { ...request, dryRun: false, yes: true }, headers: { 'If-Match': etag } });
      fill(this.#plan, h('h2', 'What was changed'),
        h('div.record', planList(body)));
      showNotice('Applied.');
    } catch (thrown) {
      if (!hasStatus(thrown, 412)) return this.#showFailure(thrown);
      await this.#showPlan();
      showNotice('Something was changed meanwhile, so nothing was done. The plan is new.', 'bad');
    }
  }

  #showFailure(thrown: unknown): void {
    fill(this.#plan);
    const errors = thrown instanceof ApiError ? thrown.problem.errors ?? [] : [];
    const result = locateJson(this.#area.value);
    const places = isMistake(result) ? new Map() : result;
    this.#showProblems(errors.length === 0 ? messageOf(thrown)
      : 'The document cannot be applied as it is. Nothing was changed.',
    errors.map(({ pointer, detail }) => ({
      detail: `${pointer}: ${detail}`, place: findPlace(places, pointer),
    })));
  }

  #showProblems(summary: string, problems: readonly DocumentProblem[]): void {
    this.#problem.textContent = summary;
    if (problems.length > 0) fill(this.#problems, problemList(this.#area, problems));
  }
}

/** A list of the problems; the first place is shown at once. `area` holds the document. */
function problemList(
  area: HTMLTextAreaElement, problems: readonly DocumentProblem[],
): HTMLElement {
  const [first] = problems.flatMap(({ place }) => place === null ? [] : [place]);
  if (first !== undefined) {
    area.setAttribute('aria-invalid', 'true');
    goToPlace(area, first);
  }
  return h('ol.log', { 'aria-label': 'What is wrong' }, ...problems.map(({ detail, place }) =>
    h('li', place === null ? null : h('button.inline', {
      onclick: () => goToPlace(area, place),
    }, `Line ${findLine(area.value, place.start)}`), place === null ? null : ': ', detail)));
}

/** Selects the place, and scrolls there: a browser scrolls to what is typed alone. */
function goToPlace(area: HTMLTextAreaElement, { start, end }: JsonPlace): void {
  const { value, scrollHeight, clientHeight } = area;
  const line = findLine(value, start);
  area.focus();
  area.setSelectionRange(start, end);
  area.scrollTop = (line - 1) / findLine(value, value.length) * scrollHeight - clientHeight / 3;
}

function createField(
  name: string, label: string, description: string, input: HTMLInputElement | HTMLTextAreaElement,
): HTMLElement {
  return inputField({ name, label, schema: { description } }, input, () => input.value).element;
}

/** The command that does the same with the document in a file. */
function formatCommand({ prune, set }: PastedApply): string {
  return `hookshelf apply --file ${FILE_NAME}${prune === true ? ' --prune' : ''}${
    typeof set === 'string' ? ` --set ${shellQuote(set)}` : ''}`;
}

/** The changes of a plan as a list, and the number of records that stay as they are. */
function planList({ changes, unchanged, off = [] }: ConfigurationPlan): HTMLElement {
  return h('div', changes.length === 0 ? h('p', 'Nothing: all is as the document says.')
    : h('ul.log', {}, ...changes.map(renderChange)),
  ...off.map((text) => h('p.hint', text)),
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

/** Sentences about what will be done, and what will be lost. */
function describePlan({ changes }: ConfigurationPlan): string {
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
function isDestructive({ changes }: ConfigurationPlan): boolean {
  return changes.some(({ sign, members = [], confirm = [] }) =>
    sign === '-' || members.includes(SECRET_REMOVED) || confirm.length > 0);
}

/** Fields for references. Their values stay while the document is edited, and are never stored. */
class ReferenceFields {
  readonly element = h('div.record');
  readonly #fields = new Map<string, Field>();
  #shownFields: readonly Field[] = [];

  constructor() {
    this.element.hidden = true;
  }

  /** Shows the fields that a document needs; one that is no JSON needs none yet. */
  show(text: string): void {
    if (text.length > TYPED_LENGTH_MAX || isMistake(locateJson(text))) return;
    this.#showFieldsOf(parseJson(text));
  }

  /** The document with all values; null: one is missing, and its field says so. */
  fill(document: object): object | null {
    this.#showFieldsOf(document);
    const missing = listReferences(document).map(({ key }) => this.#fields.get(key))
      .filter((field) => field?.read() === undefined);
    for (const field of missing) field?.showError([], 'A value is missing here.');
    if (missing.length > 0) {
      this.element.querySelector<HTMLElement>('[aria-invalid]')?.focus();
      return null;
    }
    return Object(replaceReferences(document, ({ key }) => String(this.#fields.get(key)?.read())));
  }

  #showFieldsOf(document: unknown): void {
    const references = listReferences(document);
    for (const { kind, name, key } of references) {
      if (!this.#fields.has(key)) this.#fields.set(key, createReferenceField(kind, name));
    }
    const fields = references.flatMap(({ key }) => this.#fields.get(key) ?? []);
    // Fields that are there already are not replaced: the user may be typing into one.
    const isSame = fields.length === this.#shownFields.length
      && fields.every((field, index) => field === this.#shownFields[index]);
    if (isSame) return;
    this.#shownFields = fields;
    this.element.hidden = fields.length === 0;
    fill(this.element, h('fieldset', h('legend', 'What the document leaves open'),
      h('p.hint', 'They are put in here, before anything is sent.'),
      ...fields.map(({ element }) => element)));
  }
}

function createReferenceField(kind: '$env' | '$file', name: string): Field {
  const options = { name, label: name, isRequired: true };
  if (kind === '$env') {
    const input = h('input', { type: 'password', autocomplete: 'new-password' });
    return inputField({ ...options, schema: { description: 'The value of that variable' } }, input,
      () => input.value || undefined);
  }
  const area = codeArea(2);
  return inputField({ ...options, schema: { description: 'What that file holds' } }, area,
    // The last line break of a file is not a part of the value.
    () => area.value.replace(/\n$/, '') || undefined);
}
