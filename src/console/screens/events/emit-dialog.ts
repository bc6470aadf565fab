/** Emits an event by hand, now or later, and says what has come of it. */
import { fill, h, type Child } from '../../base/dom.ts';
import { formatQuantity, timeElement } from '../../base/format.ts';
import { loadModel } from '../../base/model-schema.ts';
import { href } from '../../base/screen-address.ts';
import { asyncButton } from '../../parts/async-button.ts';
import { openDialog } from '../../parts/dialog.ts';
import {
  InputError, inputField, type Field, type FieldOptions,
} from '../../parts/forms/input-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { createTimeInput, readTimeInput } from '../../parts/lists/filter-form.ts';
import { cancelEvent, postPayload } from './event-calls.ts';

/** What the API says of an emitted event; `event` is null if it is not kept. */
type EmitAnswer = { readonly event: string | null; readonly deliveries: readonly string[] };

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
      factories: {
        'text-of-json': createPayloadField, deliverAt: createTimeField, delay: createDelayField,
      },
      otherButtons: [h('button', { onclick: close }, 'Cancel')],
      save: async ({ payload = '{}', ...members }) => {
        const emission = await postPayload<EmitAnswer>('/api/events', members, String(payload));
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

/** The text of the payload, which keeps the digits of its numbers. */
function createPayloadField(options: FieldOptions): Field {
  const area = h('textarea', { rows: 6, class: 'mono', spellcheck: 'false' });
  return inputField(options, area, () => {
    if (area.value.trim() === '') return undefined;
    try {
      JSON.parse(area.value);
    } catch (thrown) {
      throw new InputError(`Payload is not JSON: ${String(thrown)}`);
    }
    return area.value;
  });
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
  const view = h('a.button', { href: href(['events', event]) }, 'To the event');
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
