/** Describes the presets for people. Pure. */
import { listCoveredParts, usesOrigins } from '../scheme/scheme.ts';
import { describeSources } from '../verification/verdict.ts';
import { findPresetObstacle, PRESETS } from './preset-table.ts';
import type { Preset } from './preset.ts';

export type PresetDescription = {
  readonly name: string;
  readonly sender: string;
  /** The place of the signature, or of the token. */
  readonly header: string;
  /** The members of `verification` that the preset needs. */
  readonly needs: readonly string[];
  /** The members of `verification` that the preset may have beside those. */
  readonly accepts: readonly string[];
  /** The signed ones of body, time and id. */
  readonly covers: readonly string[];
  /** Seconds that a signed time may differ from now; null: no limit. */
  readonly toleranceS: number | null;
  /** Seconds within which the sender expects its response; null: unknown. */
  readonly answerWithinS: number | null;
  /** The sender's reaction to a response that is no success; null: unknown. */
  readonly onFailure: string | null;
  readonly pasteUrl: string;
  readonly pasteSecret: string;
  /** The party that makes the secret: `here`, then the sender is given it, or the `sender`. */
  readonly secretFrom: 'here' | 'sender';
  /** Why outgoing webhooks cannot sign as this sender; null: they can. */
  readonly signingObstacle: string | null;
  readonly documentation: string;
  /** What its forms are answered when they are accepted; null: JSON, as every other request. */
  readonly formResponse: { readonly contentType: string; readonly body: string } | null;
  /**
   * The facts for which there is no source but memory or a third party; null: all are confirmed.
   */
  readonly unconfirmed: string | null;
};

/** The signed parts, in words. */
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
      secretFrom: preset.newSecret === null ? 'sender' : 'here',
      formResponse: describeResponse(preset),
    };
  });
}

function describeResponse({ responses }: Preset): PresetDescription['formResponse'] {
  const { accepted } = responses ?? {};
  return accepted === undefined ? null
    : { contentType: accepted.headers['Content-Type'], body: accepted.body };
}
