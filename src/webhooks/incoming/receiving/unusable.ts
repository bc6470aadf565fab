/** Warns of incoming webhooks that refuse every request. */
import type { Logger } from '../../../base/log.ts';
import type { HookIndex } from './hook-index.ts';

const UNUSABLE_SHOWN_MAX = 10;

/** One line, however many there are. */
export function warnOfUnusable(hooks: HookIndex, log: Logger): void {
  const unusable = hooks.unusable();
  if (unusable.length === 0) return;
  log.warning('incoming webhooks refuse every request: their preset lacks what it needs', {
    count: unusable.length,
    webhooks: unusable.slice(0, UNUSABLE_SHOWN_MAX)
      .map(({ label, finding }) => `${label}: ${finding}`),
  });
}
