/**
 * Which hooks use an action configuration, counted in the store, so that a check sees what others
 * have staged: a configuration cannot go while a hook that names it is being written, nor the other
 * way round. One record a configuration in use; the hooks' names come from the indexes.
 */
import { AppError, type FieldError } from '../../base/errors.ts';
import { invalid, isJsonObject } from '../../base/fields.ts';
import { hintFor, quoted } from '../../base/text/refusal.ts';
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { configurationCollection } from './action-configuration.ts';
import { decodeConfiguration } from './configuration-index.ts';
import { EMIT_EVENT } from './emit-event.ts';

export const usesCollection: CollectionSpec = { name: 'configuration-uses', key: 'identifier' };

export type HookKind = 'incoming' | 'outgoing';

/** How many hooks of each kind name the configuration. */
type Uses = Readonly<Record<HookKind, number>>;

const NAMES_MAX = 10;

/** The name of a configuration, and the JSON Pointer of where a hook has it. */
export type Reference = { readonly name: string; readonly pointer: string };

/** What a hook names. */
export function referencesOf({ actionConfiguration, routes = [] }: {
  readonly actionConfiguration?: string;
  readonly routes?: readonly { readonly actionConfiguration: string }[];
}): Reference[] {
  const inRoutes = routes.map((route, index) =>
    ({ name: route.actionConfiguration, pointer: `/routes/${index}/actionConfiguration` }));
  return actionConfiguration === undefined ? inRoutes
    : [{ name: actionConfiguration, pointer: '/actionConfiguration' }, ...inRoutes];
}

/** What a hook names before and after a change. Throws `invalid` for a bad name. */
export function moveReferences(
  transaction: Transaction, kind: HookKind,
  { before, after, known }: {
    readonly before: readonly Reference[]; readonly after: readonly Reference[];
    /** The configurations that there are, asked for when a name is refused. */
    readonly known: () => readonly string[];
  },
): void {
  const added = without(after, before);
  const errors = added.flatMap((reference) =>
    findTargetProblem(transaction, kind, reference, known));
  if (errors.length > 0) throw invalid(errors);
  // A hook counts once, however often it names a configuration.
  for (const name of namesOf(added)) count(transaction, kind, name, 1);
  for (const name of namesOf(without(before, after))) count(transaction, kind, name, -1);
}

function without(references: readonly Reference[], others: readonly Reference[]): Reference[] {
  return references.filter(({ name }) => !others.some((other) => other.name === name));
}

function namesOf(references: readonly Reference[]): ReadonlySet<string> {
  return new Set(references.map(({ name }) => name));
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

function findTargetProblem(
  transaction: Transaction, kind: HookKind, { name, pointer }: Reference,
  known: () => readonly string[],
): FieldError[] {
  const found = transaction.find(configurationCollection.name, name);
  if (found === undefined) {
    const detail = `there is no action configuration ${quoted(name)}`;
    return [{ pointer, detail: detail + hintFor(name, known()) }];
  }
  const isRefused = kind === 'outgoing' && decodeConfiguration(found).actionType === EMIT_EVENT;
  return isRefused ? [{ pointer, detail: `${EMIT_EVENT} is not for an outgoing webhook` }] : [];
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
