/**
 * Comma-separated values (RFC 4180) as lines of JSON, as `hookshelf book:import` reads them: the
 * first row names the members, an empty cell is an absent one, names of authors and keywords are
 * separated by semicolons, and what begins like JSON is JSON.
 */

type Cell = { readonly text: string; readonly isQuoted: boolean };

/** Of each book its JSON and the line that it begins on. Throws Error for what is none. */
export function csvBooks(text: string): { readonly line: number; readonly json: string }[] {
  const [header, ...rows] = csvRows(text);
  const names = header?.cells.map((cell) => cell.text.trim()) ?? [];
  if (!names.includes('title')) throw new Error('The first line names no column “title”.');
  return rows.map(({ line, cells }) => ({ line, json: JSON.stringify(bookOf(names, cells)) }));
}

function bookOf(names: readonly string[], cells: readonly Cell[]): object {
  const members = cells.map((cell, index) => {
    const name = names[index] ?? `column ${index + 1}`;
    return { cell, name, value: valueOf(name, cell.text) };
  });
  return Object.fromEntries(members.filter(({ cell }) => cell.text !== '' || cell.isQuoted)
    .map(({ name, value }) => [name, value]));
}

function valueOf(name: string, text: string): unknown {
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

type Row = { readonly line: number; readonly cells: readonly Cell[] };

function csvRows(text: string): Row[] {
  const rows: Row[] = [];
  let line = 1;
  let row: Row & { readonly cells: Cell[] } = { line, cells: [] };
  let read = 0;
  // A cell, quoted or not, and what ends it.
  const cells = /(?:"((?:[^"]|"")*)"|((?:[^",\n][^,\n]*?)??))(,|\r?\n|$)/gy;
  for (const [whole, quoted, plain = '', end] of text.matchAll(cells)) {
    const isQuoted = quoted !== undefined;
    row.cells.push({ text: isQuoted ? quoted.replaceAll('""', '"') : plain, isQuoted });
    read += whole.length;
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (row.cells.some((cell) => cell.text !== '' || cell.isQuoted)) rows.push(row);
    row = { line, cells: [] };
  }
  if (read === text.length) return rows;
  throw new Error(`Line ${line}: a quoted cell does not end where it should.`);
}

/** Books as `hookshelf book:export` writes them: nested values are JSON, plain authors names. */
export function booksCsv(
  columns: readonly string[], books: readonly Readonly<Record<string, unknown>>[],
): string {
  const rows = books.map((book) => columns.map((name) => cellOf(book[name])).join(','));
  return [columns.join(','), ...rows, ''].join('\r\n');
}

function cellOf(value: unknown): string {
  if (value === undefined || Array.isArray(value) && value.length === 0) return '';
  const text = typeof value === 'string' ? value : plainNames(value) ?? JSON.stringify(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Of things that have a name and nothing else; null for any other value. */
function plainNames(value: unknown): string | null {
  if (!Array.isArray(value)) return null;
  const names = value.map((one) => Object.keys({ ...one }).join() === 'name' ? one.name : null);
  return names.every((name) => typeof name === 'string' && name === name.trim()
    && !/;|^[[{]/.test(name)) ? names.join('; ') : null;
}
