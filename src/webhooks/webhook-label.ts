/** Labels of webhooks and targets, for log lines and metrics. */
import { redactText } from '../base/log.ts';
import { hideUrlSecrets } from './members/url-credentials.ts';

/** Whether a webhook receives or sends. */
export type WebhookDirection = 'incoming' | 'outgoing';

/** The members that may name a webhook. An outgoing one has no path segment. */
type LabelledWebhook = {
  readonly identifier: string;
  readonly name?: string | undefined;
  readonly pathSegment?: string;
};

/** The label in metrics of webhooks without a series of their own. */
export const OTHER_WEBHOOKS_LABEL = 'other';
/** The label in metrics of queued forwards, which belong to no outgoing webhook. */
export const FORWARDS_LABEL = 'forward';

/** The name, else the path segment, unless it has a meaning of its own; else the identifier. */
export function formatWebhookLabel({ identifier, name, pathSegment }: LabelledWebhook): string {
  const label = name ?? pathSegment ?? identifier;
  return label === OTHER_WEBHOOKS_LABEL || label === FORWARDS_LABEL ? identifier : label;
}

/** The log fields that identify a webhook. */
export type WebhookFields = {
  readonly hook: string;
  /** null: the webhook has no name. */
  readonly hookName: string | null;
  readonly webhook: string;
};

export function createWebhookFields(webhook: LabelledWebhook): WebhookFields {
  const { identifier, name = null } = webhook;
  return { hook: identifier, hookName: name, webhook: formatWebhookLabel(webhook) };
}

/**
 * The host, port and path of a URL, without user, password, query and secret-like parameters; the
 * redacted text if it is no URL.
 */
export function formatTargetLabel(url: string): string {
  if (!URL.canParse(url)) return hideUrlSecrets(url);
  const { host, pathname } = new URL(hideUrlSecrets(url));
  return redactText(`${host}${pathname}`);
}
