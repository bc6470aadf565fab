/**
 * Converts books from and to comma-separated values (RFC 4180), by the rules of `hookshelf
 * book:import`: the first row names the members, an empty cell is an absent member, names of
 * authors and keywords are separated by semicolons, and a cell that begins like JSON is JSON.
 */

type BookCell = { readonly text: string; readonly isQuoted: boolean };

/** The JSON of each book and the line that it begins on. Throws Error for invalid CSV. */
export function parseCsvBooks(text: string): { readonly line: number; readonly json: string }[] {
  const [header, ...rows] = parseRows(text);
  const names = header?.cells.map((cell) => cell.text.trim()) ?? [];
  if (!names.includes('title')) throw new Error('The first line names no column “title”.');
  return rows.map(({ line, cells }) => ({ line, json: JSON.stringify(toBook(names, cells)) }));
}

function toBook(names: readonly string[], cells: readonly BookCell[]): object {
  const members = cells.map((cell, index) => {
    const name = names[index] ?? `column ${index + 1}`;
    return { cell, name, value: parseCell(name, cell.text) };
  });
  return Object.fromEntries(members.filter(({ cell }) => cell.text !== '' || cell.isQuoted)
    .map(({ name, value }) => [name, value]));
}

function parseCell(name: string, text: string): unknown {
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  if (name === 'numberOfPages' && /^\d+$/.test(text.trim())) return Number(text);
  if (name !== 'authors' && name !== 'keywords') return text;
  const items = text.split(';').map((item) => item.trim()).filter((item) => item !== '');
  return name === 'authors' ? items.map((item) => ({ name: item })) : items;
}

type BookRow = { readonly line: number; readonly cells: readonly BookCell[] };

/** The rows of the file without blank ones; `line` is that on which the row begins, from 1. */
function parseRows(text: string): BookRow[] {
  const rows: BookRow[] = [];
  let line = 1;
  let row: BookRow & { readonly cells: BookCell[] } = { line, cells: [] };
  let readLength = 0;
  // A cell, quoted or not, and the comma or line break that ends it.
  const cells = /(?:"((?:[^"]|"")*)"|((?:[^",\n][^,\n]*?)??))(,|\r?\n|$)/gy;
  for (const [match, quoted, plain = '', end] of text.matchAll(cells)) {
    const isQuoted = quoted !== undefined;
    row.cells.push({ text: isQuoted ? quoted.replaceAll('""', '"') : plain, isQuoted });
    readLength += match.length;
    line += match.split('\n').length - 1;
    if (end === ',') continue;
    if (row.cells.some((cell) => cell.text !== '' || cell.isQuoted)) rows.push(row);
    row = { line, cells: [] };
  }
  if (readLength === text.length) return rows;
  throw new Error(`Line ${line}: a quoted cell does not end where it should.`);
}

/** Formats books as `hookshelf book:export` does: nested values as JSON, plain authors as names. */
export function formatBooksCsv(
  columns: readonly string[], books: readonly Readonly<Record<string, unknown>>[],
): string {
  const rows = books.map((book) => columns.map((name) => formatCell(book[name])).join(','));
  return [columns.join(','), ...rows, ''].join('\r\n');
}

function formatCell(value: unknown): string {
  if (value === undefined || Array.isArray(value) && value.length === 0) return '';
  const text = typeof value === 'string' ? value : formatPlainNames(value) ?? JSON.stringify(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Joins the names of objects that have only a name; null for any other value. */
function formatPlainNames(value: unknown): string | null {
  if (!Array.isArray(value)) return null;
  const names = value.map((item) => Object.keys({ ...item }).join() === 'name' ? item.name : null);
  return names.every((name) => typeof name === 'string' && name === name.trim()
    && !/;|^[[{]/.test(name)) ? names.join('; ') : null;
}
