/** The check of `doctor` for the copies that follow the running server. */
import { isInForce } from '../../../access/token.ts';
import { isJsonObject, listObjects } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import { formatValue } from '../resource-commands.ts';
import { ok, warning } from './doctor-finding.ts';
import type { DoctorFinding } from './doctor-finding.ts';

/** A copy that follows is a second or less behind. */
const BEHIND_S_MAX = 60;

/** `status` and `tokens` are what the server answers to `/api/status` and `/api/tokens`. */
export function describeFollowers(
  status: unknown, tokens: unknown, nowMs: number,
): DoctorFinding {
  const followers = listObjects(isJsonObject(status) ? status.followers : null);
  if (followers.length === 0) return describeUnusedTokens(tokens, nowMs);
  const late = followers.filter(isLate);
  if (late.length === 0) {
    return ok(describeLevels(followers));
  }
  const labels = late.map((follower) => {
    const { name, behindTransactions, behindSeconds, isConnected, seenAt } = follower;
    const behind = `${formatValue(behindTransactions)} transactions, ${formatValue(behindSeconds)}`
      + ' s';
    const away = isConnected === true ? '' : `, away since ${formatValue(seenAt)}`;
    return `${formatValue(name)} (${behind}${away})`;
  });
  return warning(`copies are behind: ${joinFirst(labels)}`,
    'see there whether data:follow runs, what it says, and whether its disk is full');
}

/** Copies that are not late: those that are away are level, as far as is known. */
function describeLevels(followers: readonly JsonObject[]): string {
  const present = followers.filter(({ isConnected }) => isConnected === true);
  const awayCount = followers.length - present.length;
  const away = awayCount === 0 ? [] : [`${awayCount} away, level when last heard`];
  if (present.length === 0) return `no copy is connected; ${away.join()}`;
  const copies = present.length === 1 ? '1 copy follows' : `${present.length} copies follow`;
  const behind = Math.max(...present.map(({ behindTransactions }) => Number(behindTransactions)));
  const level = behind === 0 ? 'level' : `at most ${behind} transactions behind`;
  return [`${copies}, ${level}`, ...away].join('; ');
}

function isLate({ isConnected, behindTransactions, behindSeconds }: JsonObject): boolean {
  return isConnected === true ? Number(behindSeconds) > BEHIND_S_MAX
    : Number(behindTransactions) > 0;
}

/** A token is there for a copy that has not followed since the server began. */
function describeUnusedTokens(tokens: unknown, nowMs: number): DoctorFinding {
  const names = listObjects(tokens)
    .filter((token) => token['scope'] === 'follow' && isInForce(token, nowMs))
    .map(({ name }) => formatValue(name));
  if (names.length === 0) return ok('no copy follows');
  return warning('no copy has followed since the server began, though there is a token for it: '
    + joinFirst(names),
  'start data:follow on the other machine, or revoke the token');
}
