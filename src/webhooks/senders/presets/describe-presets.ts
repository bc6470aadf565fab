/** Describes the presets for people. Pure. */
import { listCoveredParts, usesOrigins } from '../scheme/scheme.ts';
import { describeSources } from '../verification/verdict.ts';
import { findPresetObstacle, PRESETS } from './preset-table.ts';
import type { PresetDescription } from './preset-schema.ts';
import type { Preset } from './preset.ts';

export function formatCoverage({ covers, needs }: PresetDescription): string {
  return needs.includes('scheme') ? SCHEME_DECIDES : covers.join(', ') || 'nothing';
}

const SCHEME_DECIDES = 'as the scheme says';

export function describePresets(): readonly PresetDescription[] {
  return PRESETS.map((preset) => {
    const { name, sender, scheme, setup, documentation } = preset;
    const { onFailure = null, unconfirmed = null } = preset;
    return {
      name, sender,
      header: scheme === null ? SCHEME_DECIDES : describeSources(scheme.signature.from),
      needs: scheme === null ? ['scheme'] : scheme.needs ?? [],
      accepts: scheme !== null && usesOrigins(scheme) ? ['origins'] : [],
      covers: scheme === null ? [] : listCoveredParts(scheme),
      toleranceS: scheme?.timestamp?.tolerance ?? null,
      answerWithinS: scheme?.ackWithin ?? null, onFailure,
      signingObstacle: findPresetObstacle(preset),
      pasteUrl: setup.url, pasteSecret: setup.secret, documentation, unconfirmed,
      secretFrom: preset.newSecret === undefined ? 'sender' : 'here',
      formResponse: describeResponse(preset),
    };
  });
}

function describeResponse({ responses }: Preset): PresetDescription['formResponse'] {
  const { accepted } = responses ?? {};
  return accepted === undefined ? null
    : { contentType: accepted.headers['Content-Type'], body: accepted.body };
}
