/**
 * Finds which webhooks the tokens of customers see, and which of these webhooks may receive events
 * of other customers. Commands and the plan of an apply say so in the same words. Pure.
 */
import { EVERY_EVENT, createNameTest, listPatternsOf } from '../../base/event-name.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { joinFirst } from '../../base/text/error-message.ts';
import {
  createBindingTest, findBeginning, listEntriesWith, type BoundWebhook,
} from '../../base/webhook-binding.ts';
import { SYSTEM_EVENTS } from '../actions/event-name.ts';

/** A token, as the API has it or as it is stored. */
export type TokenBinding = {
  readonly name?: JsonValue; readonly webhooks?: JsonValue | readonly string[];
};

export const CONDITION_ADVICE = 'if not all is for them, set one: outgoingwebhook:update --when';

/** The webhooks that bound tokens see, each with the quoted names of these tokens. */
type Holders = ReadonlyMap<JsonObject, ReadonlySet<string>>;

/** Whether the answer may name a webhook. The other webhooks still count in comparisons. */
type IsSubject = (webhook: JsonObject) => boolean;
const ALL: IsSubject = () => true;

/**
 * Finds the names, quoted as in `holders`, of support tokens: such a token is bound by beginnings
 * of names alone, and sees each webhook that any token sees. There are none unless two other names
 * at least see webhooks.
 */
export function findSupportNames(
  holders: Holders, tokens: readonly TokenBinding[],
): ReadonlySet<string> {
  const quote = ({ name }: TokenBinding): string => JSON.stringify(name);
  const namesOfOthers = new Set(tokens.filter(({ webhooks }) => !Array.isArray(webhooks)
    || !webhooks.every((entry) => findBeginning(String(entry)) !== null)).map(quote));
  const names = new Set([...holders.values()].flatMap((holderNames) => [...holderNames]));
  const supportNames = [...names].filter((name) => !namesOfOthers.has(name)
    && [...holders.values()].every((holderNames) => holderNames.has(name)));
  return new Set(names.size - supportNames.length < 2 ? [] : supportNames);
}

/** null: there is none. A customer who got a support token by mistake is named, too. */
export function describeSupport(supportNames: ReadonlySet<string>): string | null {
  return supportNames.size === 0 ? null : `${joinFirst([...supportNames])} ${
    supportNames.size === 1 ? 'sees' : 'see'} the webhooks of all others: no token for a customer`;
}

/** Says which subjects tokens of several names see, support tokens aside; null: there are none. */
export function describeShared(
  holders: Holders, supportNames: ReadonlySet<string>, isSubject = ALL,
): string | null {
  const labels = [...holders].flatMap(([webhook, allNames]) => {
    const names = [...allNames].filter((name) => !supportNames.has(name));
    return names.length > 1 && isSubject(webhook)
      ? [`${formatLabel(webhook)} (${joinFirst(names)})`] : [];
  });
  return labels.length === 0 ? null : `several tokens see the same webhooks: ${joinFirst(labels)}`;
}

/**
 * Says which subjects have no condition and may hear an event of hookshelf itself, or an event that
 * is also heard by a webhook that one of their tokens does not see: the holder of that token gets
 * what is meant for others. null: there are none. A token that sees both webhooks is no reason.
 */
export function describeUnconditional(holders: Holders, isSubject = ALL): string | null {
  const listCommonNames = indexCommonNames(holders);
  const labels = [...holders].flatMap(([webhook, names]) => {
    if (!isSubject(webhook) || isJsonObject(webhook['when'])) return [];
    const trigger = listWebhookTriggers(webhook).find((one) => hearsSystemEvents(one)
      || listCommonNames(one).some((commonNames) => commonNames !== names
        && [...names].some((name) => !commonNames.has(name))));
    return trigger === undefined ? [] : [`${formatLabel(webhook)} (${trigger})`];
  });
  return labels.length === 0 ? null
    : `webhooks without a condition hear what is not for their token alone: ${joinFirst(labels)}`;
}

/**
 * Returns a function that lists, for a trigger, sets of the names of tokens: a set for the trigger
 * and for each pattern that includes it, and a set for all triggers that it includes as a pattern.
 * The tokens of a set see every webhook with such a trigger. To compare each trigger with each took
 * 2.4 s with 500 webhooks of 20 triggers.
 */
function indexCommonNames(
  holders: Holders,
): (trigger: string) => readonly ReadonlySet<string>[] {
  const ofTriggers = new Map<string, ReadonlySet<string>>();
  const withinPatterns = new Map<string, ReadonlySet<string>>();
  const addNames = (
    sets: Map<string, ReadonlySet<string>>, key: string, names: ReadonlySet<string>,
  ): void => {
    const commonNames = sets.get(key);
    if (commonNames?.size === 0 || commonNames === names) return;
    sets.set(key, commonNames === undefined ? names
      : new Set([...commonNames].filter((name) => names.has(name))));
  };
  for (const [webhook, names] of holders) {
    for (const trigger of listWebhookTriggers(webhook)) {
      addNames(ofTriggers, trigger, names);
      for (const pattern of listPatternsOf(trigger)) addNames(withinPatterns, pattern, names);
    }
  }
  return (trigger) => [
    ...[trigger, ...listPatternsOf(trigger)].map((one) => ofTriggers.get(one)),
    withinPatterns.get(trigger),
  ].filter((names) => names !== undefined);
}

/**
 * Whether the trigger is for events of hookshelf itself, such as of failed deliveries, which are
 * about the webhooks of all. `*` alone hears none of them.
 */
function hearsSystemEvents(trigger: string): boolean {
  const isHeard = trigger === EVERY_EVENT ? null : createNameTest(trigger);
  return isHeard !== null && SYSTEM_EVENTS.some(isHeard);
}

/**
 * Finds the holders in the order of the tokens. Webhooks that the same entries of tokens match have
 * one set of names, however many they are.
 */
export function findHolders(
  webhooks: readonly JsonObject[], tokens: readonly TokenBinding[],
): Holders {
  const indexesByEntry = new Map<string, number[]>();
  for (const [index, token] of tokens.entries()) {
    for (const entry of listEntries(token.webhooks)) {
      const indexes = indexesByEntry.get(entry);
      if (indexes === undefined) indexesByEntry.set(entry, [index]);
      else indexes.push(index);
    }
  }
  const foundByKey = new Map<string, FoundTokens>();
  const found = webhooks.flatMap((webhook) => {
    const entries =
      [...listEntriesWith(toBoundWebhook(webhook))].filter((entry) => indexesByEntry.has(entry));
    if (entries.length === 0) return [];
    const key = entries.join('\n');
    const foundTokens = foundByKey.get(key)
      ?? nameTokens(tokens, entries.flatMap((entry) => indexesByEntry.get(entry) ?? []));
    foundByKey.set(key, foundTokens);
    return [{ webhook, ...foundTokens }];
  });
  return new Map(found.sort((left, right) => left.firstIndex - right.firstIndex)
    .map(({ webhook, names }) => [webhook, names]));
}

type FoundTokens = { readonly firstIndex: number; readonly names: ReadonlySet<string> };

function nameTokens(tokens: readonly TokenBinding[], indexes: readonly number[]): FoundTokens {
  const inOrder = [...indexes].sort((left, right) => left - right);
  return {
    firstIndex: inOrder[0] ?? 0,
    names: new Set(inOrder.map((index) => JSON.stringify(tokens[index]?.name))),
  };
}

export function listWebhookTriggers(
  { triggerEvent, triggerEvents }: JsonObject,
): readonly string[] {
  const triggers: readonly JsonValue[] = Array.isArray(triggerEvents) ? triggerEvents
    : [triggerEvent ?? null];
  return triggers.filter((trigger) => typeof trigger === 'string');
}

/** The webhooks, as the API has them, that a token is bound to by `entries`, its `webhooks`. */
export function selectBound(
  webhooks: readonly JsonObject[], entries: TokenBinding['webhooks'] | undefined,
): readonly JsonObject[] {
  const isBound = createBindingTest(listEntries(entries));
  return webhooks.filter((webhook) => isBound(toBoundWebhook(webhook)));
}

function listEntries(entries: TokenBinding['webhooks'] | undefined): readonly string[] {
  return Array.isArray(entries) ? entries.map(String) : [];
}

function toBoundWebhook({ identifier, name }: JsonObject): BoundWebhook {
  return {
    identifier: String(identifier), name: typeof name === 'string' ? name : undefined,
  };
}

function formatLabel({ name, identifier }: JsonObject): string {
  return String(name ?? identifier);
}
