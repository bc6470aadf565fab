/**
 * Tokens that are bound to webhooks: which of them a change of a webhook concerns, and what their
 * holders may read whose scope is `write`: they set the targets, and read what answers there.
 */
import { ADDRESS_GROUPS } from '../../../base/network/address-groups.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { isInForce, type Token } from '../../../access/token.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import {
  CONDITION_ADVICE, describeUnconditional, findHolders, selectBound,
} from '../../../webhooks/outgoing/token-holders.ts';
import type { CommandContext } from '../command-context.ts';
import { fetchAll } from '../resource-commands.ts';

const INNER_GROUPS = ['loopback', 'private'];

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

/** Notes it where `describeUnconditional` finds the webhook, and any token is bound. */
export async function noteUnconditional(
  context: CommandContext, tokens: readonly JsonObject[], webhook: JsonObject,
): Promise<void> {
  const bound = selectBoundTokens(tokens, context.io.now());
  if (bound.length === 0) return;
  const webhooks = await fetchAll(context, outgoingResource.path);
  const detail = describeUnconditional(findHolders(webhooks, bound), ({ identifier }) =>
    identifier === webhook['identifier']);
  if (detail !== null) context.output.note(`${detail}; ${CONDITION_ADVICE}`);
}

/** The tokens in force that are bound to webhooks. */
export function selectBoundTokens<Row extends JsonObject | Token>(
  tokens: readonly Row[], nowMs: number,
): readonly Row[] {
  return tokens.filter((token) => token.webhooks !== undefined && isInForce(token, nowMs));
}
