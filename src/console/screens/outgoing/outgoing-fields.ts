/** Labels, hints and special fields of the forms for outgoing webhooks. */
import { getJson } from '../../base/api-calls.ts';
import { h } from '../../base/dom.ts';
import type { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import type {
  Field, FieldCustomization, FieldOptions, FieldTexts,
} from '../../parts/forms/input-field.ts';
import type { FieldSelection } from '../../parts/forms/record-form.ts';
import { pairsField } from '../../parts/forms/pairs-field.ts';
import { orderField } from '../../parts/forms/choice-field.ts';
import { retriesField } from '../../parts/forms/retries-field.ts';
import { statusListField } from '../../parts/forms/status-list-field.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';
import { createSigningField } from './signing-field.ts';
import type { OutgoingWebhook } from '../../../app/api-types.ts';

const FIELD_TEXTS: FieldTexts = {
  name: ['Name', 'What people call it: a-z, 0-9, `.`, `_` and `-`. Good wherever its id is'],
  description: ['Description', 'What it is for, whose it is'],
  targetUrl: ['Address', 'Where it is sent: http or https. Passwords in it are shown as ***, and '
    + 'stay while *** does'],
  httpMethod: ['Method', 'POST when empty'],
  headers: ['Headers', 'Values are shown as ***, and stay while *** does'],
  payloadTemplate: ['Template of the body', 'JSON with `{{ path.to.value }}` in its texts, or any '
    + 'text with a type of its own. Empty: the event as it is'],
  contentType: ['Type of the body', 'Such as `text/xml`. Empty: JSON. Any other needs a template, '
    + 'whose values are escaped for XML, HTML and forms'],
  format: ['Format', '`cloudevents`: what the event is stands in headers, `ce-type` and others'],
  actionConfiguration: ['Action', 'Runs first, and what it gives is sent in place of the event'],
  triggerEvents: ['Events', '`book.created` is one, `book.*` are all that begin so, `*` is every '
    + 'one not about hookshelf. None: it is sent by hand alone', 'Event'],
  when: ['Only when', 'Of these events, those that fit. Without a condition, all of them'],
  retrySchedule: ['Waits between attempts', 'Seconds. None: no second attempt', 'Wait'],
  retryOn: ['Try again after', 'Statuses and classes, such as `5xx, 408, 429`; with another one '
    + 'the delivery has failed at once. Empty: after all but 2xx'],
  successWhen: ['Delivered when', 'A condition over `status` and `body` of the answer, such as '
    + '`body.ok`. Empty: 2xx'],
  timeout: ['Time limit', 'Seconds for an attempt. Empty: as in the settings'],
  order: ['Order', 'Of its deliveries. With a key they go in order of each key, others pass'],
  maxInFlight: ['Attempts at once', '1 keeps the order of the events. Empty: as in the settings'],
  rate: ['Rate', 'So many attempts start, evenly spread. Both empty: as fast as it answers'],
  limit: ['Attempts', ''],
  seconds: ['In so many seconds', ''],
  disableAfterHours: ['Turn off after', 'Hours in which every attempt failed. Empty: never'],
  probe: ['Then try once an hour', 'Its oldest delivery, until one arrives; then it goes on. '
    + 'Events queue meanwhile'],
  oauth2: ['Access tokens (OAuth 2)', 'Asked for with client credentials, and sent with each '
    + 'request. Empty: none'],
  tokenUrl: ['Token URL', 'Where they are asked for'],
  clientId: ['Client id', ''],
  clientSecret: ['Client secret', 'Left empty: as it is, unless an address changes'],
  scope: ['Scope', 'Scopes with spaces between them'],
  audience: ['Audience', 'Where the token server asks for one'],
  clientAuthentication: ['Id and secret go', '`basic`: in a header, as when empty; `body`: in the '
    + 'body'],
  clientCertificate: ['Client certificate', 'Shown to the target over TLS. Left empty: as it is'],
  certificate: ['Certificate', 'PEM, those of its issuers after it'],
  privateKey: ['Key', 'PEM, not encrypted'],
  secret: ['Secret', 'Requests are signed with it. Left empty: as it is'],
  signing: ['Signed as', 'By whom the receiver believes to be called. It needs a secret'],
};

/** `triggerEvent` has no field: the form shows it as the only one of `triggerEvents`. */
export function customizeOutgoingFields(
  actions: ActionCatalog, presets: readonly PresetDescription[],
): FieldCustomization & FieldSelection {
  return {
    texts: FIELD_TEXTS, factories: {
      actionConfiguration: (options) => actions.createField(options), headers: pairsField,
      retrySchedule: retriesField, retryOn: statusListField, order: orderField,
      certificate: linesField, privateKey: linesField, signing: createSigningField(presets),
    },
    omitted: ['identifier', 'enabled', 'triggerEvent'],
    rare: [
      'httpMethod', 'headers', 'contentType', 'format', 'actionConfiguration', 'retrySchedule',
      'timeout', 'order', 'maxInFlight', 'disableAfterHours', 'oauth2', 'clientCertificate',
      'retryOn', 'successWhen', 'rate', 'probe', 'signing',
    ],
  };
}

/** PEM has several lines, which an input for passwords would lose. */
function linesField(options: FieldOptions): Field {
  const area = h('textarea', { rows: 3, class: 'mono', spellcheck: 'false', autocomplete: 'off' });
  return inputField(options, area, () => area.value.trim() === '' ? undefined : area.value);
}

export function formatTriggerEvents(webhook: OutgoingWebhook): string {
  return listTriggerEvents(webhook).join(', ') || 'none: sent by hand';
}

function listTriggerEvents(
  { triggerEvent, triggerEvents = [] }: OutgoingWebhook,
): readonly string[] {
  return triggerEvent === undefined ? triggerEvents : [triggerEvent];
}

/** The senders, for the field of `signing`. */
export function loadPresets(): Promise<readonly PresetDescription[]> {
  return getJson<readonly PresetDescription[]>('/api/verification-presets');
}

/** The dialect of its signatures, or that there are none. */
export function formatSigning({ hasSecret, signing }: OutgoingWebhook): string {
  if (!hasSecret) return 'no';
  if (signing === undefined) return 'yes';
  return signing.preset === undefined ? 'by a scheme of its own' : `as ${signing.preset}`;
}
