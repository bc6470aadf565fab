/** The field for `verification`: a preset, and the members that it needs. */
import { pickMembers, type ModelSchema } from '../../base/model-schema.ts';
import type { FieldFactories } from '../../parts/forms/input-field.ts';
import { presetField } from '../../parts/forms/preset-field.ts';
import type { PresetDescription } from '../../../webhooks/senders/presets/preset-schema.ts';

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
