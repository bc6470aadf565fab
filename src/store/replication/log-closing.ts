/**
 * The entry that ends a log for good, once `data:move` has brought its records elsewhere: one
 * transaction that puts one record into a collection that no store has,
 *
 *     {"id":"log","to":"<where the records are now>","at":"<time>"}
 *
 * Every node stops before it, as before any record that it does not know. This release says where
 * the records went; earlier releases show the name of the collection, which tells what has
 * happened. The entry is never applied, so that no snapshot holds it.
 */
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { LogEntry, LogPosition } from '../engines/engine.ts';
import { JournalLineEncoder } from '../journal/journal-line-encoder.ts';
import type { LoggedTransaction } from '../store-port.ts';
import { encodeEntry } from './log-entry.ts';

/** Earlier releases show this name to people. */
const COLLECTION = 'closed-by-data-move';

export type LogClosing = {
  /** For people, without credentials: an engine or a directory. */
  readonly to: string;
  /** By the clock of the machine that ran the command. */
  readonly at: string;
};

export function encodeClosing(position: LogPosition, { to, at }: LogClosing): LogEntry {
  const bytes = Buffer.from(JSON.stringify({ id: 'log', to, at }));
  return encodeEntry(new JournalLineEncoder(), position,
    [[{ collection: COLLECTION, id: 'log', bytes }]]);
}

/** Finds the transaction that closes the log, with its sequence; null: there is none. */
export function findClosing(
  transactions: readonly LoggedTransaction[],
): { readonly sequence: number; readonly closing: LogClosing } | null {
  for (const { sequence, operations } of transactions) {
    const operation = operations[0];
    if (operation?.collection !== COLLECTION || operation.bytes === null) continue;
    return { sequence, closing: decodeClosing(operation.bytes) };
  }
  return null;
}

export function createClosedError({ to, at }: LogClosing): AppError {
  return new AppError('misconfigured', `the log was closed at ${at}, when data:move brought its `
    + `records to ${to}: go on there; if that data:move was cut off, run it again`);
}

function decodeClosing(bytes: Buffer): LogClosing {
  const value: unknown = JSON.parse(bytes.toString());
  const { to, at } = isJsonObject(value) ? value : {};
  return {
    to: typeof to === 'string' ? to : 'another place',
    at: typeof at === 'string' ? at : 'some time',
  };
}
