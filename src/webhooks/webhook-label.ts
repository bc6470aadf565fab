/** What people know a webhook and its target by, in log lines and in labels of metrics. */
import { hideUrlSecrets } from './http/url-credentials.ts';

/** The members that may name a webhook. An outgoing one has no path segment. */
type LabelledWebhook = { readonly identifier: string; readonly pathSegment?: string };

export function webhookLabel({ identifier, pathSegment }: LabelledWebhook): string {
  return pathSegment ?? identifier;
}

/** Host, port and path of a URL, without user, password and query. */
export function targetLabel(url: string): string {
  const { host, pathname } = new URL(hideUrlSecrets(url));
  return `${host}${pathname}`;
}
