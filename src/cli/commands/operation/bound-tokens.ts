/**
 * Tokens that are bound to webhooks: for which they are, and what their holders may read whose
 * scope is `write`: they set the targets of these, and read what answers there.
 */
import { ADDRESS_GROUPS } from '../../../base/network/address-groups.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { isInForce } from '../../../access/token.ts';
import { createBindingTest } from '../../../base/webhook-binding.ts';
import type { Settings } from '../../../settings/load-settings.ts';

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

/** Says which tokens see a webhook no more, and which see it now, as its name is another. */
export function describeRename(
  tokens: readonly JsonObject[], before: JsonObject, after: JsonObject, nowMs: number,
): readonly string[] {
  const bound = tokens.filter((token) =>
    token['webhooks'] !== undefined && isInForce(token, nowMs));
  const listNames = (seen: JsonObject, unseen: JsonObject): string => bound
    .filter(({ webhooks }) => selectBound([seen], webhooks).length > 0
      && selectBound([unseen], webhooks).length === 0)
    .map(({ name }) => JSON.stringify(name)).join(', ');
  const [losers, winners] = [listNames(before, after), listNames(after, before)];
  return [
    ...losers === '' ? [] : [`by its new name it is out of sight of the bound tokens ${losers}`],
    ...winners === '' ? [] : [`by its new name it is in sight of the bound tokens ${winners}`],
  ];
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
