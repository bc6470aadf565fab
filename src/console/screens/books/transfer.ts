/** Import with a dry run, progress and errors by line; export as a file. */
import { href } from '../../base/address.ts';
import { send } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted } from '../../base/format.ts';
import { session } from '../../base/session.ts';
import { heading } from '../../parts/facts.ts';
import { tell, tellFailure } from '../../parts/notice.ts';
import { nothing } from '../../parts/screen.ts';

/** Lines sent at a time: the page tells how far it is after each. */
const LINES = 500;
const ERRORS_SHOWN_MAX = 200;

type LineAnswer = {
  readonly line?: number; readonly status?: string; readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly error?: { readonly detail?: string } | string;
};

export function openImport(place: HTMLElement): () => void {
  fill(place, h('p', {}, h('a', { href: href(['books']) }, '← Books')),
    heading('Import and export'),
    h('h2', {}, 'Export'), h('p', {}, 'All books, with ids and dates, as one JSON file. As CSV: ',
      h('code', {}, 'hookshelf book:export --file books.csv')),
    h('button', { type: 'button', onclick: () => void exportBooks() }, 'Download books.json'),
    ...session.may('write') ? importParts() : []);
  return nothing;
}

async function exportBooks(): Promise<void> {
  try {
    const response = await send('GET', '/api/books');
    const url = URL.createObjectURL(await response.blob());
    h('a', { href: url, download: 'books.json' }).click();
    URL.revokeObjectURL(url);
  } catch (thrown) {
    tellFailure(thrown);
  }
}

function importParts(): HTMLElement[] {
  const file = h('input', { type: 'file', id: 'file', accept: '.json,.jsonl,.ndjson' });
  const isDry = h('input', { type: 'checkbox', id: 'dry' });
  const isReplacing = h('input', { type: 'checkbox', id: 'replace' });
  const report = h('div', { role: 'status' });
  const button = h('button', { type: 'submit', class: 'primary' }, 'Import');
  isDry.checked = true;
  const start = async (): Promise<void> => {
    const chosen = file.files?.[0];
    if (chosen === undefined) return tell('Choose a file first.', 'bad');
    button.disabled = true;
    try {
      const mode = { dryRun: String(isDry.checked), replace: String(isReplacing.checked) };
      await importLines(linesOf(await chosen.text()), mode, report);
    } catch (thrown) {
      tellFailure(thrown);
    } finally {
      button.disabled = false;
    }
  };
  return [
    h('h2', {}, 'Import'),
    h('form', { class: 'record', onsubmit: (event) => {
      event.preventDefault();
      void start();
    } },
    h('div', { class: 'field' }, h('label', { for: 'file' }, 'A file of JSON, or of JSON Lines'),
      file),
    h('div', { class: 'field checkbox' }, isDry, h('label', { for: 'dry' },
      'Only check it: store nothing')),
    h('div', { class: 'field checkbox' }, isReplacing, h('label', { for: 'replace' },
      'Replace books whose id is taken')),
    h('div', { class: 'actions' }, button), report),
  ];
}

function linesOf(text: string): string[] {
  if (!text.trimStart().startsWith('[')) {
    return text.split('\n').filter((line) => line.trim() !== '');
  }
  const books: unknown = JSON.parse(text);
  return Array.isArray(books) ? books.map((book) => JSON.stringify(book)) : [];
}

async function importLines(
  lines: readonly string[], mode: Record<string, string>, report: HTMLElement,
): Promise<void> {
  const progress = h('progress', { max: lines.length, 'aria-label': 'Progress' });
  const summary = h('p');
  const errors = h('ol', { class: 'log' });
  const counts: Record<string, number> = { imported: 0, replaced: 0, skipped: 0 };
  fill(report, progress, summary, errors);
  for (let start = 0; start < lines.length; start += LINES) {
    const response = await send('POST', `/api/books/import?${new URLSearchParams(mode)}`, {
      raw: lines.slice(start, start + LINES).join('\n'),
      headers: { 'Content-Type': 'application/jsonl' },
    });
    for (const text of (await response.text()).split('\n')) {
      if (text === '') continue;
      const answer: LineAnswer = JSON.parse(text);
      if (answer.status === undefined) continue;
      counts[answer.status] = (counts[answer.status] ?? 0) + 1;
      if (answer.status === 'skipped' && errors.childElementCount < ERRORS_SHOWN_MAX) {
        errors.append(h('li', {}, `Line ${(answer.line ?? 0) + start}: ${reasonOf(answer)}`));
      }
    }
    progress.value = Math.min(lines.length, start + LINES);
    const done = Object.entries(counts).map(([name, value]) => `${value} ${name}`).join(', ');
    summary.textContent = `${counted(progress.value, 'book')} read: ${done}`
      + `${mode['dryRun'] === 'true' ? '; nothing was stored' : ''}.`;
  }
}

function reasonOf({ detail = '', errors = [] }: LineAnswer): string {
  const all = errors.map((error) => `${error.pointer}: ${error.detail}`);
  return all.length > 0 ? all.join('; ') : detail;
}
