/** One import by itself: what it holds while the disk, or its reader, is slower than its sender. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { before, test } from 'node:test';
import { loadCodec } from '../../../src/books/transfer/formats.ts';
import { runImport } from '../../../src/books/transfer/import.ts';
import type { Catalog } from '../../../src/books/catalog.ts';
import type { Exchange } from '../../../src/server/http-route.ts';
import { someTurns } from '../../support/turns.ts';

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

test('while 8 MiB of answers wait for their reader no more is read', async () => {
  const answer = '{"line":1,"status":"skipped","id":null,"detail":"…"}'.length;
  const { isRead, pull } = startRun({
    lines: 'x\n'.repeat(BATCH * 40), importBatch, chunksMax: 60,
  });
  await someTurns(TURNS);
  const stalledAt = isRead();
  assert.ok(stalledAt * BATCH * 40 * answer > 2 * 2 ** 20 && stalledAt < 30, `${stalledAt}`);
  await pull();
  await someTurns(TURNS);
  assert.ok(isRead() > stalledAt, 'it goes on when they are taken');
});

test('other requests have a turn between two chunks that lie ready', async () => {
  const { isRead } = startRun({ lines: '{"title":"a"}\n', importBatch });
  await someTurns(10);
  assert.ok(isRead() <= 12, `${isRead()} chunks in ten turns`);
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
function startRun({ lines, importBatch, chunksMax = 1000 }: {
  lines: string; importBatch: ImportBatch; chunksMax?: number;
}) {
  let chunks = 0;
  let pull: () => Promise<readonly Buffer[] | null> = () => Promise.resolve(null);
  const catalog = { openImport: () => ({ importBatch, close() {} }) };
  const exchange = {
    response: new EventEmitter(),
    async* readChunks() {
      while (chunks < chunksMax) {
        chunks += 1;
        yield Buffer.from(lines);
      }
    },
    sendStream(_status: number, _headers: readonly string[], next: typeof pull) {
      pull = next;
      return Promise.resolve();
    },
  };
  void runImport(catalog as unknown as Catalog, exchange as unknown as Exchange,
    { format: 'jsonl' }, { match: null, onMatch: 'update', hasAllTypes: false, isDryRun: false });
  return { isRead: () => chunks, pull: () => pull() };
}
