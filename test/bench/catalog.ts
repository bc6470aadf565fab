/** The catalog under load, beside bare node:http. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  MAIN, getJson, makeBook, makeCatalog, rawGet, rawPost, requestsForAll, temporaryFolder,
} from './books.ts';
import { BESIDE, BUSY, compare, start, stop } from './harness.ts';
import type { Contestant, Scenario } from './harness.ts';

const BARE = join(import.meta.dirname, 'bare.ts');
const BOOKS = 10_000;
const BODIES = 2000;

export function bare(name: string, environment: Readonly<Record<string, string>>): Contestant {
  return {
    name: 'bare node:http', command: ['--import', 'tsx', BARE, name], environment,
  };
}

export function ours(folder: string, ...options: readonly string[]): Contestant {
  return {
    name: 'hookshelf', command: [MAIN, 'serve', '--port', '0', '--data', folder, ...options],
  };
}

export async function getOne(): Promise<void> {
  await compareGets('', {});
}

export async function getOneBusy(): Promise<void> {
  await compareGets(BESIDE, BUSY);
}

async function compareGets(
  what: string, more: Pick<Scenario, 'hogs' | 'rounds'>,
): Promise<void> {
  const { folder } = makeCatalog(BOOKS);
  const bodyPath = join(temporaryFolder(), 'book.json');
  writeFileSync(bodyPath, JSON.stringify({
    id: '0190b2e0-7c3e-7abc-8def-0123456789ab',
    createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z', ...makeBook(1),
  }));
  await compare({
    title: `GET one book of 10 000, 64 connections${what}`,
    target: '0.95 of bare node:http sending one cached buffer and no header but its length',
    contestants: [
      { ...bare('get-one', { BODY_PATH: bodyPath }), requests: () => [rawGet('/api/books/1')] },
      { ...ours(folder), requests: requestsForAll },
    ],
    connections: 64,
    expectedStatus: 200,
    ...more,
  });
  rmSync(folder, { recursive: true });
}

export async function getAll(): Promise<void> {
  const { folder } = makeCatalog(BOOKS);
  const bodyPath = join(temporaryFolder(), 'books.json');
  const server = await start(ours(folder).command);
  writeFileSync(bodyPath, JSON.stringify(await getJson(server.port, '/api/books')));
  await stop(server);
  const requests = (): readonly string[] => [rawGet('/api/books')];
  await compare({
    title: 'GET all of 10 000 books, 16 connections',
    target: '0.85 of bare node:http sending one cached buffer',
    contestants: [
      { ...bare('get-all', { BODY_PATH: bodyPath }), requests }, { ...ours(folder), requests },
    ],
    connections: 16,
    expectedStatus: 200,
  });
  rmSync(folder, { recursive: true });
}

export async function durablePost(): Promise<void> {
  await compareDurablePosts('', {});
}

export async function durablePostBusy(): Promise<void> {
  await compareDurablePosts(BESIDE, BUSY);
}

async function compareDurablePosts(
  what: string, more: Pick<Scenario, 'hogs' | 'rounds'>,
): Promise<void> {
  const requests = (): readonly string[] => Array.from({ length: BODIES }, (_, index) =>
    rawPost('/api/books', JSON.stringify(makeBook(index))));
  await compare({
    title: `POST durable, 64 connections, each acknowledged after fdatasync${what}`,
    target: `${what === '' ? '1.0 to 1.2' : '0.9'} of bare node:http with append and group commit`,
    contestants: [
      { ...bare('durable', { BENCH_DIRECTORY: temporaryFolder() }), requests },
      { ...ours(temporaryFolder()), requests },
    ],
    connections: 64,
    expectedStatus: 201,
    ...more,
  });
}
