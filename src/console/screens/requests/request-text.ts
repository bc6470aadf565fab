/** A request in a line, and why it was refused. */
import { escapeControls } from '../../../base/text/printable.ts';
import { formatBytes } from '../../base/format.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';

/** Texts for `verdict.failedCheck`. */
const REFUSALS: Readonly<Record<string, string>> = {
  address: 'its address may not call',
  configuration: 'the webhook is not set up to verify it',
  handshake: 'its handshake is wrong',
  mismatch: 'its signature does not match',
  parts: 'a part of it is missing',
  rate: 'beyond the rate limit',
  secret: 'the secret cannot be used',
  signature_form: 'its signature has the wrong form',
  signature_missing: 'it has no signature',
  stale: 'it was not signed just now',
};

/** The event, or the method; and the beginning of the body, or that there is none. */
export function describeRequest(
  { event, method, bodyStart, bodyBytes }: PublicRequest,
): { readonly name: string; readonly body: string } {
  const unread = bodyBytes === 0 ? 'no body' : formatBytes(bodyBytes);
  return {
    name: event ?? method,
    body: bodyBytes === 0 || bodyStart === null ? unread
      : escapeControls(bodyStart.replace(/\s+/g, ' ')),
  };
}

/** null: the request was not refused. */
export function formatRefusal({ verdict }: PublicRequest): string | null {
  const { accepted, failedCheck } = verdict;
  if (accepted) return null;
  return REFUSALS[failedCheck ?? ''] ?? failedCheck ?? 'it was not accepted';
}
