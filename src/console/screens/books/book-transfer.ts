/** Imports books with a dry run, progress and errors by line; exports them as a file. */
import { callApi, sendRequest } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { formatCount, formatQuantity } from '../../base/format.ts';
import { loadModel } from '../../base/model-schema.ts';
import { callerSession } from '../../base/caller-session.ts';
import { backLink, heading } from '../../parts/facts.ts';
import { showNotice, showFailureNotice } from '../../parts/notice.ts';
import { runExclusively } from '../../parts/async-button.ts';
import { FILE_ENDINGS, FORMATS, parseFile } from './book-files.ts';
import type { FileBook } from './book-files.ts';

/** Books in one request: the progress is updated after each. */
const BATCH_BOOKS = 500;
const ERRORS_SHOWN_MAX = 200;

/** One line of the response: the result of one book, or the `error` that ended the import. */
type BookImportResult = {
  readonly line: number; readonly status: string; readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly error?: string;
};

export function openTransfer(container: HTMLElement): () => void {
  const controller = new AbortController();
  fill(container, backLink('books', 'Books'), heading('Import and export'),
    h('h2', 'Export'), h('p', 'All books, with ids and dates.'),
    h('div.actions', {}, ...Object.keys(FORMATS).map((name) => h('button', {
      onclick: () => void exportBooks(name),
    }, `Download ${name}`))),
    ...callerSession.may('write') ? importSection(controller.signal) : []);
  return () => controller.abort();
}

async function exportBooks(name: string): Promise<void> {
  try {
    const response = await sendRequest('GET', '/api/books');
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    const format = FORMATS[name] ?? null;
    const file = format === null ? await response.blob()
      : new Blob([await format(await response.json(), loadColumns)]);
    const url = URL.createObjectURL(file);
    h('a', { href: url, download: name }).click();
    URL.revokeObjectURL(url);
  } catch (thrown) {
    showFailureNotice(thrown);
  }
}

async function loadColumns(): Promise<readonly string[]> {
  return Object.keys((await loadModel('Book')).properties ?? {});
}

function importSection(signal: AbortSignal): HTMLElement[] {
  const file = h('input', { type: 'file', id: 'file', accept: FILE_ENDINGS.join() });
  const isDry = h('input', { type: 'checkbox', id: 'dry' });
  const isReplacing = h('input', { type: 'checkbox', id: 'replace' });
  const report = h('div', { role: 'status' });
  const button = h('button', { type: 'submit', class: 'primary' }, 'Import');
  isDry.checked = true;
  const start = async (): Promise<void> => {
    const chosenFile = file.files?.[0];
    if (chosenFile === undefined) return showNotice('Choose a file first.', 'bad');
    const mode = { dryRun: String(isDry.checked), replace: String(isReplacing.checked) };
    await importBooks(parseFile(chosenFile.name, await chosenFile.text()), mode, report, signal);
  };
  return [
    h('h2', 'Import'),
    h('form.record', { onsubmit: (event) => {
      event.preventDefault();
      void runExclusively([button], start).catch(showFailureNotice);
    } },
    h('div.field', h('label', { for: 'file' }, 'A file of JSON, JSON Lines or CSV'),
      file),
    h('div.field.checkbox', isDry, h('label', { for: 'dry' },
      'Only check it: store nothing')),
    h('div.field.checkbox', isReplacing, h('label', { for: 'replace' },
      'Replace books whose id is taken')),
    h('div.actions', button), report),
  ];
}

async function importBooks(
  books: readonly FileBook[], mode: Record<string, string>, report: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  const progress = h('progress', { max: books.length, value: 0, 'aria-label': 'Progress' });
  const summary = h('p');
  const errors = h('ol.log', { 'aria-label': 'What could not be imported' });
  const counts: Record<string, number> = { imported: 0, replaced: 0, skipped: 0 };
  fill(report, progress, summary, errors);
  for (let start = 0; start < books.length; start += BATCH_BOOKS) {
    const batch = books.slice(start, start + BATCH_BOOKS);
    for (const result of await importBatch(batch, mode, signal)) {
      counts[result.status] = (counts[result.status] ?? 0) + 1;
      if (result.status === 'skipped' && errors.childElementCount < ERRORS_SHOWN_MAX) {
        errors.append(h('li', `${batch[result.line - 1]?.label}: ${formatReason(result)}`));
      }
    }
    progress.value = start + batch.length;
    const outcome = Object.entries(counts).map(([name, value]) => `${formatCount(value)} ${name}`)
      .join(', ');
    summary.textContent = `${formatQuantity(progress.value, 'book')} read: ${outcome}`
      + `${mode['dryRun'] === 'true' ? '; nothing was stored' : ''}.`;
  }
}

async function importBatch(
  books: readonly FileBook[], mode: Record<string, string>, signal: AbortSignal,
): Promise<readonly BookImportResult[]> {
  const { body } = await callApi<string>('POST', `/api/books/import?${new URLSearchParams(mode)}`, {
    raw: books.map(({ json }) => json).join('\n'),
    headers: { 'Content-Type': 'application/jsonl' }, signal,
  });
  const results = body.split('\n').filter((line) => line !== '')
    .map((line): BookImportResult => JSON.parse(line));
  const failure = results.find(({ error }) => error !== undefined)?.error;
  if (failure !== undefined) throw new Error(failure);
  // The last line has the totals, and no `line`.
  return results.filter(({ line }) => line !== undefined);
}

function formatReason({ detail = '', errors = [] }: BookImportResult): string {
  const all = errors.map((error) => `${error.pointer}: ${error.detail}`);
  return all.length > 0 ? all.join('; ') : detail;
}
