/** Deterministic books of about 350 stored bytes, and folders full of them. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const MAIN = resolve(import.meta.dirname, '../../dist/main.js');

const FIRST = ['Ursula', 'Jorge', 'Chinua', 'Toni', 'Italo', 'Clarice', 'Haruki', 'Stanisław'];
const LAST = ['Marsh', 'Borges', 'Okafor', 'Keller', 'Calder', 'Lopes', 'Nowak', 'Haddad'];
const NOUN = ['River', 'Library', 'Garden', 'Winter', 'Machine', 'Harbour', 'Atlas', 'Signal'];
const ADJECTIVE = ['Silent', 'Invisible', 'Broken', 'Distant', 'Hollow', 'Burning', 'Glass'];
const KEYWORDS = ['fiction', 'essay', 'history', 'poetry', 'science', 'crime', 'travel'];
const LINES_PER_WRITE = 5000;

export function makeBook(n: number): object {
  const hash = Math.imul(n + 1, 2654435761) >>> 0;
  const pick = (list: readonly string[], shift: number): string =>
    list[(hash >>> shift) % list.length] ?? '';
  return {
    title: `The ${pick(ADJECTIVE, 3)} ${pick(NOUN, 7)} of ${pick(NOUN, 13)} ${n}`,
    authors: [{ name: `${pick(FIRST, 5)} ${pick(LAST, 11)}` }],
    datePublished: String(1900 + (hash % 125)),
    inLanguage: 'en',
    numberOfPages: 90 + (hash % 800),
    keywords: [pick(KEYWORDS, 2), `shelf ${hash % 1000}`],
    description: `A ${pick(ADJECTIVE, 17)} story of a ${pick(NOUN, 19)}.`,
  };
}

const folders = new Set<string>();

/** A new folder, which is there until `removeTemporaryFolders` is called. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-bench-'));
  folders.add(folder);
  return folder;
}

/** Removes what a scenario has left: some hold hundreds of megabytes. */
export function removeTemporaryFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

type MakeBook = (n: number) => object;

export function writeJsonLines(folder: string, count: number, make: MakeBook = makeBook): string {
  const path = join(folder, `books-${count}.jsonl`);
  const descriptor = openSync(path, 'w');
  for (let start = 0; start < count; start += LINES_PER_WRITE) {
    const size = Math.min(LINES_PER_WRITE, count - start);
    const lines = Array.from({ length: size }, (_, index) =>
      `${JSON.stringify(make(start + index))}\n`);
    writeSync(descriptor, lines.join(''));
  }
  closeSync(descriptor);
  return path;
}

/** Runs a hookshelf command to its end; throws what it wrote on stderr when it fails. */
export function runCommand(...parameters: readonly string[]): string {
  const result = spawnSync(process.execPath, [MAIN, ...parameters], {
    encoding: 'utf8', maxBuffer: 1 << 28,
  });
  if (result.status !== 0) throw new Error(result.stderr);
  return result.stdout;
}

/** A data directory with `count` books, compacted; and how long the import took. */
export function makeCatalog(
  count: number, make: MakeBook = makeBook,
): { folder: string; importSeconds: number } {
  const folder = temporaryFolder();
  const path = writeJsonLines(temporaryFolder(), count, make);
  const startedAt = performance.now();
  runCommand('book:import', '--file', path, '--data', folder);
  const importSeconds = (performance.now() - startedAt) / 1000;
  runCommand('data:compact', '--data', folder);
  return { folder, importSeconds };
}

/** Raw GET requests for the books of a running server, in scattered order. */
export async function requestsForAll(port: number): Promise<readonly string[]> {
  const response = await getJson(port, '/api/books');
  if (!Array.isArray(response)) throw new Error('no array');
  const ids = response.map((book: { readonly id: string }) => book.id);
  return ids.map((_, index) => rawGet(`/api/books/${ids[(index * 7919) % ids.length]}`));
}

export function rawGet(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
}

export function rawPost(path: string, body: string, headers = ''): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${headers}`
    + `Content-Length: ${length}\r\n\r\n${body}`;
}

export async function getJson(port: number, path: string): Promise<unknown> {
  return JSON.parse(await getText(port, path));
}

export async function getText(port: number, path: string): Promise<string> {
  return new Promise((done, failed) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => done(Buffer.concat(chunks).toString()));
      response.on('error', failed);
    }).on('error', failed);
  });
}
