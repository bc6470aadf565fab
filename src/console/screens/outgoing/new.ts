/** A new outgoing webhook, with a preview of what it would send. */
import { call } from '../../base/api.ts';
import { fill } from '../../base/dom.ts';
import { model } from '../../base/schema.ts';
import { backTo, heading } from '../../parts/facts.ts';
import { Actions } from '../../parts/forms/action-chooser.ts';
import { field } from '../../parts/forms/field.ts';
import { recordForm } from '../../parts/forms/form.ts';
import { tell } from '../../parts/notice.ts';
import { showSecret } from '../../parts/rotate.ts';
import { goFrom, openView } from '../../parts/screen.ts';
import { outgoingAsking } from './form.ts';
import { newSecretField } from './new-secret.ts';
import { sampleSection } from './sample.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

export function openNewOutgoing(place: HTMLElement): () => void {
  return openView(place, async () => {
    const [schema, actions] = await Promise.all([model('OutgoingWebhookBody'), Actions.read()]);
    const { words, makers, ...asking } = outgoingAsking(actions);
    let isSecretMade = (): boolean => false;
    const form = recordForm({
      ...asking, schema, value: {}, action: 'Add the webhook',
      words: { ...words, secret: ['Secret', 'Requests are signed with it'] },
      makers: {
        ...makers,
        triggerEvents: (options) => field({ ...options, value: [''] }),
        secret: (options) => {
          const secret = newSecretField(options);
          isSecretMade = secret.isMade;
          return secret.field;
        },
      },
      save: (value) => create(place, value, isSecretMade()),
    });
    fill(place, backTo('outgoing', 'Outgoing webhooks'),
      heading('A new outgoing webhook'), form.element, sampleSection(form.read));
  });
}

async function create(
  place: HTMLElement, value: Record<string, unknown>, isSecretMade: boolean,
): Promise<void> {
  const { body } = await call<OutgoingWebhook>('POST', '/api/outgoing-webhooks', { body: value });
  tell('Added.');
  if (isSecretMade) await showSecret(String(value['secret']));
  goFrom(place, ['outgoing', body.identifier]);
}
