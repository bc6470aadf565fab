/**
 * Which hooks use an action configuration, counted in the store, so that a check sees what others
 * have staged: a configuration cannot go while a hook that names it is being written, nor the other
 * way round. One record a configuration in use; the hooks' names come from the indexes.
 */
import { AppError } from '../../base/errors.ts';
import { invalid, isJsonObject } from '../../base/fields.ts';
import { hintFor, quoted } from '../../base/text/refusal.ts';
import type { CollectionSpec, Transaction } from '../../store/port.ts';
import { configurationCollection } from './action-configuration.ts';
import { decodeConfiguration } from './configuration-index.ts';
import { EMIT_EVENT } from './emit-event.ts';

export const usesCollection: CollectionSpec = { name: 'configuration-uses', key: 'identifier' };

export type HookKind = 'incoming' | 'outgoing';

/** How many hooks of each kind name the configuration. */
type Uses = Readonly<Record<HookKind, number>>;

const NAMES_MAX = 10;

/** A hook's `actionConfiguration` before and after a change. Throws `invalid` for a bad one. */
export function moveReference(
  transaction: Transaction, kind: HookKind,
  { before, after, known }: {
    readonly before: string | undefined; readonly after: string | undefined;
    /** The configurations that there are, asked for when a name is refused. */
    readonly known: () => readonly string[];
  },
): void {
  if (before === after) return;
  if (after !== undefined) {
    checkTarget(transaction, kind, after, known);
    count(transaction, kind, after, 1);
  }
  if (before !== undefined) count(transaction, kind, before, -1);
}

/** Throws `conflict` when a configuration that is to go is in use. */
export function checkUnused(
  transaction: Transaction, identifier: string, hookNames: readonly string[],
): void {
  const { incoming, outgoing } = usesOf(transaction, identifier);
  if (incoming + outgoing === 0) return;
  const shown = hookNames.slice(0, NAMES_MAX).join(', ');
  const more = hookNames.length > NAMES_MAX ? ` and ${hookNames.length - NAMES_MAX} more` : '';
  const names = shown === '' ? '' : `: ${shown}${more}`;
  throw new AppError('conflict', `${identifier} is in use by webhooks${names}`);
}

/** Throws `conflict` when outgoing webhooks use what is to become an action not for them. */
export function checkActionType(
  transaction: Transaction, identifier: string, actionType: string,
): void {
  if (actionType !== EMIT_EVENT || usesOf(transaction, identifier).outgoing === 0) return;
  throw new AppError('conflict',
    `${identifier} is in use by outgoing webhooks, and ${EMIT_EVENT} is not for them`);
}

function checkTarget(
  transaction: Transaction, kind: HookKind, identifier: string, known: () => readonly string[],
): void {
  const pointer = '/actionConfiguration';
  const found = transaction.find(configurationCollection.name, identifier);
  if (found === undefined) {
    const detail = `there is no action configuration ${quoted(identifier)}`;
    throw invalid([{ pointer, detail: detail + hintFor(identifier, known()) }]);
  }
  if (kind === 'outgoing' && decodeConfiguration(found).actionType === EMIT_EVENT) {
    throw invalid([{ pointer, detail: `${EMIT_EVENT} is not for an outgoing webhook` }]);
  }
}

function count(transaction: Transaction, kind: HookKind, identifier: string, by: number): void {
  const before = usesOf(transaction, identifier);
  const uses: Uses = { ...before, [kind]: Math.max(0, before[kind] + by) };
  if (uses.incoming + uses.outgoing === 0) {
    transaction.delete(usesCollection.name, identifier);
    return;
  }
  const { incoming, outgoing } = uses;
  const json = JSON.stringify({ identifier, incoming, outgoing });
  transaction.put(usesCollection.name, identifier, json);
}

function usesOf(transaction: Transaction, identifier: string): Uses {
  const bytes = transaction.find(usesCollection.name, identifier);
  const record: unknown = bytes === undefined ? {} : JSON.parse(bytes.toString('utf8'));
  const countOf = (value: unknown): number => typeof value === 'number' ? value : 0;
  return isJsonObject(record)
    ? { incoming: countOf(record['incoming']), outgoing: countOf(record['outgoing']) }
    : { incoming: 0, outgoing: 0 };
}
