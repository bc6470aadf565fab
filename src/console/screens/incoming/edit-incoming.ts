/** Forms that edit an incoming webhook: one for its sender, one for its action and routes. */
import { getJson } from '../../base/api-calls.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import { loadModel, pickMembers } from '../../base/model-schema.ts';
import type { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import { editRecord } from '../../parts/forms/edit-record.ts';
import type { Field, FieldOptions, FieldTexts } from '../../parts/forms/input-field.ts';
import { h } from '../../base/dom.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import { trySection } from './try-routes.ts';
import { createSenderField } from './sender-field.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/describe-presets.ts';

export type IncomingView = {
  readonly webhook: IncomingWebhook; readonly path: string; readonly etag: string;
  readonly actions: ActionCatalog;
  /** Fetches and shows the webhook again. */
  readonly refresh: () => Promise<void>;
};

export const INCOMING_MODEL = 'IncomingWebhookBody';
const ACTION_MEMBERS = ['actionConfiguration', 'routes'];
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
  allowedMethods: ['Allowed methods', 'HTTP methods in capitals. None: as in the settings',
    'Method'],
  inbox: ['Keep', 'Which accepted requests are kept'],
  answer: ['Answer', '`result`: what the action said. `accepted`: at once, then the action runs, '
    + 'with retries; all requests must be kept for that'],
  deduplicate: ['Tell duplicates by', ''],
  deduplicateHours: ['Remember ids for', 'Hours'],
};

/** A choice with an `inputLabel` has a text input beside it. */
type DuplicateChoice = readonly [value: string, label: string, inputLabel?: string];
const DUPLICATE_CHOICES: readonly DuplicateChoice[] = [
  ['', "The sender's own id"], ['off', 'Nothing: each request is taken'],
  ['header', 'The id in a header', 'Name of the header'],
  ['json', 'The id in the body', 'Path of the member, such as event.id'],
];

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
    },
    omitted: ['identifier', 'enabled', 'staticHeaders', ...ACTION_MEMBERS],
    rare: ['allowedAddresses', 'bodyFormat', 'allowedMethods', 'deduplicate', 'deduplicateHours'],
  });
}

export async function editAction(
  container: HTMLElement, { webhook, path, etag, actions, refresh }: IncomingView,
): Promise<void> {
  editRecord(container, {
    title: `What ${createWebhookLabel(webhook).title} does`, path, record: webhook, etag,
    schema: pickMembers(await loadModel(INCOMING_MODEL), ACTION_MEMBERS),
    onDone: refresh,
    method: 'PATCH',
    toBody: ({ actionConfiguration = null, routes = null }) => ({ actionConfiguration, routes }),
    texts: {
      actionConfiguration: ['Action', ''],
      routes: ['Routes', 'In place of one action for every request: each route that fits a request '
        + 'runs its own. Choose None above then', 'Route'],
      name: ['Name', 'It stands with each request that the route ran for'],
      when: ['Runs when', 'Without a condition it runs for every request'],
    },
    factories: { actionConfiguration: (options) => actions.createField(options) },
    renderBelow: (read) => trySection(webhook, () => read()['routes']),
  });
}

/**
 * The field for `deduplicate`, which says by which id a request counts as a duplicate: `auto`,
 * `off`, `{"header": <name>}` or `{"json": <path>}`. `auto` is the default, and not sent.
 */
function createDuplicatesField(options: FieldOptions): Field {
  const { value } = options;
  const [kind = '', path] = typeof value !== 'object' || value === null
    ? [value === 'auto' ? '' : String(value ?? '')] : Object.entries(value)[0] ?? [];
  const select = h('select', {}, ...DUPLICATE_CHOICES.map(([choice, text]) =>
    h('option', { value: choice }, text)));
  const input = h('input', { autocomplete: 'off', spellcheck: 'false' });
  select.value = kind;
  input.value = String(path ?? '');
  const show = (): void => {
    const [, , inputLabel] = DUPLICATE_CHOICES.find(([choice]) => choice === select.value) ?? [];
    input.hidden = inputLabel === undefined;
    input.placeholder = inputLabel ?? '';
    input.setAttribute('aria-label', inputLabel ?? '');
  };
  select.addEventListener('change', show);
  show();
  return inputField(options, select, () => {
    if (select.value === '') return undefined;
    return input.hidden ? select.value : { [select.value]: input.value };
  }, input);
}
