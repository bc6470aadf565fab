/** The check of `doctor` for the copies that follow the running server. */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { formatValue } from '../resource-commands.ts';
import { ok, warning } from './doctor-finding.ts';
import type { DoctorFinding } from './doctor-finding.ts';

/** A copy that follows is a second or less behind. */
const BEHIND_S_MAX = 60;
const NAMED_MAX = 5;

/** `status` and `tokens` are what the server answers to `/api/status` and `/api/tokens`. */
export function describeFollowers(
  status: unknown, tokens: unknown, nowMs: number,
): DoctorFinding {
  const followers = listObjects(isJsonObject(status) ? status.followers : null);
  if (followers.length === 0) return describeUnusedTokens(tokens, nowMs);
  const late = followers.filter(isLate);
  if (late.length === 0) {
    const copies = followers.length === 1 ? '1 copy follows' : `${followers.length} copies follow`;
    const behind = Math.max(...followers.map((follower) => Number(follower.behindTransactions)));
    return ok(behind === 0 ? `${copies}, level`
      : `${copies}, at most ${behind} transactions behind`);
  }
  const labels = late.slice(0, NAMED_MAX).map((follower) => {
    const { name, behindTransactions, behindSeconds, isConnected, seenAt } = follower;
    const behind = `${formatValue(behindTransactions)} transactions, ${formatValue(behindSeconds)}`
      + ' s';
    const away = isConnected === true ? '' : `, away since ${formatValue(seenAt)}`;
    return `${formatValue(name)} (${behind}${away})`;
  });
  const more = late.length > NAMED_MAX ? ` and ${late.length - NAMED_MAX} more` : '';
  return warning(`copies are behind: ${labels.join(', ')}${more}`,
    'see there whether data:follow runs, what it says, and whether its disk is full');
}

function isLate({ isConnected, behindTransactions, behindSeconds }: JsonObject): boolean {
  return isConnected === true ? Number(behindSeconds) > BEHIND_S_MAX
    : Number(behindTransactions) > 0;
}

/** A token is there for a copy that has not followed since the server began. */
function describeUnusedTokens(tokens: unknown, nowMs: number): DoctorFinding {
  const names = listObjects(tokens).filter(({ scope, revokedAt, expiresAt }) =>
    scope === 'follow' && revokedAt === undefined
    && (typeof expiresAt !== 'string' || Date.parse(expiresAt) > nowMs))
    .map(({ name }) => formatValue(name));
  if (names.length === 0) return ok('no copy follows');
  return warning('no copy has followed since the server began, though there is a token for it: '
    + names.slice(0, NAMED_MAX).join(', '),
  'start data:follow on the other machine, or revoke the token');
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
