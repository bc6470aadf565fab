/** Options that several groups of webhook commands share. */
import { PUBLIC_STATES } from '../../../webhooks/health/health.ts';
import type { WebhookDirection } from '../../../webhooks/webhook-label.ts';
import { flag, text } from '../../arguments/option-spec.ts';
import type { OptionSpec, OptionSpecs } from '../../arguments/option-spec.ts';
import { newSecretOptions } from './record-options.ts';

/** The option that filters a list of webhooks by their health. */
export const stateOption = (direction: WebhookDirection): OptionSpecs => ({
  state: {
    ...text('<state>', `${PUBLIC_STATES[direction].join(', ')}; failing also those that a failure `
      + 'has switched off'),
    values: PUBLIC_STATES[direction],
  },
});
/** The options of `rotate-secret`. */
export const rotationOptions: OptionSpecs = {
  ...newSecretOptions,
  'overlap-hours': text('<n>', 'for how long the old secret counts too: 24 when not given'),
  force: flag('also while the secret before still counts, which then ends'),
};
/** How a job is added. */
export const jobOptions: OptionSpecs = {
  'dry-run': flag('do nothing, and say how many there are'),
  wait: flag('until the job has ended; shows how far it is'),
};
/** Options that make a list a search. */
export const searchOptions = {
  q: text('<words>', 'with all these words in the payload; the start of a word will do'),
  where: {
    ...text('<condition>', 'for which this holds, such as payload.customer.id=42; repeatable'),
    isRepeatable: true,
  },
} satisfies OptionSpecs;
/** Options of commands that work on one record, or add a job for many. */
export const bulkOptions: OptionSpecs = {
  where: searchOptions.where, failed: flag('all that failed'), ...jobOptions,
};
/** How one is sent or run again; `copy` says what `new` makes. */
export const asOption = (copy: string): OptionSpec => ({
  ...text('<retry | new>', `retry, the same again, when not given; or ${copy}`),
  values: ['retry', 'new'],
});

export function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** The options --key, --at and --in of an event: see event-terms.ts. */
export const eventTermOptions: OptionSpecs = {
  key: text('<key>', 'what it is about, such as an order: it is found by it, and kept in order'),
  at: text('<time>', 'when it begins, such as 2026-01-31T12:00:00Z; a time that is past is now'),
  in: text('<delay>', 'after how long it begins, such as 30s, 15m, 2h or 7d; not with --at'),
};
