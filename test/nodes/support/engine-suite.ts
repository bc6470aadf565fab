/** What every engine of the port must do, tried on a real one: each case in a log of its own. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type {
  Engine, EngineSession, LogEntry, LogHead, LogPosition,
} from '../../../src/store/engines/engine.ts';
import { until } from '../../support/until.ts';

/** Opens one place that holds no log yet, as often as it is called. */
export type OpenEngine = () => Engine;

export type EngineCase = {
  readonly engine: Engine;
  readonly session: EngineSession;
  readonly head: LogHead;
  /** Another node's. */
  connect(): Promise<EngineSession>;
};

export const START: LogPosition = { sequence: 0, chain: '' };

export function newHead(): LogHead {
  return { ...START, log: randomUUID(), format: 1, floor: 0 };
}

/** `prepare` makes a place for one case; null: the engine is missing, which `skip` tells of. */
export function testEngine(
  name: string, skip: string | false, prepare: (context: TestContext) => Promise<OpenEngine>,
): void {
  for (const [claim, run] of CASES) {
    test(`${name}: ${claim}`, { skip }, async (context) => {
      await run(await beginCase(context, await prepare(context)), context);
    });
  }
}

export async function beginCase(context: TestContext, open: OpenEngine): Promise<EngineCase> {
  const connect = async (): Promise<EngineSession> => {
    const session = await open().connect();
    context.after(() => session.close());
    return session;
  };
  const engine = open();
  const session = await engine.connect();
  context.after(() => session.close());
  const head = newHead();
  assert.equal(await session.head(), null);
  assert.equal(await session.create(head), true);
  return { engine, session, head, connect };
}

/** An entry of `count` transactions directly after `expected`. */
export function entryAfter(expected: LogPosition, count = 1, text = 'x', batchId = randomUUID()) {
  const lines = Buffer.from(`${text}\n`.repeat(count));
  const chain = createHash('sha256').update(expected.chain + batchId).update(lines).digest('hex');
  return {
    first: expected.sequence + 1, sequence: expected.sequence + count, batchId, chain, lines,
  };
}

export async function appendAll(
  { session, head }: EngineCase, count: number, from: LogPosition = START, text = 'x',
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let index = 0; index < count; index += 1) {
    const expected = entries.at(-1) ?? from;
    const entry = entryAfter(expected, 1 + index % 3, text);
    assert.equal(await session.append(head.log, expected, entry), true);
    entries.push(entry);
  }
  return entries;
}

type Run = (engineCase: EngineCase, context: TestContext) => Promise<void>;

const CASES: readonly (readonly [string, Run])[] = [
  ['a log is made once, and is where all begin', async ({ session, head, connect }) => {
    assert.deepEqual(await session.head(), head);
    const other = await connect();
    assert.equal(await other.create({ ...head, log: randomUUID() }), false);
    assert.deepEqual(await other.head(), head);
    assert.deepEqual(await other.readAfter(0, 10), []);
  }],
  ['an entry is committed directly after what was expected, and nowhere else', async (given) => {
    const { session, head } = given;
    const [first] = await appendAll(given, 1);
    assert.ok(first !== undefined);
    for (const [log, expected] of [
      [head.log, START], [randomUUID(), first], [head.log, { ...first, chain: START.chain }],
      [head.log, { ...first, sequence: 2 }],
    ] as const) assert.equal(await session.append(log, expected, entryAfter(expected)), false);
    assert.deepEqual(await session.readAfter(0, 10), [first]);
    assert.deepEqual(await session.head(), { ...head, sequence: 1, chain: first.chain });
  }],
  ['entries are read in order, as many as are asked for', async (given) => {
    const text = `{"crc":"ü€𝄞\\u0000 ' \\\\ $1"}`;
    const entries = await appendAll(given, 150, START, text.repeat(20));
    const { session } = given;
    assert.deepEqual(await session.readAfter(0, 1000), entries);
    assert.deepEqual(await session.readAfter(0, 100), entries.slice(0, 100));
    assert.deepEqual(await session.readAfter(entries[9]?.sequence ?? 0, 3), entries.slice(10, 13));
    // Within an entry: it is the first with a higher sequence.
    assert.deepEqual(await session.readAfter(2, 1), [entries[1]]);
    assert.deepEqual(await session.readAfter(entries.at(-1)?.sequence ?? 0, 5), []);
  }],
  ['the largest batch fits, and so does a page of them', async (given) => {
    const { session, head, engine } = given;
    const entries: LogEntry[] = [];
    for (let index = 0; index < 6; index += 1) {
      const expected = entries.at(-1) ?? START;
      const entry = entryAfter(expected, 1, 'y'.repeat(engine.batchBytesMax - 1));
      assert.equal(entry.lines.length, engine.batchBytesMax);
      assert.equal(await session.append(head.log, expected, entry), true);
      entries.push(entry);
    }
    const read: LogEntry[] = [];
    // An answer may hold fewer than are asked for.
    for (let page; page === undefined || page.length > 0; read.push(...page)) {
      page = await session.readAfter(read.at(-1)?.sequence ?? 0, 64);
    }
    assert.deepEqual(read.map(({ chain }) => chain), entries.map(({ chain }) => chain));
    assert.ok(read.every(({ lines }, index) => lines.equals(entries[index]?.lines ?? lines)
      && lines.length === engine.batchBytesMax));
  }],
  ['an entry that the log holds is found, by whoever asks', async (given) => {
    const entries = await appendAll(given, 100);
    const other = await given.connect();
    for (const session of [given.session, other]) {
      const entry = entries[70] ?? entryAfter(START);
      assert.equal(await session.holds(entry), true);
      assert.equal(await session.holds({ ...entry, batchId: randomUUID() }), false);
      assert.equal(await session.holds({ ...entry, chain: 'another' }), false);
    }
    const refused = entryAfter(START);
    assert.equal(await given.session.append(given.head.log, START, refused), false);
    assert.equal(await given.session.holds(refused), false);
  }],
  ['who is locked is told what it missed, and commits after it', async (given) => {
    const { head, connect } = given;
    const entries = await appendAll(given, 20);
    const other = await connect();
    const last = entries.at(-1) ?? START;
    const committed = await other.appendLocked(head.log, entries[2] ?? START, (missed, found) => {
      assert.deepEqual(missed, entries.slice(3));
      assert.deepEqual([found.sequence, found.chain], [last.sequence, last.chain]);
      return entryAfter(found, 2);
    });
    assert.deepEqual(await other.readAfter(last.sequence, 9), [committed]);
    assert.equal(await other.appendLocked(head.log, START, () => null), null);
    await assert.rejects(other.appendLocked(head.log, START, () => {
      throw new Error('as planned');
    }), /as planned/);
    assert.equal((await other.head())?.sequence, last.sequence + 2);
  }],
  ['writers who contend all get on, and each is told of every entry once', async (given) => {
    const { head, connect, session } = given;
    const sessions = [session, await connect(), await connect()];
    const told = await Promise.all(sessions.map(async (own) => {
      const seen: string[] = [];
      let at: LogPosition = START;
      for (let index = 0; index < 30; index += 1) {
        const committed = await own.appendLocked(head.log, at, (missed, found) => {
          seen.push(...missed.map(({ batchId }) => batchId));
          return entryAfter(found);
        });
        assert.ok(committed !== null);
        seen.push(committed.batchId);
        at = committed;
      }
      return { seen, at };
    }));
    const log = (await session.readAfter(0, 1000)).map(({ batchId }) => batchId);
    assert.equal(log.length, 90);
    for (const { seen, at } of told) assert.deepEqual(seen, log.slice(0, at.sequence));
  }],
  ['a barrier resolves with the head', async (given) => {
    const [first] = await appendAll(given, 1);
    const node = randomUUID();
    for (let turn = 0; turn < 2; turn += 1) {
      const found = await given.session.barrier(node);
      assert.deepEqual(found, { ...given.head, sequence: 1, chain: first?.chain });
    }
  }],
  ['who watches is woken by what others append', async (given, context) => {
    const other = await given.connect();
    let wakes = 0;
    context.after(other.watch(() => { wakes += 1; }));
    let at: LogPosition = START;
    await until('four wakes', async () => {
      const entry = entryAfter(at);
      assert.equal(await given.session.append(given.head.log, at, entry), true);
      at = entry;
      return wakes > 3;
    });
  }],
  ['a snapshot is there once it is complete, and its bytes are kept', async ({ session }) => {
    const at = { sequence: 70_000, chain: 'c1' };
    const parts = [randomBytes(1 << 20), randomBytes(1), Buffer.alloc(0)].map((bytes) =>
      ({ bytes, sha256: createHash('sha256').update(bytes).digest('hex') }));
    const { snapshots } = session;
    await snapshots.writePart(at, 0, { bytes: Buffer.from('given up'), sha256: 'x' });
    for (const [index, part] of parts.entries()) await snapshots.writePart(at, index, part);
    assert.deepEqual(await snapshots.list(), []);
    await snapshots.complete(at, parts.length);
    const older = { sequence: 500, chain: 'c0' };
    await snapshots.complete(older, 0);
    assert.deepEqual(await snapshots.list(), [{ ...at, parts: 3 }, { ...older, parts: 0 }]);
    for (const [index, part] of parts.entries()) {
      const found = await snapshots.readPart(at, index);
      assert.equal(found.sha256, part.sha256);
      assert.ok(found.bytes.equals(part.bytes));
    }
    await snapshots.remove(at);
    assert.deepEqual(await snapshots.list(), [{ ...older, parts: 0 }]);
    await assert.rejects(snapshots.readPart(at, 0), /is not there/);
  }],
  ['trimming leaves the floor and what follows it', async (given) => {
    const { session, head } = given;
    const entries = await appendAll(given, 40);
    const [floor, last] = [entries[25]?.sequence ?? 0, entries.at(-1)];
    await session.trim(floor);
    await session.trim(floor - 5);
    assert.deepEqual(await session.readAfter(0, 100), entries.slice(25));
    assert.deepEqual(await session.head(),
      { ...head, sequence: last?.sequence, chain: last?.chain, floor });
    await appendAll(given, 3, last);
    assert.equal((await session.readAfter(0, 100)).length, 18);
  }],
  ['closing ends what is under way, and may be done twice', async ({ session, head }) => {
    const asked = [session.head(), session.append(head.log, START, entryAfter(START))];
    const settled = Promise.allSettled(asked);
    await session.close();
    await session.close();
    for (const result of await settled) {
      if (result.status === 'rejected') assert.equal(result.reason?.code, 'unknown_outcome');
    }
    await assert.rejects(session.head(), { code: 'unknown_outcome' });
  }],
];
