/**
 * What a process did to its files, as strace(1) tells it, and whether everything was on disk when
 * it had to be.
 */
import assert from 'node:assert/strict';

export type FileCall = {
  readonly name: string;
  /** The thread. */
  readonly pid: string;
  /** Of the descriptor, or of the first path. */
  readonly path: string;
  /** What stands in the brackets. */
  readonly words: string;
  readonly isOk: boolean;
  /** The count of calls that had begun, and ended, when this one began. */
  readonly startedAt: number;
};

const LINE = /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$/;
const PATH = /^(?:AT_FDCWD<[^>]*>, )?(?:\d+<([^>]*)>|"([^"]*)")/;

/** The calls of a trace in the order in which they ended; a write counts from its beginning. */
export function parseTrace(text: string): FileCall[] {
  const calls: FileCall[] = [];
  const unfinished = new Map<string, { words: string; startedAt: number }>();
  for (const line of text.split('\n')) {
    const [, pid = '', resumed, begun = '', rest = ''] = LINE.exec(line) ?? [];
    if (pid === '') continue;
    const name = resumed ?? begun;
    const key = `${pid} ${name}`;
    const isUnfinished = rest.endsWith('<unfinished ...>');
    const begin = unfinished.get(key);
    const words = resumed === undefined ? rest : begin?.words ?? '';
    const startedAt = resumed === undefined ? calls.length : begin?.startedAt ?? calls.length;
    if (isUnfinished) unfinished.set(key, { words, startedAt });
    // A write that is under way may be seen already: it counts from its beginning.
    const isCounted = /^p?write/.test(name) ? resumed === undefined : !isUnfinished;
    if (!isCounted) continue;
    const [, byDescriptor, byName] = PATH.exec(words) ?? [];
    const isOk = isUnfinished || / = (?!-)\S+$/.test(rest);
    calls.push({ name, pid, words, startedAt, isOk, path: byDescriptor ?? byName ?? '' });
  }
  return calls;
}

export type Checked = {
  /** Of answers that say that something was stored. */
  readonly answers: number;
  readonly syncThreads: number;
  readonly renames: number;
  readonly unlinks: number;
};

/** Asserts that nothing was answered, named or removed before what it rests on was on disk. */
export function checkDurable(calls: readonly FileCall[], directory: string): Checked {
  const model = new Model(directory);
  let answers = 0;
  let renames = 0;
  let unlinks = 0;
  const threads = new Set<string>();
  for (const [index, call] of calls.entries()) {
    const { name, path, words, isOk, pid } = call;
    if (!isOk) continue;
    if (name.startsWith('write') && words.includes('HTTP/1.1 201')) {
      model.assertTransactionsDurable(`answer ${answers + 1}`);
      assert.ok(model.takeWritten(), `answer ${answers + 1} without a write`);
      answers += 1;
    }
    if (!path.startsWith(directory) || path.includes('lock')) continue;
    if (name === 'openat' && words.includes('O_CREAT')) model.noteName();
    if (name.startsWith('pwrite')) {
      if (words.includes('snapshots\\":[')) model.assertAllDurable('the note of a generation');
      model.noteWrite(path, index, words.includes('ops\\":['));
    }
    if (name === 'fdatasync') {
      model.noteSync(path, call.startedAt);
      if (path.endsWith('.jsonl')) threads.add(pid);
    }
    if (name === 'fsync' && path === directory) model.noteDirectorySync(call.startedAt);
    if (name.startsWith('rename')) {
      model.assertSynced(path, 'a rename');
      model.noteName();
      renames += 1;
    }
    if (name.startsWith('unlink') && /-\d{6}\.jsonl?"/.test(words)) {
      model.assertAllDurable('the removal of an older generation');
      unlinks += 1;
    }
  }
  model.assertAllDurable('the end');
  return { answers, renames, unlinks, syncThreads: threads.size };
}

class Model {
  readonly #directory: string;
  /** The index of the last write, of files that are not synced since. */
  readonly #dirty = new Map<string, number>();
  /** Those among them that hold transactions: a note may be under way while one is answered. */
  readonly #acknowledging = new Map<string, number>();
  #namedAt = -1;
  #now = 0;
  #hasWritten = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  noteWrite(path: string, index: number, isTransaction: boolean): void {
    this.#now = index;
    this.#dirty.set(path, index);
    if (isTransaction) this.#acknowledging.set(path, index);
    this.#hasWritten ||= isTransaction;
  }

  /** A sync covers what was written before it began. */
  noteSync(path: string, startedAt: number): void {
    for (const written of [this.#dirty, this.#acknowledging]) {
      if ((written.get(path) ?? -1) < startedAt) written.delete(path);
    }
  }

  noteName(): void {
    this.#namedAt = Math.max(this.#namedAt, this.#now, 0);
  }

  noteDirectorySync(startedAt: number): void {
    if (this.#namedAt <= startedAt) this.#namedAt = -1;
  }

  takeWritten(): boolean {
    const had = this.#hasWritten;
    this.#hasWritten = false;
    return had;
  }

  assertSynced(path: string, what: string): void {
    assert.ok(!this.#dirty.has(path), `${what} of ${path}, which is not synced`);
  }

  assertTransactionsDurable(what: string): void {
    assert.deepEqual([...this.#acknowledging.keys()], [],
      `${what} before its transaction is synced`);
    assert.equal(this.#namedAt, -1, `${what} before ${this.#directory} is synced`);
  }

  assertAllDurable(what: string): void {
    const dirty = [...this.#dirty.keys()].filter((path) => !path.endsWith('.sock'));
    assert.deepEqual(dirty, [], `${what} before what was written is synced`);
    assert.equal(this.#namedAt, -1, `${what} before ${this.#directory} is synced`);
  }
}

/** Asserts that the lock was let go of after everything else in the directory. */
export function checkLockLast(calls: readonly FileCall[], directory: string): void {
  const inData = calls.filter(({ path }) => path.startsWith(`${directory}/`));
  // The owner's name is replaced: by a shorter text, so that the file is cut.
  const released = inData.findLastIndex(({ name, path }) =>
    name === 'ftruncate' && path === `${directory}/lock`);
  assert.ok(released >= 0, 'the lock was let go of');
  const after = inData.slice(released + 1).filter(({ path }) => !path.includes('lock'));
  assert.deepEqual(after.map(({ name, path }) => `${name} ${path}`), []);
  const closed = inData.filter(({ name, path }) => name === 'close' && path.endsWith('.jsonl'));
  assert.ok(closed.length > 0, 'the journal was closed');
}
