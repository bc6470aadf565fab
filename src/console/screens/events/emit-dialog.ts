/** Emits an event by hand, now or later, and says what has come of it. */
import { callApi } from '../../base/api-calls.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { formatQuantity, timeElement } from '../../base/format.ts';
import { loadModel } from '../../base/model-schema.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { cancelDialog, openDialog } from '../../parts/dialog.ts';
import {
  InputError, inputField, type Field, type FieldOptions,
} from '../../parts/forms/input-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { linkButton } from '../../parts/screen.ts';
import { createTimeInput, readTimeInput } from '../../parts/lists/filter-form.ts';
import type { ResponseBodyOf } from '../../../app/api-types.ts';
import { cancelEvent } from './cancel-event.ts';

/** `event` is null if it is not kept. */
type EmitAnswer = ResponseBodyOf<'POST', '/api/events'>;

const SECONDS_BY_UNIT: Readonly<Record<string, number>> =
  { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Opens nothing when the user has left the screen meanwhile. `onCancelled` is called when the event
 * is taken back, of which the stream does not tell. Throws ApiError.
 */
export async function openEmitDialog(
  container: HTMLElement, onCancelled: () => void,
): Promise<void> {
  const schema = await loadModel('EventBody');
  if (!container.isConnected) return;
  const content = h('div');
  const dialog = openDialog('Emit an event', [content]);
  const close = (): void => dialog.close();
  const cancel = async (id: string): Promise<void> => {
    if (!await cancelEvent(id)) return;
    close();
    onCancelled();
  };
  const showForm = (): void => {
    const form = recordForm({
      schema, value: {}, action: 'Emit it',
      factories: { deliverAt: createTimeField, delay: createDelayField },
      otherButtons: [h('button', { onclick: () => cancelDialog(dialog) }, 'Cancel')],
      save: async (members) => {
        const { body: emission } = await callApi<EmitAnswer>('POST', '/api/events',
          { body: members });
        const beginMs = computeBeginMs(members);
        fill(content, h('p', { role: 'status' }, ...describeOutcome(emission, beginMs)),
          h('div.actions', {}, ...eventActions(emission, beginMs, cancel),
            h('button', { onclick: showForm }, 'Emit another'),
            h('button.primary', { onclick: close }, 'Close')));
        content.querySelector('button')?.focus();
      },
    });
    fill(content, form.element);
    content.querySelector('input')?.focus();
  };
  showForm();
}

function createTimeField(options: FieldOptions): Field {
  const input = createTimeInput('', () => {});
  return inputField(options, input, () =>
    input.value === '' ? undefined : readTimeInput(input));
}

function createDelayField(options: FieldOptions): Field {
  const input = h('input', { autocomplete: 'off', placeholder: '30s, 5m, 2h or 1d' });
  return inputField(options, input, () =>
    input.value === '' ? undefined : parseDelaySeconds(input.value));
}

function parseDelaySeconds(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const unitSeconds = SECONDS_BY_UNIT[unit];
  if (count === undefined || unitSeconds === undefined) {
    throw new InputError('In: a number with s, m, h or d, such as 30s or 2h.');
  }
  return Number(count) * unitSeconds;
}

/** When it begins, in milliseconds since the epoch; null: at once. */
function computeBeginMs(
  { deliverAt, delaySeconds }: Readonly<Record<string, unknown>>,
): number | null {
  const nowMs = Date.now();
  const beginMs = typeof deliverAt === 'string' ? Date.parse(deliverAt)
    : nowMs + Number(delaySeconds ?? 0) * 1000;
  return beginMs > nowMs ? beginMs : null;
}

function eventActions(
  { event }: EmitAnswer, beginMs: number | null, cancel: (id: string) => Promise<void>,
): HTMLElement[] {
  if (event === null) return [];
  const view = linkButton('To the event', ['events', event]);
  if (beginMs === null) return [view];
  return [asyncButton('Cancel it', () => cancel(event), 'danger'), view];
}

function describeOutcome({ event, deliveries }: EmitAnswer, beginMs: number | null): Child[] {
  if (event === null) {
    return ['No webhook has heard it, and it is not kept: the setting events.keep is heard.'];
  }
  if (beginMs !== null) {
    return ['It is kept, and begins ', timeElement(new Date(beginMs).toISOString()),
      '. Who hears it is decided then.'];
  }
  return [deliveries.length === 0 ? 'It is kept. No webhook has heard it.'
    : `It is kept, with ${formatQuantity(deliveries.length, 'delivery', 'deliveries')}.`];
}
