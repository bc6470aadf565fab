/** One import by itself: what it holds while the disk, or its reader, is slower than its sender. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { before, test } from 'node:test';
import { loadCodec } from '../../../src/books/transfer/formats.ts';
import { runImport } from '../../../src/books/transfer/import.ts';
import type { Catalog } from '../../../src/books/catalog.ts';
import type { Exchange } from '../../../src/server/http-route.ts';
import type { ImportMode } from '../../../src/books/transfer/import-mode.ts';
import { endsInTurns, settled, someTurns, turnsUntil } from '../../support/turns.ts';
import { MATCH_LIST, parseMatches } from '../../../src/books/transfer/import-mode.ts';
import { longTest } from '../../support/long.ts';

const BATCH = 256;
const TURNS = 400;

// Loaded at the first import, in turns that these tests do not count.
before(() => loadCodec('jsonl'));

test('while eight batches wait for the disk no more is read', async () => {
  const { isRead } = startRun({
    lines: '{"title":"a"}\n'.repeat(BATCH), importBatch: () => new Promise(() => {}),
  });
  await someTurns(TURNS);
  assert.equal(isRead(), 8);
});

longTest('while 8 MiB of answers wait for their reader no more is read', async () => {
  const answer = '{"line":1,"status":"skipped","id":null,"detail":"…"}'.length;
  const { isRead, pull } = startRun({
    lines: 'x\n'.repeat(BATCH * 40), importBatch, chunksMax: 60,
  });
  await settled(isRead);
  const stalledAt = isRead();
  assert.ok(stalledAt * BATCH * 40 * answer > 2 * 2 ** 20 && stalledAt < 30, `${stalledAt}`);
  await pull();
  await settled(isRead);
  assert.ok(isRead() > stalledAt, 'it goes on when they are taken');
});

test('other requests have a turn between two chunks that lie ready', async () => {
  const { isRead } = startRun({ lines: '{"title":"a"}\n', importBatch });
  await someTurns(10);
  assert.ok(isRead() <= 12, `${isRead()} chunks in ten turns`);
});

test('other requests have a turn between two batches of a chunk', async () => {
  let batches = 0;
  startRun({
    lines: '{"title":"a"}\n'.repeat(BATCH * 6), chunksMax: 1,
    importBatch: (records) => {
      batches += 1;
      return importBatch(records);
    },
  });
  await turnsUntil(() => batches > 0);
  await someTurns(2);
  assert.ok(batches <= 3, `${batches} batches in two turns`);
});

test('a bug in a batch breaks the response off while the body is still coming', async () => {
  const bug = new TypeError('a bug');
  let failBatch = (): void => {};
  const { pull } = startRun({
    lines: '{"title":"a"}\n', chunksMax: 1, isSlow: true,
    importBatch: () => new Promise((_, reject) => {
      failBatch = () => reject(bug);
    }),
  });
  await someTurns(10);
  await pull();
  const waiting = assert.rejects(pull(), bug);
  await someTurns(10);
  failBatch();
  await endsInTurns(waiting);
});

test('a body whose records cannot be matched as asked is closed', async () => {
  const { isClosed, ending } = startRun({
    lines: '{"title":"a"}\n', importBatch, mode: { matches: ['source'] },
  });
  await assert.rejects(ending, { code: 'invalid' });
  assert.ok(isClosed());
});

test('lines come in the order of their records, whichever batch is stored first', async () => {
  const finishBatch: (() => void)[] = [];
  const { pull } = startRun({
    lines: '{"title":"a"}\n'.repeat(2 * BATCH), chunksMax: 1,
    importBatch: (records) => new Promise((resolve) => {
      finishBatch.push(() => resolve(importBatch(records)));
    }),
  });
  await someTurns(10);
  finishBatch[1]?.();
  await someTurns(10);
  finishBatch[0]?.();
  await someTurns(10);
  const text = Buffer.concat(await pull() ?? []).toString();
  assert.deepEqual([...text.matchAll(/"line":(\d+)/g)].map(([, line]) => Number(line)),
    Array.from({ length: 2 * BATCH }, (_, index) => index + 1));
});

type ImportBatch = (records: readonly unknown[]) => Promise<unknown>;

function importBatch(records: readonly unknown[]): Promise<unknown> {
  return Promise.resolve(records.map(() => ({ id: 'a', outcome: 'imported', leftOut: [] })));
}

/** A body of chunks of the same lines, and a catalog that stores them by `importBatch`. */
function startRun({ lines, importBatch, chunksMax = 1000, isSlow = false, mode = {} }: {
  lines: string; importBatch: ImportBatch; chunksMax?: number;
  /** Whether the body does not end with its chunks. */
  isSlow?: boolean;
  mode?: Partial<ImportMode>;
}) {
  let chunks = 0;
  let isClosed = false;
  let pull: () => Promise<readonly Buffer[] | null> = () => Promise.resolve(null);
  const catalog = { openImport: () => ({ importBatch, close() {} }), countImported() {} };
  const exchange = {
    request: { headers: {} },
    response: new EventEmitter(),
    async* readChunks() {
      try {
        while (chunks < chunksMax) {
          chunks += 1;
          yield Buffer.from(lines);
        }
        if (isSlow) await new Promise(() => {});
      } finally {
        isClosed = true;
      }
    },
    sendStream(_status: number, _headers: readonly string[], next: typeof pull) {
      pull = next;
      return Promise.resolve();
    },
  };
  const ending = runImport(
    catalog as unknown as Catalog, exchange as unknown as Exchange, { format: 'jsonl' },
    {
      matches: [], onMatch: 'update', hasAllTypes: false, columns: new Map(), isDryRun: false,
      isVerbose: false, ...mode,
    });
  ending.catch(() => {});
  return { isRead: () => chunks, isClosed: () => isClosed, pull: () => pull(), ending };
}

test('the document of the API knows the lists of ways to match that are taken', () => {
  for (const text of ['isbn', 'isbn,title', 'title,source,isbn', '', 'isbn,', 'author', 'a isbn']) {
    assert.equal(MATCH_LIST.test(text), typeof parseMatches(text) !== 'string', text);
  }
});
