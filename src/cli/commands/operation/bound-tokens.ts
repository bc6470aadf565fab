/**
 * Tokens that are bound to webhooks: for which they are, which webhooks several of them see, and
 * what their holders may read whose scope is `write`: they set the targets of these, and read what
 * answers there.
 */
import { EVERY_EVENT, mayShareName } from '../../../base/event-name.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { ADDRESS_GROUPS } from '../../../base/network/address-groups.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import { isInForce, type Token } from '../../../access/token.ts';
import { createBindingTest } from '../../../base/webhook-binding.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import { SYSTEM_EVENTS } from '../../../webhooks/actions/event-name.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { fetchAll, webhookLabel } from '../resource-commands.ts';

const INNER_GROUPS = ['loopback', 'private'];

export const CONDITION_ADVICE = 'if not all is for them, set one: outgoingwebhook:update --when';

export const READ_ANSWERS_ADVICE =
  'add what is missing to http.denyAddresses, or make such tokens with the scope resend';

/** Says which addresses they reach; null: none of this machine and of private networks. */
export function describeReadAnswers({ http }: Pick<Settings, 'http'>): string | null {
  const { denyAddresses } = http;
  const openGroups = INNER_GROUPS.filter((group) => !denyAddresses.includes(group)
    && ADDRESS_GROUPS.get(group)?.every((block) => denyAddresses.includes(block)) !== true);
  return openGroups.length === 0 ? null
    : 'sets the targets of webhooks, and reads what answers there, also on addresses that '
      + `http.denyAddresses lacks: ${openGroups.join(', ')}`;
}

/**
 * Says which tokens see a webhook no more, and which see it now. null stands for the webhook before
 * it is made, and once it is deleted.
 */
export function describeSight(
  tokens: readonly JsonObject[], before: JsonObject | null, after: JsonObject | null,
  nowMs: number,
): readonly string[] {
  const bound = selectBoundTokens(tokens, nowMs);
  const sees = ({ webhooks }: JsonObject, webhook: JsonObject | null): boolean =>
    webhook !== null && selectBound([webhook], webhooks).length > 0;
  const listNames = (seen: JsonObject | null, unseen: JsonObject | null): string => bound
    .filter((token) => sees(token, seen) && !sees(token, unseen))
    .map(({ name }) => JSON.stringify(name)).join(', ');
  const [losers, winners] = [listNames(before, after), listNames(after, before)];
  const start = before === null ? 'it is' : 'by its new name it is';
  const loss = after === null
    ? `the bound tokens ${losers} stay, also for a later webhook of such a name: token:revoke ends `
      + 'them'
    : `${start} out of sight of the bound tokens ${losers}`;
  return [
    ...losers === '' ? [] : [loss],
    ...winners === '' ? [] : [`${start} in sight of the bound tokens ${winners}`],
  ];
}

type IsSubject = (webhook: JsonObject) => boolean;
const ALL: IsSubject = () => true;

/** Says which subjects are seen by tokens of several names; null: none is. */
export function describeShared(holders: Holders, isSubject = ALL): string | null {
  const labels = [...holders].filter(([webhook, { size }]) => size > 1 && isSubject(webhook))
    .map(([webhook, names]) => `${webhookLabel(webhook)} (${joinFirst([...names])})`);
  return labels.length === 0 ? null : `several tokens see the same webhooks: ${joinFirst(labels)}`;
}

/**
 * Says which subjects have no condition, and hear the same as webhooks of other tokens, or how
 * deliveries fail, whosesoever they are: their holders get what is meant for others; null: none.
 */
export function describeUnconditional(holders: Holders, isSubject = ALL): string | null {
  const labels = [...holders].flatMap(([webhook, names]) => {
    if (!isSubject(webhook) || isJsonObject(webhook['when'])) return [];
    const others = [...holders].filter(([, otherNames]) =>
      [...otherNames].every((name) => !names.has(name)));
    const foreignTriggers = new Set(others.flatMap(([other]) => listWebhookTriggers(other)));
    const trigger = listWebhookTriggers(webhook).find((one) => hearsSystemEvents(one)
      || [...foreignTriggers].some((foreign) => mayShareName(one, foreign)));
    return trigger === undefined ? [] : [`${webhookLabel(webhook)} (${trigger})`];
  });
  return labels.length === 0 ? null
    : `webhooks without a condition hear what is not for their token alone: ${joinFirst(labels)}`;
}

/**
 * Notes which of the subjects `describeUnconditional` finds, where any token is bound. `foresee`
 * makes of the stored webhooks those that a dry run is about.
 */
export async function noteUnconditional(
  context: CommandContext, tokens: readonly JsonObject[], isSubject: IsSubject,
  foresee = (stored: readonly JsonObject[]): readonly JsonObject[] => stored,
): Promise<void> {
  const bound = selectBoundTokens(tokens, context.io.now());
  if (bound.length === 0) return;
  const webhooks = foresee(await fetchAll(context, outgoingResource.path));
  const detail = describeUnconditional(findHolders(webhooks, bound), isSubject);
  if (detail !== null) context.output.note(`${detail}; ${CONDITION_ADVICE}`);
}

/** Whether it is for events of hookshelf itself, which are about the webhooks of all. */
function hearsSystemEvents(trigger: string): boolean {
  return trigger !== EVERY_EVENT && SYSTEM_EVENTS.some((name) => mayShareName(trigger, name));
}

/** The webhooks that tokens see, each with the quoted names of these tokens. */
type Holders = ReadonlyMap<JsonObject, ReadonlySet<string>>;

export function findHolders(
  webhooks: readonly JsonObject[], tokens: readonly (JsonObject | Token)[],
): Holders {
  const holders = new Map<JsonObject, Set<string>>();
  for (const token of tokens) {
    for (const webhook of selectBound(webhooks, token.webhooks)) {
      holders.set(webhook, (holders.get(webhook) ?? new Set()).add(JSON.stringify(token.name)));
    }
  }
  return holders;
}

export function listWebhookTriggers(
  { triggerEvent, triggerEvents }: JsonObject,
): readonly string[] {
  const triggers: readonly JsonValue[] = Array.isArray(triggerEvents) ? triggerEvents
    : [triggerEvent ?? null];
  return triggers.filter((trigger) => typeof trigger === 'string');
}

/** The tokens in force that are bound to webhooks. */
export function selectBoundTokens<Row extends JsonObject | Token>(
  tokens: readonly Row[], nowMs: number,
): readonly Row[] {
  return tokens.filter((token) => token.webhooks !== undefined && isInForce(token, nowMs));
}

/** The webhooks, as the API has them, that a token is bound to by `entries`, its `webhooks`. */
export function selectBound(
  webhooks: readonly JsonObject[], entries: JsonValue | undefined,
): readonly JsonObject[] {
  const isBound = createBindingTest(Array.isArray(entries) ? entries.map(String) : []);
  return webhooks.filter(({ identifier, name }) => isBound({
    identifier: String(identifier), name: typeof name === 'string' ? name : undefined,
  }));
}
