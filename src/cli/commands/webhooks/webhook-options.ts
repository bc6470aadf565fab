/** Options that several groups of webhook commands share. */
import { flag, text } from '../../arguments/option-spec.ts';
import type { OptionSpecs } from '../../arguments/option-spec.ts';
import type { CommandRun } from '../command-context.ts';
import type { WebhookChange, WebhookKind } from './webhook-changes.ts';

/** How a job is added. */
export const jobOptions: OptionSpecs = {
  'dry-run': flag('do nothing, and say how many there are'),
  wait: flag('until the job has ended; shows how far it is'),
};
/** Options of commands that work on one record, or add a job for many. */
export const bulkOptions: OptionSpecs = { failed: flag('all that failed'), ...jobOptions };

/** The `load` of a command that changes webhooks of a kind. */
export function lazyChangeCommand(
  loadKind: () => Promise<WebhookKind>, change: WebhookChange,
): () => Promise<CommandRun> {
  return async () => {
    const [{ WEBHOOK_CHANGES }, kind] =
      await Promise.all([import('./webhook-changes.ts'), loadKind()]);
    return (context) => WEBHOOK_CHANGES[change](context, kind);
  };
}

export function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** The options --key, --at and --in of an event: see event-terms.ts. */
export const eventTermOptions: OptionSpecs = {
  key: text('<key>', 'what it is about, such as an order: it is found by it, and kept in order'),
  at: text('<time>', 'when it begins, such as 2026-01-31T12:00:00Z; a time that is past is now'),
  in: text('<delay>', 'after how long it begins, such as 30s, 15m, 2h or 7d; not with --at'),
};
