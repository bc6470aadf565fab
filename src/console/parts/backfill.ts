/** Sends a webhook the events that it has missed: counts them, asks, and adds a job. */
import { apiPath } from '../base/screen-address.ts';
import { ApiError, LatestCall, callApi } from '../base/api-calls.ts';
import { fill, h } from '../base/dom.ts';
import { formatQuantity, formatTimestamp } from '../base/format.ts';
import { asyncButton } from './buttons.ts';
import { ask, commandDetails, formatCommand, openDialog } from './dialog.ts';
import { createTimeInput, readTimeInput } from './lists/filter-form.ts';
import { JobWatch } from './lists/job-watch.ts';
import type { OutgoingWebhook } from '../../app/api-types.ts';

/** Which events are looked at: members of the API's body, and options of the command. */
type Criteria = { readonly since: string; readonly until?: string; readonly name?: string };

/** The events that a webhook gets once it is on: missed ones, too, or new ones alone. */
type Backlog = 'missed' | 'new';

const DAY_MS = 86_400_000;

/** Shows the backfill of a webhook that runs. */
export function watchBackfill(identifier: string, onEnd: () => void): JobWatch {
  return new JobWatch({
    kind: 'backfill', hook: identifier,
    verbs: ['Sending what it has missed', 'What it had missed is in its queue'], onEnd,
  });
}

/** Resolves with the id of the job. */
export async function addBackfill(identifier: string, criteria: Criteria): Promise<string> {
  return (await callBackfill<{ readonly id: string }>(identifier, criteria)).id;
}

async function countMissed(identifier: string, criteria: Criteria): Promise<number> {
  return (await callBackfill<{ readonly count: number }>(
    identifier, { ...criteria, dryRun: true })).count;
}

async function callBackfill<Answer>(identifier: string, body: object): Promise<Answer> {
  const path = apiPath('outgoing-webhooks', identifier, 'backfill');
  return (await callApi<Answer>('POST', path, { body })).body;
}

/**
 * Asks what to send to a webhook that is to be turned on, if it has missed something. Resolves with
 * null if it is to stay off, also when the user has left the screen meanwhile.
 */
export async function chooseBacklog(
  container: HTMLElement, { identifier, disabledAt }: OutgoingWebhook,
): Promise<Backlog | null> {
  if (disabledAt === undefined) return 'new';
  const count = await countMissed(identifier, { since: disabledAt }).catch((thrown: unknown) => {
    // It can be turned on all the same: there may be no right to send.
    if (thrown instanceof ApiError) return 0;
    throw thrown;
  });
  if (!container.isConnected) return null;
  if (count === 0) return 'new';
  return ask<Backlog | null>('Turn the webhook on?', [
    h('p', `It has missed ${formatQuantity(count, 'event')} since it was turned off, `
      + `${formatTimestamp(disabledAt)}. They can be sent now, before new ones.`),
    backfillCommand(identifier, { since: disabledAt }),
  ], [
    [null, 'Leave it off'], ['new', 'Send only new events'],
    ['missed', 'Send what it has missed too', 'primary'],
  ]);
}

/** Asks from when on, and counts before anything is done. `onJob` gets the id of the job. */
export function openBackfillDialog(
  { identifier, since: firstSince }: { readonly identifier: string; readonly since?: string },
  onJob: (id: string) => void,
): void {
  const count = h('p', { role: 'status' });
  const command = h('div');
  const readCriteria = (): Criteria => ({
    since: readTimeInput(since),
    ...until.value === '' ? {} : { until: readTimeInput(until) },
    ...name.value === '' ? {} : { name: name.value },
  });
  const call = new LatestCall();
  const showUncounted = (): void => {
    call.abort();
    count.textContent = '';
    send.disabled = true;
    fill(command, backfillCommand(identifier, readCriteria()));
  };
  // To the minute: seconds and their parts are nothing to read.
  const yesterday = `${new Date(Date.now() - DAY_MS).toISOString().slice(0, 16)}Z`;
  const since = createTimeInput(firstSince ?? yesterday, showUncounted);
  const until = createTimeInput('', showUncounted);
  const name = h('input', { type: 'search', oninput: showUncounted });
  const send = asyncButton('Send them', async () => {
    const id = await addBackfill(identifier, readCriteria());
    dialog.close();
    onJob(id);
  }, 'primary');
  const showCount = async (): Promise<void> => {
    const signal = call.begin();
    const missedCount = await countMissed(identifier, readCriteria());
    // It is not the number of what would be sent now.
    if (signal.aborted) return;
    count.textContent = missedCount === 0 ? 'It has missed none of these events.'
      : `It has missed ${formatQuantity(missedCount, 'event')}.`;
    send.disabled = missedCount === 0;
  };
  showUncounted();
  const dialog = openDialog('Send what it has missed', [
    h('p', 'Kept events that it would have heard, and had no delivery of. They are sent before '
      + 'new ones.'),
    h('form.filters', { novalidate: true, onsubmit: (event: Event) =>
      event.preventDefault() },
      labelled('Since', since), labelled('Until', until), labelled('Event', name)),
    count, command,
  ], { close: 'Cancel', buttons: [asyncButton('Count them', showCount), send] });
}

function labelled(label: string, input: HTMLInputElement): HTMLElement {
  return h('label.filter', h('span', label), input);
}

function backfillCommand(identifier: string, criteria: Criteria): HTMLElement | null {
  return commandDetails(formatCommand('outgoingwebhook:backfill', { identifier, ...criteria }));
}
