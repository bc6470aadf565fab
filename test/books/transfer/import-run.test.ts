/** One import by itself: what it holds while the disk, or its reader, is slower than its sender. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { runImport } from '../../../src/books/transfer/import.ts';
import type { Catalog } from '../../../src/books/catalog.ts';
import type { Exchange } from '../../../src/server/http-route.ts';

const BATCH = 256;
const TURNS = 400;

test('while eight batches wait for the disk no more is read', async () => {
  const { isRead } = startRun({ lines: '{"title":"a"}\n'.repeat(BATCH), isStored: false });
  await turns(TURNS);
  assert.equal(isRead(), 8);
});

test('while 8 MiB of answers wait for their reader no more is read', async () => {
  const answer = '{"line":1,"status":"skipped","id":null,"detail":"…"}'.length;
  const { isRead, pull } = startRun({ lines: 'x\n'.repeat(BATCH * 40), isStored: true });
  await turns(TURNS);
  const stalledAt = isRead();
  assert.ok(stalledAt * BATCH * 40 * answer > 2 * 2 ** 20 && stalledAt < 30, `${stalledAt}`);
  await pull();
  await turns(TURNS);
  assert.ok(isRead() > stalledAt, 'it goes on when they are taken');
});

test('other requests have a turn between two chunks that lie ready', async () => {
  const { isRead } = startRun({ lines: '{"title":"a"}\n', isStored: true });
  await turns(10);
  assert.ok(isRead() <= 12, `${isRead()} chunks in ten turns`);
});

/** An endless body of chunks of the same lines; they are stored at once, or never. */
function startRun({ lines, isStored }: { lines: string; isStored: boolean }) {
  let chunks = 0;
  let pull: () => Promise<unknown> = () => Promise.resolve();
  const catalog = {
    importBatch: (records: readonly unknown[]) => isStored
      ? Promise.resolve(records.map(() => ({ id: 'a', outcome: 'imported' })))
      : new Promise(() => {}),
  };
  const exchange = {
    response: new EventEmitter(),
    async* readChunks() {
      while (chunks < 1000) {
        chunks += 1;
        yield Buffer.from(lines);
      }
    },
    sendStream(_status: number, _headers: readonly string[], next: () => Promise<unknown>) {
      pull = next;
      return Promise.resolve();
    },
  };
  void runImport(catalog as unknown as Catalog, exchange as unknown as Exchange,
    { isReplacing: false, isDryRun: false });
  return { isRead: () => chunks, pull: () => pull() };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}
