/**
 * What the holder of a token that is bound to webhooks may change of one: whether it is on, and
 * with more rights where its requests go. Never its name, by which it is bound, nor what decides
 * which events it hears, or what is made of them.
 */
import { AppError } from '../../base/errors.ts';
import { invalid, isJsonObject } from '../../base/fields.ts';
import { quote } from '../../base/text/error-message.ts';
import { includesBoundScope, type BoundScope, type Grant } from '../../server/http-route.ts';
import { explainNewOrigin } from '../members/mask-secrets.ts';
import type { StoredOutgoingWebhook } from './outgoing-webhook.ts';

/** The members of a patch, with the least scope that may set each. */
const SCOPE_BY_MEMBER: Readonly<Record<string, BoundScope>> = {
  enabled: 'resend',
  targetUrl: 'write', headers: 'write', description: 'write', rate: 'write', maxInFlight: 'write',
};

/**
 * Checks the patch of a webhook. Throws `forbidden` for a member that the caller may not set, and
 * `invalid` for more attempts at once than `inFlightMax`: one customer must not take the places of
 * all.
 */
export function checkBoundChange(
  { scope }: Pick<Grant, 'scope'>, patch: unknown, webhook: StoredOutgoingWebhook,
  inFlightMax: number,
): void {
  if (!isJsonObject(patch)) return;
  const allowedMembers = Object.entries(SCOPE_BY_MEMBER).flatMap(([name, requiredScope]) =>
    includesBoundScope(scope, requiredScope) ? [name] : []);
  const refusedMember = Object.keys(patch).find((name) => !allowedMembers.includes(name));
  if (refusedMember !== undefined) {
    throw new AppError('forbidden', `this token may not set ${quote(refusedMember)}; it may set `
      + allowedMembers.join(', '));
  }
  const { maxInFlight, targetUrl } = patch;
  if (typeof maxInFlight === 'number' && maxInFlight > inFlightMax) {
    throw invalid([{
      pointer: '/maxInFlight', detail: `must be at most ${inFlightMax} for this token`,
    }]);
  }
  // Its requests carry access tokens that were given for the present target.
  if (targetUrl !== undefined && webhook.oauth2 !== undefined
    && explainNewOrigin(targetUrl, webhook.targetUrl) !== null) {
    throw new AppError('forbidden', 'this token may not set another scheme, host or port in '
      + '"targetUrl": the requests of this webhook carry access tokens of its `oauth2`');
  }
}
