/**
 * Forms that edit an incoming webhook: one for its sender, one for its action and routes; and the
 * field for `verification`.
 */
import { getJson } from '../../base/api-calls.ts';
import { createWebhookLabel } from '../../base/webhook-labels.ts';
import {
  filterMembers, loadModel, pickMembers, type ModelSchema,
} from '../../base/model-schema.ts';
import type { ActionCatalog } from '../../parts/forms/action-chooser.ts';
import { editRecord } from '../../parts/forms/edit-record.ts';
import type { FieldFactories } from '../../parts/forms/input-field.ts';
import { presetField } from '../../parts/forms/preset-field.ts';
import { trySection } from './try-routes.ts';
import type { IncomingWebhook } from '../../../app/api-types.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';

export type IncomingView = {
  readonly webhook: IncomingWebhook; readonly path: string; readonly etag: string;
  readonly actions: ActionCatalog;
  /** Fetches and shows the webhook again. */
  readonly refresh: () => Promise<void>;
};

export const INCOMING_MODEL = 'IncomingWebhookBody';

const isOfAction = (member: ModelSchema): boolean => member['x-form']?.group === 'action';

export async function editIncoming(
  container: HTMLElement, { webhook, path, etag, refresh }: IncomingView,
): Promise<void> {
  const [model, presets] = await Promise.all([
    loadModel(INCOMING_MODEL), getJson<readonly PresetDescription[]>('/api/verification-presets'),
  ]);
  editRecord(container, {
    title: `Edit ${createWebhookLabel(webhook).title}`, path, record: webhook, etag,
    schema: filterMembers(model, (member) => !isOfAction(member)), onDone: refresh,
    factories: createSenderFields(presets, () => {}),
  });
}

export async function editAction(
  container: HTMLElement, { webhook, path, etag, actions, refresh }: IncomingView,
): Promise<void> {
  editRecord(container, {
    title: `What ${createWebhookLabel(webhook).title} does`, path, record: webhook, etag,
    schema: filterMembers(await loadModel(INCOMING_MODEL), isOfAction), onDone: refresh,
    factories: { action: (options) => actions.createField(options) },
    renderBelow: (read) => trySection(webhook, () => read()['routes']),
  });
}

/** `onChange` gets the chosen preset, also once at the beginning; null for none. */
export function createSenderFields(
  presets: readonly PresetDescription[], onChange: (preset: PresetDescription | null) => void,
): FieldFactories {
  const find = (name: string): PresetDescription | null =>
    presets.find((preset) => preset.name === name) ?? null;
  return {
    sender: (options) => presetField(options, {
      choices: [['', 'Anybody, or X-Signature where there is a secret'],
        ...presets.map(({ name, sender }) => [name, sender] as const)],
      selectMembers: (model, name) => selectMembers(model, find(name)),
      onChange: (name) => onChange(find(name)),
    }),
  };
}

/** What a preset needs, or takes. */
function selectMembers(model: ModelSchema, preset: PresetDescription | null): ModelSchema {
  if (preset === null) return {};
  const { needs, accepts, toleranceS } = preset;
  const { properties } = pickMembers(model, [
    ...needs, ...accepts.filter((name) => name === 'origins'),
    ...toleranceS === null ? [] : ['toleranceS'],
  ]);
  const tolerance = toleranceS === null ? {}
    : { toleranceS: { ...properties?.['toleranceS'], default: toleranceS } };
  return { properties: { ...properties, ...tolerance }, required: needs };
}
