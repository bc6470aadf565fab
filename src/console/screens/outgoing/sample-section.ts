/**
 * A sample event of an outgoing webhook for people to change, a preview of what would be sent for
 * it, and a button that sends it. The sample is the last event that the webhook hears and that is
 * kept, else made up.
 */
import { callApi, getJson, hasStatus, messageOf } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import { encodeJson, parseJson } from '../../base/json-text.ts';
import { apiPath, appendQuery, href } from '../../base/screen-address.ts';
import { badge } from '../../parts/badge.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { InputError, codeArea, inputField } from '../../parts/forms/input-field.ts';
import { showFailureNotice } from '../../parts/notice.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';
import type { PublicEvent } from '../../../webhooks/events/public-event.ts';
import { isEnvelope } from '../../../webhooks/outgoing/envelope.ts';
import type { SendResult } from '../../../webhooks/outgoing/send-options.ts';
import { previewBody, type PreviewedWebhook } from './template-preview.ts';

/** Larger payloads are no sample that people read. */
const SAMPLE_BYTES_MAX = 16_384;
/** The events that hookshelf itself emits: they have `type`, `timestamp` and `data`. */
const OWN_EVENTS = /^(book|delivery|webhook|request|store)\./;
const MADE_UP = 'Made up: no event that it hears is kept yet. A real one has whatever it was '
  + 'emitted with.';

type SampledWebhook = PreviewedWebhook
  & Partial<Pick<OutgoingWebhook, 'triggerEvent' | 'triggerEvents' | 'actionConfiguration'>>;

type SampleOptions = {
  /** Of the webhook; without it nothing can be sent. */
  readonly path?: string | null;
  /** The sample follows what the user changes in this form. */
  readonly form?: HTMLElement;
};

type SampleEvent = { readonly text: string; readonly note: Child };

/** `read` returns the current members of the webhook. */
export function sampleSection(
  read: () => SampledWebhook, { path = null, form }: SampleOptions,
): HTMLElement {
  const sample = createSampleField(read);
  form?.addEventListener('change', () => void sample.refresh().catch(showFailureNotice));
  const result = h('div', { role: 'status' });
  const button = (text: string, action: () => void | Promise<void>): HTMLElement =>
    asyncButton(text, async () => {
      fill(result);
      sample.clearError();
      try {
        await sample.refresh();
        await action();
      } catch (thrown) {
        // An error in the form of the webhook is shown at its own field.
        if (!(thrown instanceof InputError)) sample.showError([], messageOf(thrown));
      }
    });
  const show = (): void => {
    const webhook = read();
    const { body, missingPaths } = previewBody(webhook, sample.read());
    fill(result, ...missingPaths.map((missingPath) =>
      h('p.problem', h('code', missingPath), ' is not in this event.')),
    h('pre', body), webhook.actionConfiguration === undefined
      ? null : h('p.hint', 'The action would change the event before.'));
  };
  const send = async (): Promise<void> => {
    const { body } = await callApi<SendResult>('POST', `${path}/send`, {
      body: { payload: sample.read() },
    });
    const { success, statusCode, message = '', response } = body;
    fill(result, h('p', badge(success ? 'delivered' : 'failed'),
      statusCode === null ? ' ' : ` It was answered ${statusCode}. `, message),
    response === undefined || response === null ? null : h('pre',
      typeof response === 'string' ? response : encodeJson(response, 2)));
  };
  return h('section.record', h('h2', path === null ? 'Preview' : 'Test'),
    sample.element, h('div.actions', button('Show what would be sent', show),
      path === null ? null : button('Send it now', send)), result);
}

/** `refresh` makes the sample fit the webhook, unless the user has changed it. */
function createSampleField(read: () => SampledWebhook) {
  const note = h('p.hint');
  let webhook = readQuietly(read);
  let shown = createSample(webhook);
  const area = codeArea(8, shown.text);
  const field = inputField({ name: 'sample', label: 'A sample event' }, area,
    () => parseJson(area.value), note);
  const show = (sample: SampleEvent): void => {
    if (area.value !== shown.text) return;
    shown = sample;
    area.value = sample.text;
    fill(note, sample.note);
  };
  const load = async (): Promise<void> => {
    show(await findSample(webhook).catch(ignoreRefusal) ?? createSample(webhook));
  };
  fill(note, shown.note);
  let loading = load();
  loading.catch(showFailureNotice);
  const refresh = (): Promise<void> => {
    const current = readQuietly(read);
    if (encodeJson(listBasis(current)) !== encodeJson(listBasis(webhook))) {
      webhook = current;
      loading = load();
    }
    return loading;
  };
  return { ...field, refresh };
}

/** The name of an event that is no name yet is told when the form is saved. */
function ignoreRefusal(thrown: unknown): null {
  if (hasStatus(thrown, 400)) return null;
  throw thrown;
}

/** A form that cannot be read yet has no triggers. */
function readQuietly(read: () => SampledWebhook): SampledWebhook {
  try {
    return read();
  } catch {
    return {};
  }
}

/** The members on which the sample depends. */
function listBasis(webhook: SampledWebhook): readonly unknown[] {
  return [listTriggers(webhook), webhook.payloadTemplate === undefined, webhook.format];
}

function listTriggers({ triggerEvent, triggerEvents = [] }: SampledWebhook): readonly string[] {
  return triggerEvent === undefined ? triggerEvents : [triggerEvent];
}

/**
 * The last event that the webhook hears and that is kept; null without any. A customer, who has no
 * templates, never tries his handler with what has happened already. Throws ApiError.
 */
async function findSample(webhook: SampledWebhook): Promise<SampleEvent | null> {
  if (callerSession.isCustomer) return null;
  for (const name of listTriggers(webhook)) {
    const [event] = await getJson<readonly PublicEvent[]>(
      appendQuery('/api/events', { name, limit: '1' }));
    if (event === undefined || event.payloadBytes > SAMPLE_BYTES_MAX) continue;
    const payload = await getJson<unknown>(apiPath('events', event.id, 'payload'));
    return {
      text: encodeJson(enclose(webhook, event, payload), 2),
      note: h('span', 'The last ', h('a', { href: href(['events', event.id]) }, event.name),
        ', emitted ', timeElement(event.createdAt), '.'),
    };
  }
  return null;
}

/** Sent by hand, the payload alone would get an envelope that does not name the event. */
function enclose(
  { format, payloadTemplate }: SampledWebhook, { name, createdAt }: PublicEvent, payload: unknown,
): unknown {
  const isEnclosed = format !== 'envelope' || payloadTemplate !== undefined
    || isEnvelope(payload, name);
  return isEnclosed ? payload : { type: name, timestamp: createdAt, data: payload };
}

/**
 * Its type is the first whole name that the webhook hears, else `invoice.created` for `invoice.*`.
 * A template is filled from the payload as it was emitted.
 */
function createSample(webhook: SampledWebhook): SampleEvent {
  const triggers = listTriggers(webhook);
  const [first = '*'] = triggers;
  const trigger = triggers.find((name) => !name.endsWith('*')) ?? first;
  // Customers do not hear of books.
  const anyType = callerSession.isCustomer ? 'example.created' : 'book.created';
  const type = trigger === '*' ? anyType : trigger.replace(/\*$/, 'created');
  const data = type.startsWith('book.') ? { book: { title: 'Emma' } } : { id: 1 };
  const isWhole = OWN_EVENTS.test(type) || webhook.payloadTemplate === undefined;
  const event = isWhole ? { type, timestamp: '2026-01-02T03:04:05.678Z', data } : data;
  return { text: encodeJson(event, 2), note: callerSession.isCustomer ? null : MADE_UP };
}
