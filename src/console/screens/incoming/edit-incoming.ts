/** Forms that edit an incoming webhook: one for its sender, one for its action and routes. */
import { getJson } from '../../base/api-calls.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { loadModel, pickMembers } from '../../base/model-schema.ts';
import type { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import { editRecord } from '../../parts/forms/edit-record.ts';
import { choiceField, orderField } from '../../parts/forms/choice-field.ts';
import type { Field, FieldOptions, FieldTexts } from '../../parts/forms/input-field.ts';
import { pairsField } from '../../parts/forms/pairs-field.ts';
import { retriesField } from '../../parts/forms/retries-field.ts';
import { trySection } from './try-routes.ts';
import { createSenderField } from './sender-field.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';

export type IncomingView = {
  readonly webhook: IncomingWebhook; readonly path: string; readonly etag: string;
  readonly actions: ActionCatalog;
  /** Fetches and shows the webhook again. */
  readonly refresh: () => Promise<void>;
};

export const INCOMING_MODEL = 'IncomingWebhookBody';
const ACTION_MEMBERS = ['actionConfiguration', 'routes', 'order'];
export const NAMING_TEXTS: FieldTexts = {
  name: ['Name', 'What people call it: a-z, 0-9, `.`, `_` and `-`. It does not change the address'],
  description: ['Description', 'What it is for, whose it is'],
};
const FIELD_TEXTS: FieldTexts = {
  ...NAMING_TEXTS,
  pathSegment: ['Path', 'The end of its address. The sender must be told a new one'],
  secret: ['Secret', 'Left empty, it stays as it is'],
  allowedAddresses: ['Allowed addresses', 'Who may call: IP addresses or CIDR blocks. None: all',
    'Address'],
  bodyFormat: ['Format of the body', 'How a payload is made of it. –: as the sender needs it'],
  jsonFields: ['Fields with JSON', 'Fields of a form whose text is JSON; the payload then has it '
    + 'as JSON', 'Field'],
  allowedMethods: ['Allowed methods', 'HTTP methods in capitals. None: as in the settings',
    'Method'],
  inbox: ['Keep', 'Which accepted requests are kept'],
  answer: ['Answer', '`result`: what the action said. `accepted`: at once, then the action runs, '
    + 'with retries; all requests must be kept for that'],
  deduplicate: ['Tell duplicates by', ''],
  deduplicateHours: ['Remember ids for', 'Hours'],
  response: ['Answers of its own', 'In place of our JSON, each with a status; 204 has no body. '
    + 'None: as the sender of the preset wants it'],
  accepted: ['Accepted', 'Statuses 200 to 299; also for what no route is for'],
  failed: ['Failed', 'Statuses 400 to 599'],
  duplicate: ['Duplicate', 'Statuses 200 to 299'],
  rejected: ['Rejected', 'In place of 401 and 403: statuses 400 to 599, without placeholders'],
  body: ['Body', 'Text with `{{ message }}`, `{{ data.… }}`, `{{ payload.… }}` or '
    + '`{{ request.id }}`, escaped by the `Content-Type` among the headers'],
  headers: ['Headers', 'Text is `text/plain` without a `Content-Type`'],
  retrySchedule: ['Waits between runs', 'Seconds. None: what fails is not run again', 'Wait'],
  rateLimit: ['Requests a second', 'More get 429. 0: no limit. Empty: as in the settings'],
  maxConcurrent: ['Requests at once', 'More get 503. Empty: as in the settings'],
  actionTimeout: ['Time limit', 'Seconds for an action. Empty: as in the settings'],
  maxInFlight: ['Runs at once', 'Of accepted requests; 1 keeps their order. Empty: as in the '
    + 'settings'],
};

/** `auto` is the default, and not sent. */
const createDuplicatesField = choiceField('auto', [
  ['', "The sender's own id"], ['off', 'Nothing: each request is taken'],
  ['header', 'The id in a header', 'Name of the header'],
  ['json', 'The id in the body', 'Path of the member, such as event.id'],
]);

export async function editIncoming(
  container: HTMLElement, { webhook, path, etag, refresh }: IncomingView,
): Promise<void> {
  const [schema, presets] = await Promise.all([
    loadModel(INCOMING_MODEL), getJson<readonly PresetDescription[]>('/api/verification-presets'),
  ]);
  editRecord(container, {
    title: `Edit ${createWebhookLabel(webhook).title}`, path, schema, record: webhook, etag,
    onDone: refresh,
    texts: FIELD_TEXTS, factories: {
      verification: createSenderField(presets, () => {}), deduplicate: createDuplicatesField,
      retrySchedule: retriesField, headers: pairsField,
    },
    omitted: ['identifier', 'enabled', 'staticHeaders', ...ACTION_MEMBERS],
    rare: [
      'allowedAddresses', 'bodyFormat', 'jsonFields', 'allowedMethods', 'deduplicate',
      'deduplicateHours', 'retrySchedule',
      'rateLimit', 'maxConcurrent', 'actionTimeout', 'maxInFlight', 'response',
    ],
  });
}

/** Of a route, or of a webhook that has none. */
function createOrderField(options: FieldOptions): Field {
  const isOfRoute = (options.outerModels ?? []).length > 0;
  return orderField(isOfRoute ? options : { ...options, label: 'Order without routes' });
}

export async function editAction(
  container: HTMLElement, { webhook, path, etag, actions, refresh }: IncomingView,
): Promise<void> {
  editRecord(container, {
    title: `What ${createWebhookLabel(webhook).title} does`, path, record: webhook, etag,
    schema: pickMembers(await loadModel(INCOMING_MODEL), ACTION_MEMBERS),
    onDone: refresh,
    method: 'PATCH',
    toBody: ({ actionConfiguration = null, routes = null, order = null }) =>
      ({ actionConfiguration, routes, order }),
    texts: {
      actionConfiguration: ['Action', ''],
      routes: ['Routes', 'In place of one action for every request: each route that fits a request '
        + 'runs its own. Choose None above then', 'Route'],
      name: ['Name', 'It stands with each request that the route ran for'],
      when: ['Runs when', 'Without a condition it runs for every request'],
      order: ['Order', 'Needs the answer `accepted`'],
    },
    factories: {
      actionConfiguration: (options) => actions.createField(options), order: createOrderField,
    },
    renderBelow: (read) => trySection(webhook, () => read()['routes']),
  });
}
