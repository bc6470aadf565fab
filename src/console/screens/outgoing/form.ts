/** How the members of an outgoing webhook are asked for. */
import type { Actions } from '../../parts/forms/action-chooser.ts';
import type { Asking, Words } from '../../parts/forms/leaf.ts';
import { pairsField } from '../../parts/forms/pairs.ts';
import { retriesField } from './retries.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

const WORDS: Words = {
  name: ['Name', 'What people call it: a-z, 0-9, `.`, `_` and `-`. Good wherever its id is'],
  description: ['Description', 'What it is for, whose it is'],
  targetUrl: ['Address', 'Where it is sent: http or https. Passwords in it are shown as ***, and '
    + 'stay while *** does'],
  httpMethod: ['Method', 'POST when empty'],
  headers: ['Headers', 'Values are shown as ***, and stay while *** does'],
  payloadTemplate: ['Template of the body', 'JSON with `{{ path.to.value }}` in its texts. Empty: '
    + 'the event as it is'],
  actionConfiguration: ['Action', 'Runs first, and what it gives is sent in place of the event'],
  triggerEvents: ['Events', '`book.created` is one, `book.*` are all that begin so, `*` is every '
    + 'one not about hookshelf. None: it is sent by hand alone', 'Event'],
  when: ['Only when', 'Of these events, those that fit. Without a condition, all of them'],
  retrySchedule: ['Waits between attempts', 'Seconds. None: no second attempt', 'Wait'],
  timeout: ['Time limit', 'Seconds for an attempt. Empty: as in the settings'],
  maxInFlight: ['Attempts at once', '1 keeps the order of the events. Empty: as in the settings'],
  disableAfterHours: ['Turn off after', 'Hours in which every attempt failed. Empty: never'],
  secret: ['Secret', 'Requests are signed with it. Left empty: as it is'],
};

/** In the order of the model. `triggerEvent` is one of `triggerEvents`. */
export function outgoingAsking(
  actions: Actions,
): Asking & { readonly without: readonly string[]; readonly rare: readonly string[] } {
  return {
    words: WORDS, makers: {
      actionConfiguration: (options) => actions.field(options), headers: pairsField,
      retrySchedule: retriesField,
    },
    without: ['identifier', 'enabled', 'triggerEvent'],
    rare: [
      'httpMethod', 'headers', 'actionConfiguration', 'retrySchedule', 'timeout', 'maxInFlight',
      'disableAfterHours',
    ],
  };
}

export function eventsText(hook: OutgoingWebhook): string {
  return eventsOf(hook).join(', ') || 'none: sent by hand';
}

function eventsOf({ triggerEvent, triggerEvents = [] }: OutgoingWebhook): readonly string[] {
  return triggerEvent === undefined ? triggerEvents : [triggerEvent];
}
