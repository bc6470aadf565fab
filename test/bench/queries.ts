/**
 * Queries of the catalog beside node:http over SQLite (`bare-sqlite.ts`), both on the current Node,
 * with the same books: the answers must be the same to the byte. With a million books, too, when
 * `QUERIES_BOOKS=10000,100000,1000000` says so. The aims are ratios of our time to SQLite's.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { encodeCursor } from '../../src/books/query/cursor.ts';
import { parseBookQuery } from '../../src/books/query/parse-query.ts';
import { readSortValues } from '../../src/books/query/book-sort.ts';
import { readId } from '../../src/books/query/stored-fields.ts';
import { makeCatalog, rawGet, runCommand, temporaryFolder } from './books.ts';
import { ours } from './catalog.ts';
import { cpuSeconds, heading, median, print, start, stop, whole } from './harness.ts';
import type { Running } from './harness.ts';
import { ResponseReader } from './load.ts';
import { printIndexes, printPosts, readIndexMetrics } from './query-indexes.ts';
import { listRows } from './query-rows.ts';
import type { QueryRow } from './query-rows.ts';
import { COMMON_SHELF, WORDS_BY_FREQUENCY, makeVariedBook } from './varied-books.ts';

const SIZES = (process.env['QUERIES_BOOKS'] ?? '10000,100000').split(',').map(Number);
const CLIENTS = [1, 16];
const ROUNDS = 3;
const ROUND_MS = 500;
const SETTLE_MS = 250;
const SETTLE_ROUNDS_MAX = 16;
/** Two rounds that differ by less cost alike. */
const SETTLED_SHARE = 0.15;
const RARE_BOOKS_MAX = 1000;
const ATTEMPTS_MAX = 30;

type Cost = { readonly wallMs: number; readonly cpuMs: number };
type Pair = { readonly ours: Running; readonly sqlite: Running };
type Answer = { readonly text: string; readonly total: string | null; readonly link: string };
/** A row with the paths of both: a cursor of one is none of the other. */
type PreparedRow = QueryRow & { readonly sqlitePath: string; readonly total: string };

export async function queries(): Promise<void> {
  const node = findCurrentNode();
  print(`\nBoth servers of \`queries\` run on ${spawnSync(node, ['-v']).stdout.toString().trim()}`);
  for (const size of SIZES) await compareAt(size, node);
}

/** The Node that `.ci/runtime.mjs` installs, which has `node:sqlite`. */
function findCurrentNode(): string {
  const program = resolve(import.meta.dirname, '../../.ci/runtime.mjs');
  const { status, stdout, stderr } =
    spawnSync(process.execPath, [program, `${process.platform}-${process.arch}`]);
  if (status !== 0) throw new Error(stderr.toString());
  return stdout.toString().trim();
}

async function compareAt(size: number, node: string): Promise<void> {
  const { folder } = makeCatalog(size, makeVariedBook);
  const booksPath = join(temporaryFolder(), 'books.jsonl');
  runCommand('book:export', '--file', booksPath, '--data', folder);
  const copy = join(temporaryFolder(), 'data');
  cpSync(folder, copy, { recursive: true });
  const sqlite = await start([join(import.meta.dirname, 'bare-sqlite.ts')],
    { BOOKS_PATH: booksPath }, 0, node);
  const pair = { ours: await start(ours(folder).command, {}, 0, node), sqlite };
  try {
    const rows = await prepareRows(pair);
    for (const row of rows) {
      await assertAlike(row, pair);
      await settlePair(row, pair);
    }
    for (const clients of CLIENTS) {
      heading(`Queries of ${whole(size)} books, clients: ${clients}`,
        'as each row says, in ms or as our time × that of SQLite');
      await compareRows(rows, pair, clients, size);
    }
    const paths = rows.filter(({ isMiddle }) => !isMiddle).map(({ path }) => path);
    await printIndexes({ copy, node, paths, size });
    await printPosts({ copy, node, indexed: pair.ours });
  } finally {
    await Promise.all([stop(pair.ours), stop(pair.sqlite)]);
  }
  rmSync(folder, { recursive: true });
}

async function prepareRows({ ours: server, sqlite }: Pair): Promise<readonly PreparedRow[]> {
  const rows: PreparedRow[] = [];
  for (const row of listRows(await findRareWord(sqlite), COMMON_SHELF)) {
    const { text, total: listTotal } = await ask(server, row.path);
    const total = listTotal ?? /^\{"total":(\d+)/.exec(text)?.[1] ?? '';
    const { path, sqlitePath } = row.isMiddle ? await findMiddle(sqlite, row.path, Number(total))
      : { path: row.path, sqlitePath: row.path };
    rows.push({ ...row, path, sqlitePath, total });
  }
  return rows;
}

async function findRareWord(sqlite: Running): Promise<string> {
  for (let index = 1; index < WORDS_BY_FREQUENCY.length; index *= 2) {
    const word = WORDS_BY_FREQUENCY[index]?.toLowerCase() ?? '';
    const { total } = await ask(sqlite, `/api/books?limit=1&q=${word}`);
    if (Number(total) <= RARE_BOOKS_MAX) return word;
  }
  throw new Error('no word is rare');
}

/** The paths of the page in the middle: to walk there would take minutes. */
async function findMiddle(
  sqlite: Running, path: string, total: number,
): Promise<Pick<PreparedRow, 'path' | 'sqlitePath'>> {
  const onePath = `${path.replace('limit=20', 'limit=1')}&offset=${Math.floor(total / 2) - 1}`;
  const { text, link } = await ask(sqlite, onePath);
  const sqliteCursor = /cursor=([\w-]+)/.exec(link)?.[1];
  const bytes = Buffer.from(text.slice(1, text.lastIndexOf(']')));
  const { sort, fingerprint } = parseBookQuery(path.slice(path.indexOf('?') + 1));
  const sortValues = readSortValues(sort, bytes);
  const cursor = encodeCursor({ sortValues, id: readId(bytes) }, fingerprint);
  return { path: `${path}&cursor=${cursor}`, sqlitePath: `${path}&cursor=${sqliteCursor}` };
}

/**
 * Returns when the answers cost alike, as they do once no index is being made for them any more and
 * the code is compiled; after some seconds in any case.
 */
async function settlePair(row: PreparedRow, { ours: server, sqlite }: Pair): Promise<void> {
  await settle(server, row.path, async () => (await readIndexMetrics(server)).bytes);
  if (!row.isOursAlone) await settle(sqlite, row.sqlitePath, async () => new Map());
}

async function settle(
  server: Running, path: string, readBytes: () => Promise<ReadonlyMap<string, number>>,
): Promise<void> {
  let lastCpuMs = Infinity;
  let lastBytes = '';
  for (let round = 0; round < SETTLE_ROUNDS_MAX; round += 1) {
    const { cpuMs } = await measure(server, path, 1, SETTLE_MS);
    const bytes = JSON.stringify([...await readBytes()]);
    const isAlike = Math.abs(cpuMs / lastCpuMs - 1) < SETTLED_SHARE;
    if (isAlike && bytes === lastBytes) return;
    lastCpuMs = cpuMs;
    lastBytes = bytes;
  }
}

async function compareRows(
  rows: readonly PreparedRow[], pair: Pair, clients: number, size: number,
): Promise<void> {
  print('| row | books | aim | ms, ours / SQLite | × | CPU ms, ours / SQLite | × |');
  print('|---|---:|---:|---:|---:|---:|---:|');
  for (const row of rows) {
    if (row.isForOneClient && clients > 1) continue;
    await assertAlike(row, pair);
    const oursCosts: Cost[] = [];
    const sqliteCosts: Cost[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      oursCosts.push(await measure(pair.ours, row.path, clients, ROUND_MS));
      if (row.isOursAlone) continue;
      sqliteCosts.push(await measure(pair.sqlite, row.sqlitePath, clients, ROUND_MS));
    }
    await assertAlike(row, pair);
    const [wall, cpu] = [({ wallMs }: Cost) => wallMs, ({ cpuMs }: Cost) => cpuMs].map((pick) =>
      formatCosts(oursCosts.map(pick), sqliteCosts.map(pick)));
    print(`| ${row.title} | ${row.total === '' ? '–' : whole(Number(row.total))} `
      + `| ${aimAt(row, size)} | ${wall} | ${cpu} |`);
  }
}

/** Medians, and the median of the ratios: a round disturbs both alike. */
function formatCosts(oursMs: readonly number[], sqliteMs: readonly number[]): string {
  const ratios = sqliteMs.map((ms, round) => (oursMs[round] ?? 0) / ms);
  const [first, second, ratio] = [oursMs, sqliteMs, ratios].map((values) =>
    values.length === 0 ? '–' : median(values).toFixed(2));
  return `${first} / ${second} | ${ratio}`;
}

function aimAt({ aims }: QueryRow, size: number): string {
  if (size <= 10_000) return aims[0];
  return size <= 100_000 ? aims[1] : aims[2];
}

async function assertAlike(row: PreparedRow, { ours: server, sqlite }: Pair): Promise<void> {
  if (row.isOursAlone) return;
  const [first, second] = [await ask(server, row.path), await ask(sqlite, row.sqlitePath)];
  if (first.total !== second.total || first.text !== second.text) {
    throw new Error(`${row.title}: the answers differ: ${first.total} and ${second.total} books, `
      + `${listIds(first)} and ${listIds(second)}, ${first.text.length} and ${second.text.length} `
      + `characters: ${first.text.slice(-200)} and ${second.text.slice(-200)}`);
  }
}

function listIds({ text }: Answer): string {
  return [...text.matchAll(/\{"id":"([^"]+)"/g)].map(([, id]) => id).join(' ');
}

/** Asks again while the answer is that an index is being made. */
async function ask({ port }: Running, path: string): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const { status, headers, text } = await fetchText(port, path);
    if (status === 200) {
      return { text, total: headers.get('x-total-count'), link: headers.get('link') ?? '' };
    }
    if (status !== 503 || attempt >= ATTEMPTS_MAX) throw new Error(`${path}: ${status} ${text}`);
  }
}

async function fetchText(
  port: number, path: string,
): Promise<Pick<Response, 'status' | 'headers'> & { readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

/**
 * What one request costs while so many clients send it for `durationMs`. It ends with the last
 * answer: one that takes longer than the round would count for half else.
 */
async function measure(
  server: Running, path: string, clients: number, durationMs: number,
): Promise<Cost> {
  const request = Buffer.from(rawGet(path));
  const startedAt = performance.now();
  const cpuAtStart = cpuSeconds(server.child.pid);
  const counts = await Promise.all(Array.from({ length: clients }, () =>
    sendUntil(server.port, request, startedAt + durationMs)));
  const requests = counts.reduce((total, count) => total + count, 0);
  return {
    wallMs: (performance.now() - startedAt) / requests,
    cpuMs: (cpuSeconds(server.child.pid) - cpuAtStart) * 1000 / requests,
  };
}

/** Sends the request over one connection, again and again; how many were answered. */
function sendUntil(port: number, request: Buffer, endMs: number): Promise<number> {
  return new Promise((fulfill, reject) => {
    let count = 0;
    const reader = new ResponseReader((status) => {
      count += 1;
      if (status !== 200) {
        socket.destroy(new Error(`status ${status}`));
      } else if (performance.now() < endMs) {
        socket.write(request);
      } else {
        socket.destroy();
        fulfill(count);
      }
    });
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => reader.read(bytes));
    socket.on('error', reject);
    socket.on('end', () => reject(new Error('the server closed the connection')));
  });
}
