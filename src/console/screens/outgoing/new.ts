/** A new outgoing webhook, with a preview of what it would send. */
import { call } from '../../base/api.ts';
import { fill } from '../../base/dom.ts';
import { model } from '../../base/schema.ts';
import { backTo, heading } from '../../parts/facts.ts';
import { Actions } from '../../parts/forms/action-chooser.ts';
import { recordForm } from '../../parts/forms/form.ts';
import { tell } from '../../parts/notice.ts';
import { goFrom, openView } from '../../parts/screen.ts';
import { outgoingAsking } from './form.ts';
import { sampleSection } from './sample.ts';
import type { OutgoingWebhook } from '../../../app/api.ts';

export function openNewOutgoing(place: HTMLElement): () => void {
  return openView(place, async () => {
    const [schema, actions] = await Promise.all([model('OutgoingWebhookBody'), Actions.read()]);
    const form = recordForm({
      ...outgoingAsking(actions), schema, value: { triggerEvents: [''] },
      action: 'Add the webhook', save: (value) => create(place, value),
    });
    fill(place, backTo('outgoing', 'Outgoing webhooks'),
      heading('A new outgoing webhook'), form.element, sampleSection(form.read));
  });
}

async function create(place: HTMLElement, value: Record<string, unknown>): Promise<void> {
  const { body } = await call<OutgoingWebhook>('POST', '/api/outgoing-webhooks', { body: value });
  tell('Added.');
  goFrom(place, ['outgoing', body.identifier]);
}
