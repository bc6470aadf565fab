/**
 * The group commit of the bare programs. It is the store's, without its checks
 * (store/transactions/group-commit.ts): lines gather until two turns of the loop in a row bring no
 * more, at most for eight turns; then one write and one fdatasync, which block the loop, make them
 * durable together. Blocking is the faster way on a fast disk, and so is gathering.
 */
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

type WaitingLine = { readonly text: string; readonly onDurable: () => void };

export type GroupCommit = (line: string, onDurable?: () => void) => void;

const TURNS_MAX = 8;
const QUIET_TURNS = 2;

/** The journal is a file in the folder that the environment names. */
export function createGroupCommit(): GroupCommit {
  const folder = process.env['BENCH_DIRECTORY'] ?? '';
  const descriptor = openSync(join(folder, 'journal.jsonl'), 'a', 0o600);
  let waiting: WaitingLine[] = [];
  let isOpen = false;
  const commit = (): void => {
    isOpen = false;
    const batch = waiting;
    waiting = [];
    const bytes = Buffer.from(batch.map(({ text }) => text).join(''));
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fdatasyncSync(descriptor);
    for (const { onDurable } of batch) onDurable();
  };
  const gather = (count: number, turns: number, quietTurns: number): void => {
    const quietSoFar = waiting.length === count ? quietTurns + 1 : 0;
    if (quietSoFar >= QUIET_TURNS || turns >= TURNS_MAX) commit();
    else setImmediate(gather, waiting.length, turns + 1, quietSoFar);
  };
  return (text, onDurable = () => {}) => {
    waiting.push({ text, onDurable });
    if (isOpen) return;
    isOpen = true;
    setImmediate(gather, 0, 1, 0);
  };
}
