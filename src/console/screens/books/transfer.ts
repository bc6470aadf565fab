/** Import with a dry run, progress and errors by line; export as a file. */
import { call, send } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { count, counted } from '../../base/format.ts';
import { model } from '../../base/schema.ts';
import { session } from '../../base/session.ts';
import { backTo, heading } from '../../parts/facts.ts';
import { tell, tellFailure } from '../../parts/notice.ts';
import { doOnce } from '../../parts/work-button.ts';
import { booksCsv, csvBooks } from './csv.ts';

/** Sent at a time: the page tells how far it is after each. */
const BOOKS = 500;
const ERRORS_SHOWN_MAX = 200;

type LineAnswer = {
  readonly line: number; readonly status: string; readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly error?: string;
};

export function openTransfer(place: HTMLElement): () => void {
  const controller = new AbortController();
  fill(place, backTo('books', 'Books'), heading('Import and export'),
    h('h2', {}, 'Export'), h('p', {}, 'All books, with ids and dates.'),
    h('div', { class: 'actions' }, ...Object.keys(FORMATS).map((name) => h('button', {
      type: 'button', onclick: () => void exportBooks(name),
    }, `Download ${name}`))),
    ...session.may('write') ? importParts(controller.signal) : []);
  return () => controller.abort();
}

type Books = readonly Readonly<Record<string, unknown>>[];

/** What the files are, by their names; null: as the API gives them. */
const FORMATS: Readonly<Record<string, ((books: Books) => Promise<string>) | null>> = {
  'books.json': null,
  'books.jsonl': async (books) => books.map((book) => `${JSON.stringify(book)}\n`).join(''),
  'books.csv': async (books) =>
    booksCsv(Object.keys((await model('Book')).properties ?? {}), books),
};

async function exportBooks(name: string): Promise<void> {
  try {
    const response = await send('GET', '/api/books');
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    const format = FORMATS[name] ?? null;
    const file = format === null ? await response.blob()
      : new Blob([await format(await response.json())]);
    const url = URL.createObjectURL(file);
    h('a', { href: url, download: name }).click();
    URL.revokeObjectURL(url);
  } catch (thrown) {
    tellFailure(thrown);
  }
}

function importParts(signal: AbortSignal): HTMLElement[] {
  const file = h('input', { type: 'file', id: 'file', accept: '.json,.jsonl,.ndjson,.csv' });
  const isDry = h('input', { type: 'checkbox', id: 'dry' });
  const isReplacing = h('input', { type: 'checkbox', id: 'replace' });
  const report = h('div', { role: 'status' });
  const button = h('button', { type: 'submit', class: 'primary' }, 'Import');
  isDry.checked = true;
  const start = async (): Promise<void> => {
    const chosen = file.files?.[0];
    if (chosen === undefined) return tell('Choose a file first.', 'bad');
    const mode = { dryRun: String(isDry.checked), replace: String(isReplacing.checked) };
    await importBooks(sourcesOf(chosen.name, await chosen.text()), mode, report, signal);
  };
  return [
    h('h2', {}, 'Import'),
    h('form', { class: 'record', onsubmit: (event) => {
      event.preventDefault();
      void doOnce([button], start).catch(tellFailure);
    } },
    h('div', { class: 'field' }, h('label', { for: 'file' }, 'A file of JSON, JSON Lines or CSV'),
      file),
    h('div', { class: 'field checkbox' }, isDry, h('label', { for: 'dry' },
      'Only check it: store nothing')),
    h('div', { class: 'field checkbox' }, isReplacing, h('label', { for: 'replace' },
      'Replace books whose id is taken')),
    h('div', { class: 'actions' }, button), report),
  ];
}

/** What is sent of each book, and where it stands in the file. */
type Source = { readonly json: string; readonly place: string };

function sourcesOf(name: string, text: string): Source[] {
  if (name.toLowerCase().endsWith('.csv')) {
    return csvBooks(text).map(({ line, json }) => ({ json, place: `Line ${line}` }));
  }
  if (!text.trimStart().startsWith('[')) {
    return text.split('\n').map((json, index) => ({ json, place: `Line ${index + 1}` }))
      .filter(({ json }) => json.trim() !== '');
  }
  const books: unknown = JSON.parse(text);
  return (Array.isArray(books) ? books : []).map((book, index) =>
    ({ json: JSON.stringify(book), place: `Book ${index + 1}` }));
}

async function importBooks(
  sources: readonly Source[], mode: Record<string, string>, report: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  const progress = h('progress', { max: sources.length, value: 0, 'aria-label': 'Progress' });
  const summary = h('p');
  const errors = h('ol', { class: 'log', 'aria-label': 'What could not be imported' });
  const counts: Record<string, number> = { imported: 0, replaced: 0, skipped: 0 };
  fill(report, progress, summary, errors);
  for (let start = 0; start < sources.length; start += BOOKS) {
    const sent = sources.slice(start, start + BOOKS);
    for (const answer of await importSome(sent, mode, signal)) {
      counts[answer.status] = (counts[answer.status] ?? 0) + 1;
      if (answer.status === 'skipped' && errors.childElementCount < ERRORS_SHOWN_MAX) {
        errors.append(h('li', {}, `${sent[answer.line - 1]?.place}: ${reasonOf(answer)}`));
      }
    }
    progress.value = start + sent.length;
    const done = Object.entries(counts).map(([name, value]) => `${count(value)} ${name}`)
      .join(', ');
    summary.textContent = `${counted(progress.value, 'book')} read: ${done}`
      + `${mode['dryRun'] === 'true' ? '; nothing was stored' : ''}.`;
  }
}

async function importSome(
  sources: readonly Source[], mode: Record<string, string>, signal: AbortSignal,
): Promise<readonly LineAnswer[]> {
  const { body } = await call<string>('POST', `/api/books/import?${new URLSearchParams(mode)}`, {
    raw: sources.map(({ json }) => json).join('\n'),
    headers: { 'Content-Type': 'application/jsonl' }, signal,
  });
  const answers = body.split('\n').filter((line) => line !== '')
    .map((line): LineAnswer => JSON.parse(line));
  const failure = answers.find(({ error }) => error !== undefined)?.error;
  if (failure !== undefined) throw new Error(failure);
  return answers.filter(({ line }) => line !== undefined);
}

function reasonOf({ detail = '', errors = [] }: LineAnswer): string {
  const all = errors.map((error) => `${error.pointer}: ${error.detail}`);
  return all.length > 0 ? all.join('; ') : detail;
}
