/** A sample event: what would be sent of it, and sending it for a test. */
import { call, messageOf } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { badge } from '../../parts/badge.ts';
import { FieldMistake, leaf } from '../../parts/forms/leaf.ts';
import { workButton } from '../../parts/work-button.ts';
import { fillPayloadTemplate } from './template.ts';
import type { SendResult } from '../../../webhooks/sending/webhook-sender.ts';

const SAMPLE = {
  type: 'book.created', timestamp: '2026-01-02T03:04:05.678Z', data: { book: { title: 'Emma' } },
};

/** `read` gives the webhook as it is now; without `path` it cannot be sent. */
export function sampleSection(
  read: () => { readonly payloadTemplate?: unknown; readonly actionConfiguration?: unknown },
  path: string | null = null,
): HTMLElement {
  const area = h('textarea', { rows: 8, class: 'mono', spellcheck: 'false' });
  area.value = JSON.stringify(SAMPLE, null, 2);
  const sample = leaf({
    name: 'sample', label: 'A sample event', value: '', isRequired: false, schema: {},
  }, area, () => JSON.parse(area.value));
  const answer = h('div', { role: 'status' });
  const button = (text: string, work: () => void | Promise<void>): HTMLElement =>
    workButton(text, async () => {
      fill(answer);
      sample.clear();
      try {
        await work();
      } catch (thrown) {
        // A mistake in the webhook is told where it is.
        if (!(thrown instanceof FieldMistake)) sample.blame([], messageOf(thrown));
      }
    });
  const show = (): void => {
    const { payloadTemplate, actionConfiguration } = read();
    const payload = sample.read();
    const body = typeof payloadTemplate !== 'string' ? payload
      : fillPayloadTemplate(payloadTemplate, payload);
    fill(answer, h('pre', {}, JSON.stringify(body, null, 2)), actionConfiguration === undefined
      ? null : h('p', { class: 'hint' }, 'The action would change the event before.'));
  };
  const send = async (): Promise<void> => {
    const { body } = await call<SendResult>('POST', `${path}/send`, {
      body: { payload: sample.read() },
    });
    const { success, statusCode, message = '', response } = body;
    fill(answer, h('p', {}, badge(success ? 'delivered' : 'failed'),
      statusCode === null ? ' ' : ` It was answered ${statusCode}. `, message),
    response === undefined || response === null ? null : h('pre', {},
      typeof response === 'string' ? response : JSON.stringify(response, null, 2)));
  };
  return h('section', { class: 'record' }, h('h2', {}, path === null ? 'Preview' : 'Test'),
    sample.element, h('div', { class: 'actions' }, button('Show what would be sent', show),
      path === null ? null : button('Send it now', send)), answer);
}
