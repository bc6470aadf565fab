/**
 * The table of senders that are verified by name, in the order of the manual. The rows lie in the
 * files that are imported here; src/manual/working.md has all steps for a new sender.
 */
import { findDeliveryObstacle } from '../scheme/placement.ts';
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { suggestName, quote } from '../../../base/text/error-message.ts';
import type { Preset } from './preset.ts';
import { CODE_HOSTS } from './code-hosts.ts';
import { COMMERCE } from './commerce.ts';
import { GENERIC } from './generic.ts';
import { MESSAGING } from './messaging.ts';
import { PLATFORMS } from './platforms.ts';

export const PRESETS: readonly Preset[] = [
  ...CODE_HOSTS, ...COMMERCE, ...MESSAGING, ...PLATFORMS, ...GENERIC,
];

const BY_NAME = new Map(PRESETS.map((preset) => [preset.name, preset]));

export function findPreset(name: string): Preset | undefined {
  return BY_NAME.get(name);
}

/** Throws `invalid`: a later version of this program has stored a preset that is not there. */
export function getPreset(name: string): Preset {
  const preset = findPreset(name);
  if (preset !== undefined) return preset;
  throw new AppError('invalid', `this version knows no preset ${quote(name)}`);
}

export function explainUnknownPreset(
  name: string, knownNames: readonly string[] = PRESETS.map((preset) => preset.name),
): string {
  return `${quote(name)} is not a known preset${suggestName(name, knownNames)}`;
}

/**
 * The scheme that a `verification` or a `signing` names or holds, as far as there is one: neither
 * may have been checked yet.
 */
export function readScheme(
  member: JsonValue | undefined,
): Readonly<Record<string, unknown>> {
  if (!isJsonObject(member)) return {};
  const { preset, scheme } = member;
  const row = typeof preset === 'string' ? findPreset(preset) : undefined;
  return row?.scheme ?? (isJsonObject(scheme) ? scheme : {});
}

/** Why outgoing webhooks cannot sign as the preset's sender; null: they can. */
export function findPresetObstacle({ scheme, signingObstacle }: Preset): string | null {
  if (scheme === null) return 'it says nothing of how to sign: give a scheme in its place';
  return signingObstacle ?? findDeliveryObstacle(scheme)?.[0] ?? null;
}
