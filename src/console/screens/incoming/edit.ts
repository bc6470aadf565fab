/** Forms that change an incoming webhook: who may call it, and what it does. */
import { get } from '../../base/api.ts';
import { labelOfHook } from '../../base/hooks.ts';
import { model } from '../../base/schema.ts';
import type { ModelSchema } from '../../base/schema.ts';
import type { Actions } from '../../parts/forms/action-chooser.ts';
import { editRecord } from '../../parts/forms/edit.ts';
import type { Words } from '../../parts/forms/leaf.ts';
import { duplicatesField } from './duplicates.ts';
import { trySection } from './match.ts';
import { senderField } from './sender.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/describe-presets.ts';

export type ShownHook = {
  readonly hook: IncomingWebhook; readonly path: string; readonly etag: string;
  readonly actions: Actions;
  /** Shows it again. */
  readonly again: () => Promise<void>;
};

const MODEL = 'IncomingWebhookBody';
const ACTION = ['actionConfiguration', 'routes'];
export const NAMING_WORDS: Words = {
  name: ['Name', 'What people call it: a-z, 0-9, `.`, `_` and `-`. It does not change the address'],
  description: ['Description', 'What it is for, whose it is'],
};
const WORDS: Words = {
  ...NAMING_WORDS,
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

export async function editIncoming(
  place: HTMLElement, { hook, path, etag, again }: ShownHook,
): Promise<void> {
  const [schema, presets] = await Promise.all([
    model(MODEL), get<readonly PresetDescription[]>('/api/verification-presets'),
  ]);
  editRecord(place, {
    title: `Edit ${labelOfHook(hook).title}`, path, schema, record: hook, etag, done: again,
    words: WORDS, makers: {
      verification: senderField(presets, () => {}), deduplicate: duplicatesField,
    },
    without: ['identifier', 'enabled', 'staticHeaders', ...ACTION],
    rare: ['allowedAddresses', 'bodyFormat', 'allowedMethods', 'deduplicate', 'deduplicateHours'],
  });
}

export async function editAction(
  place: HTMLElement, { hook, path, etag, actions, again }: ShownHook,
): Promise<void> {
  const { properties = {} } = await model(MODEL);
  const schema: ModelSchema = {
    properties: Object.fromEntries(ACTION.map((name) => [name, properties[name] ?? {}])),
  };
  editRecord(place, {
    title: `What ${labelOfHook(hook).title} does`, path, schema, record: hook, etag, done: again,
    method: 'PATCH',
    bodyOf: ({ actionConfiguration = null, routes = null }) => ({ actionConfiguration, routes }),
    words: {
      actionConfiguration: ['Action', ''],
      routes: ['Routes', 'In place of one action for every request: each route that fits a request '
        + 'runs its own. Choose None above then', 'Route'],
      name: ['Name', 'It stands with each request that the route ran for'],
      when: ['Runs when', 'Without a condition it runs for every request'],
    },
    makers: { actionConfiguration: (options) => actions.field(options) },
    below: (read) => trySection(hook, () => read()['routes']),
  });
}
