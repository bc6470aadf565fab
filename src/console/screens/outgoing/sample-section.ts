/**
 * A sample event of an outgoing webhook for people to change, what would be sent for it, and a
 * button that sends it. The sample is the last event that the webhook hears and that is kept, else
 * made up.
 */
import { callApi, getJson, hasStatus, messageOf } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import { parseTypedJson } from '../../base/json-places.ts';
import { encodeJson } from '../../base/json-text.ts';
import { apiPath, appendQuery, href } from '../../base/screen-address.ts';
import { badge } from '../../parts/badge.ts';
import { asyncButton } from '../../parts/buttons.ts';
import {
  InputError, codeArea, inputField, type Field,
} from '../../parts/forms/input-field.ts';
import { showFailureNotice, showNotice } from '../../parts/notice.ts';
import { previewBody, type PreviewedWebhook } from '../../parts/template-preview.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';
import type { PublicEvent } from '../../../webhooks/events/public-event.ts';
import { isEnvelope } from '../../../webhooks/outgoing/envelope.ts';
import type { SendResult } from '../../../webhooks/outgoing/send-options.ts';

/** Larger payloads are no sample that people read. */
const SAMPLE_BYTES_MAX = 16_384;
/** The events that hookshelf itself emits: they have `type`, `timestamp` and `data`. */
const OWN_EVENTS = /^(book|delivery|webhook|request|store)\./;
/** What a change of the catalog says of a book: templates find each name that books mostly have. */
const SAMPLE_BOOK = {
  id: '01a1f92d-f5d4-722a-8cfd-fb60a4838cfd', title: 'Emma',
  authors: [{ name: 'Jane Austen', birthDate: '1775-12-16' }],
  isbn: '9780141439587', datePublished: '1815', inLanguage: 'en',
  publisher: 'John Murray', numberOfPages: 474, keywords: ['novel', 'comedy'],
  reading: { status: 'read', rating: 4.5 },
  createdAt: '2026-01-02T03:04:05.678Z', updatedAt: '2026-01-02T03:04:05.678Z',
};
/** The preview is made anew when the user has not typed for so long. */
const TYPING_MS = 300;
const MADE_UP = 'Made up: no event that it hears is kept yet. A real one has whatever it was '
  + 'emitted with.';

type SampledWebhook = PreviewedWebhook
  & Partial<Pick<OutgoingWebhook, 'triggerEvent' | 'triggerEvents' | 'actionConfiguration'>>;

type SampleOptions = {
  /** Of the webhook; without it nothing can be sent. */
  readonly path?: string | null;
  /** The sample, and what would be sent, follow what the user changes in this form. */
  readonly form?: HTMLElement;
};

type SampleEvent = { readonly text: string; readonly note: Child; readonly isMadeUp: boolean };

/** What would be sent, and whether a name that the sample lacks is lacking in an event, too. */
type Preview = { readonly missingPaths: readonly string[]; readonly isMadeUp: boolean };

/**
 * `read` returns the current members of the webhook. `tellMissing` says, once it is saved, which
 * names of its template the last event does not have.
 */
export function sampleSection(
  read: () => SampledWebhook, { path = null, form }: SampleOptions,
): { readonly element: HTMLElement; readonly tellMissing: () => void } {
  const preview = h('div');
  let last: Preview = { missingPaths: [], isMadeUp: true };
  const show = (): void => {
    preview.removeAttribute('aria-busy');
    last = showPreview(preview, read, sample);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const showSoon = (): void => {
    preview.setAttribute('aria-busy', 'true');
    clearTimeout(timer);
    timer = setTimeout(show, TYPING_MS);
  };
  const sample = createSampleField(read, show);
  const refresh = (): void => void sample.refresh().then(show).catch(showFailureNotice);
  for (const element of [form, sample.element]) {
    element?.addEventListener('input', showSoon);
    // Another event may become the sample, which is fetched: not for each letter of its name.
    for (const end of ['change', 'focusout']) element?.addEventListener(end, refresh);
  }
  const result = h('div', { role: 'status' });
  const send = asyncButton('Send it now', async () => {
    fill(result);
    sample.clearError();
    try {
      await sample.refresh();
      fill(result, ...await sendSample(`${path}/send`, sample.read()));
    } catch (thrown) {
      sample.showError([], messageOf(thrown));
    }
  });
  return {
    // The button stands above what changes when the user leaves the sample to press it.
    element: h('section.record', h('h2', path === null ? 'Preview' : 'Test'), sample.element,
      path === null ? null : h('div.actions', send), result,
      h('div', h('h3', 'What would be sent'), preview)),
    tellMissing() {
      if (last.isMadeUp || last.missingPaths.length === 0) return;
      showNotice(`The last event does not have these names of the template, which stay empty: ${
        last.missingPaths.join(', ')}.`, 'waiting');
    },
  };
}

function showPreview(
  element: HTMLElement, read: () => SampledWebhook, sample: SampleField,
): Preview {
  const isMadeUp = sample.isMadeUp();
  try {
    const webhook = read();
    const { body, missingPaths } = previewBody(webhook, sample.parse());
    fill(element, ...missingPaths.map((missingPath) => h('p', {
      class: isMadeUp ? 'hint' : 'problem', role: 'status',
    }, h('code', missingPath), ' is not in this event, and stays empty.')),
    h('pre', body), webhook.actionConfiguration === undefined
      ? null : h('p.hint', 'The action would change the event before.'));
    return { missingPaths, isMadeUp };
  } catch (thrown) {
    // An error in the form of the webhook is shown at its own field.
    fill(element, thrown instanceof InputError
      ? h('p.hint', 'It is shown when all fields can be read.')
      : h('p.problem', { role: 'status' }, messageOf(thrown)));
    return { missingPaths: [], isMadeUp };
  }
}

/** Resolves with the answer, for people. Throws ApiError. */
async function sendSample(path: string, payload: unknown): Promise<readonly Child[]> {
  const { body } = await callApi<SendResult>('POST', path, { body: { payload } });
  const { success, statusCode, message = '', response } = body;
  return [
    h('p', badge(success ? 'delivered' : 'failed'),
      statusCode === null ? ' ' : ` It was answered ${statusCode}. `, message),
    response === undefined || response === null ? null : h('pre',
      typeof response === 'string' ? response : encodeJson(response, 2)),
  ];
}

type SampleField = Field & {
  /** Reads it without a mark at the field. Throws SyntaxError. */
  readonly parse: () => unknown;
  readonly isMadeUp: () => boolean;
  /** Makes the sample fit the webhook, unless the user has changed it. */
  readonly refresh: () => Promise<void>;
};

/** `onShow` is called when the sample is there, and is another. */
function createSampleField(read: () => SampledWebhook, onShow: () => void): SampleField {
  const note = h('p.hint');
  let webhook = readQuietly(read);
  let shown = createSample(webhook);
  const area = codeArea(8, shown.text);
  const parse = (): unknown => parseTypedJson(area.value, 'The sample event');
  const field = inputField({ name: 'sample', label: 'A sample event' }, area, parse, note);
  const show = (sample: SampleEvent): void => {
    if (area.value === shown.text) {
      shown = sample;
      area.value = sample.text;
      fill(note, sample.note);
    }
    onShow();
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
  // What the user has typed is an event as it comes.
  return { ...field, parse, refresh, isMadeUp: () => shown.isMadeUp && area.value === shown.text };
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
      isMadeUp: false,
      note: h('span', 'The last ', h('a', { href: href(['events', event.id]) }, event.name),
        ', emitted ', timeElement(event.createdAt), ...event.deliverAt === null
          || Date.parse(event.deliverAt) <= Date.now() ? []
          : [', due ', timeElement(event.deliverAt)], '.'),
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
  const data = type.startsWith('book.') ? { book: SAMPLE_BOOK } : { id: 1 };
  const isWhole = OWN_EVENTS.test(type) || webhook.payloadTemplate === undefined;
  const event = isWhole ? { type, timestamp: '2026-01-02T03:04:05.678Z', data } : data;
  const note = callerSession.isCustomer ? null : MADE_UP;
  return { text: encodeJson(event, 2), note, isMadeUp: true };
}
