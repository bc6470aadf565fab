/** What people know a webhook and its target by, in log lines and in labels of metrics. */
import { redactText } from '../base/log.ts';
import { hideUrlSecrets } from './http/url-credentials.ts';

/** Whether a webhook receives or sends. */
export type WebhookDirection = 'incoming' | 'outgoing';

/** The members that may name a webhook. An outgoing one has no path segment. */
type LabelledWebhook = {
  readonly identifier: string;
  readonly name?: string | undefined;
  readonly pathSegment?: string;
};

/** In metrics, webhooks that have no series of their own. */
export const OTHER_WEBHOOKS_LABEL = 'other';
/** In metrics, queued forwards, which belong to no outgoing webhook. */
export const FORWARDS_LABEL = 'forward';

/** Its name, else its path segment, unless that stands for something else; else its identifier. */
export function formatWebhookLabel({ identifier, name, pathSegment }: LabelledWebhook): string {
  const label = name ?? pathSegment ?? identifier;
  return label === OTHER_WEBHOOKS_LABEL || label === FORWARDS_LABEL ? identifier : label;
}

/** A webhook in a line of the log. */
export type WebhookFields = {
  readonly hook: string;
  /** null: it has no name. */
  readonly hookName: string | null;
  readonly webhook: string;
};

export function createWebhookFields(webhook: LabelledWebhook): WebhookFields {
  const { identifier, name = null } = webhook;
  return { hook: identifier, hookName: name, webhook: formatWebhookLabel(webhook) };
}

/**
 * Host, port and path of a URL, without user, password, query and secret-like parameters; all of it
 * if it is none.
 */
export function formatTargetLabel(url: string): string {
  if (!URL.canParse(url)) return hideUrlSecrets(url);
  const { host, pathname } = new URL(hideUrlSecrets(url));
  return redactText(`${host}${pathname}`);
}
