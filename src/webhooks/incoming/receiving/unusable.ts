/** Warns of incoming webhooks that refuse every request. */
import type { Logger } from '../../../base/log.ts';
import type { IncomingWebhookIndex } from './incoming-webhook-index.ts';

const UNUSABLE_SHOWN_MAX = 10;

/** One line, however many there are. */
export function warnOfUnusableWebhooks(webhooks: IncomingWebhookIndex, log: Logger): void {
  const unusable = webhooks.listUnusable();
  if (unusable.length === 0) return;
  log.warning('incoming webhooks refuse every request: their preset lacks what it needs', {
    count: unusable.length,
    webhooks: unusable.slice(0, UNUSABLE_SHOWN_MAX)
      .map(({ label, finding }) => `${label}: ${finding}`),
  });
}
