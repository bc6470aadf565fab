/** A sample event: a preview of the request for it, and a button that sends it. */
import { encodeJson, parseJson } from '../../base/json-text.ts';
import { callApi, messageOf } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h } from '../../base/dom.ts';
import { badge } from '../../parts/badge.ts';
import { InputError, codeArea, inputField } from '../../parts/forms/input-field.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { previewBody } from './template-preview.ts';
import type { SendResult } from '../../../webhooks/outgoing/send-options.ts';

const SAMPLE = {
  type: 'book.created', timestamp: '2026-01-02T03:04:05.678Z', data: { book: { title: 'Emma' } },
};
/** Customers do not hear of books. */
const CUSTOMER_SAMPLE =
  { type: 'example.created', timestamp: '2026-01-02T03:04:05.678Z', data: { id: 1 } };

/** `read` returns the current members of the webhook; without `path` nothing can be sent. */
export function sampleSection(
  read: () => {
    readonly payloadTemplate?: unknown; readonly contentType?: unknown;
    readonly actionConfiguration?: unknown;
  },
  path: string | null = null,
): HTMLElement {
  const area = codeArea(8, encodeJson(callerSession.isCustomer ? CUSTOMER_SAMPLE : SAMPLE, 2));
  const sample = inputField({ name: 'sample', label: 'A sample event' }, area,
    () => parseJson(area.value));
  const result = h('div', { role: 'status' });
  const button = (text: string, action: () => void | Promise<void>): HTMLElement =>
    asyncButton(text, async () => {
      fill(result);
      sample.clearError();
      try {
        await action();
      } catch (thrown) {
        // An error in the form of the webhook is shown at its own field.
        if (!(thrown instanceof InputError)) sample.showError([], messageOf(thrown));
      }
    });
  const show = (): void => {
    const { payloadTemplate, contentType, actionConfiguration } = read();
    const body = previewBody(payloadTemplate, contentType, sample.read());
    fill(result, h('pre', body), actionConfiguration === undefined
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
