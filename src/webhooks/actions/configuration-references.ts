/**
 * Counts the webhooks that use each action configuration. The counts are stored, so that a
 * transaction sees those that others have staged: a configuration cannot be removed while a webhook
 * that names it is being written, nor the other way round. Each configuration in use has one
 * record. The labels of webhooks come from the indexes.
 */
import { AppError, type FieldError } from '../../base/errors.ts';
import { invalid, isCount } from '../../base/fields.ts';
import type { Logger } from '../../base/log.ts';
import { joinFirst, quote, suggestName } from '../../base/text/error-message.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import { formatWebhookLabel, type WebhookDirection } from '../webhook-label.ts';
import { configurationCollection } from './action-configuration.ts';
import { decodeConfiguration } from './configuration-index.ts';
import { EMIT_EVENT } from './emit-event-action.ts';
import type { ConfiguredActions } from './run-action.ts';

export const usesCollection: CollectionSpec = { name: 'configuration-uses', key: 'identifier' };

type Uses = Readonly<Record<WebhookDirection, number>>;

const NAMES_MAX = 10;

/** Actions for incoming webhooks alone, each with the alternative for an outgoing one. */
const INCOMING_ACTIONS: Readonly<Record<string, string>> = {
  [EMIT_EVENT]: 'it sends the payload, or what another action makes of it',
  'run-command': 'have it send to an incoming webhook of this service, which runs the command',
};

/** A configuration, and the JSON Pointer to its name in a webhook. */
export type Reference = { readonly name: string; readonly pointer: string };

type ReferringMembers = {
  readonly actionConfiguration?: string;
  readonly routes?: readonly { readonly actionConfiguration: string }[];
};

/** A webhook, by the members that name its configurations and those that name the webhook. */
export type UsingWebhook = ReferringMembers & Parameters<typeof formatWebhookLabel>[0];

export function listReferences(
  { actionConfiguration, routes = [] }: ReferringMembers,
): Reference[] {
  const inRoutes = routes.map((route, index) =>
    ({ name: route.actionConfiguration, pointer: `/routes/${index}/actionConfiguration` }));
  return actionConfiguration === undefined ? inRoutes
    : [{ name: actionConfiguration, pointer: '/actionConfiguration' }, ...inRoutes];
}

export function refersTo(webhook: ReferringMembers, configuration: string): boolean {
  return listReferences(webhook).some(({ name }) => name === configuration);
}

const MISSING_LISTED_MAX = 10;

/** Warns in one log line of configurations whose action is not there, with their webhooks. */
export function warnOfMissingActions(
  { configurations, actions }: Omit<ConfiguredActions, 'runner'>,
  webhooks: readonly UsingWebhook[], log: Logger,
): void {
  const missing = [...configurations.all()]
    .filter(({ actionType }) => actions.find(actionType) === undefined);
  if (missing.length === 0) return;
  const labels = missing.slice(0, MISSING_LISTED_MAX).map(({ identifier, actionType }) => {
    const userLabels = webhooks.filter((webhook) => refersTo(webhook, identifier))
      .map(formatWebhookLabel);
    const suffix = userLabels.length === 0 ? '' : `, for ${joinFirst(userLabels)}`;
    return `${identifier} (${actionType})${suffix}`;
  });
  log.warning('actions are not there that configurations name: each run fails; doctor says how to '
    + 'mend it', { count: missing.length, configurations: labels });
}

/** Counts the names that a change adds or removes. Throws `invalid` for a bad name. */
export function updateUseCounts(
  transaction: Transaction, direction: WebhookDirection,
  { before, after, listKnownNames }: {
    readonly before: readonly Reference[]; readonly after: readonly Reference[];
    readonly listKnownNames: () => readonly string[];
  },
): void {
  const addedReferences = subtractReferences(after, before);
  const errors = addedReferences.flatMap((reference) =>
    findReferenceProblem(transaction, direction, reference, listKnownNames));
  if (errors.length > 0) throw invalid(errors);
  // A webhook counts once, however often it names a configuration.
  for (const name of collectNames(addedReferences)) addUses(transaction, direction, name, 1);
  for (const name of collectNames(subtractReferences(before, after))) {
    addUses(transaction, direction, name, -1);
  }
}

function subtractReferences(
  references: readonly Reference[], others: readonly Reference[],
): Reference[] {
  return references.filter(({ name }) => !others.some((other) => other.name === name));
}

function collectNames(references: readonly Reference[]): ReadonlySet<string> {
  return new Set(references.map(({ name }) => name));
}

/** Throws `conflict` for a configuration in use. */
export function checkUnused(
  transaction: Transaction, identifier: string, webhookNames: readonly string[],
): void {
  const { incoming, outgoing } = readUses(transaction, identifier);
  if (incoming + outgoing === 0) return;
  const list = webhookNames.length === 0 ? ''
    : `: ${joinFirst(webhookNames, { countMax: NAMES_MAX })}`;
  throw new AppError('conflict', `${identifier} is in use by webhooks${list}`);
}

/** Throws `conflict` if outgoing webhooks use a configuration whose new action is not for them. */
export function checkActionType(
  transaction: Transaction, identifier: string, actionType: string,
): void {
  if (findIncomingHint(actionType) === null) return;
  if (readUses(transaction, identifier).outgoing === 0) return;
  throw new AppError('conflict', `${identifier} is in use by outgoing webhooks, and ${actionType} `
    + 'is not for them: take it from them first, or make another action configuration');
}

/** null: the action is for outgoing webhooks, too. */
function findIncomingHint(actionType: string): string | null {
  return Object.hasOwn(INCOMING_ACTIONS, actionType) ? INCOMING_ACTIONS[actionType] ?? null : null;
}

function findReferenceProblem(
  transaction: Transaction, direction: WebhookDirection, { name, pointer }: Reference,
  listKnownNames: () => readonly string[],
): FieldError[] {
  const bytes = transaction.find(configurationCollection.name, name);
  if (bytes === undefined) {
    const knownNames = listKnownNames();
    if (knownNames.includes(name)) {
      const detail = `the action configuration ${quote(name)} would be deleted with this change`;
      return [{ pointer, detail }];
    }
    const detail = `there is no action configuration ${quote(name)}`;
    const end = knownNames.length === 0 ? ', nor any other: create one first'
      : suggestName(name, knownNames);
    return [{ pointer, detail: detail + end }];
  }
  if (direction === 'incoming') return [];
  const { actionType } = decodeConfiguration(bytes);
  const hint = findIncomingHint(actionType);
  return hint === null ? []
    : [{ pointer, detail: `${actionType} is not for an outgoing webhook: ${hint}` }];
}

function addUses(
  transaction: Transaction, direction: WebhookDirection, identifier: string, by: number,
): void {
  const before = readUses(transaction, identifier);
  const uses: Uses = { ...before, [direction]: Math.max(0, before[direction] + by) };
  const { incoming, outgoing } = uses;
  if (incoming + outgoing === 0) transaction.delete(usesCollection.name, identifier);
  else {
    const json = JSON.stringify({ identifier, incoming, outgoing });
    transaction.put(usesCollection.name, identifier, json);
  }
}

function readUses(transaction: Transaction, identifier: string): Uses {
  const bytes = transaction.find(usesCollection.name, identifier);
  return bytes === undefined ? { incoming: 0, outgoing: 0 }
    : decodeRecordAs<Uses>(bytes, ({ incoming, outgoing }) =>
      isCount(incoming) && isCount(outgoing));
}
