/** The table of presets as people read it. Pure. */
import { computeCoverage } from '../scheme/coverage.ts';
import { describeSources } from '../verification/verdict.ts';
import { PRESETS } from './preset-table.ts';

export type PresetDescription = {
  readonly name: string;
  readonly sender: string;
  /** Where the signature, or the token, stands. */
  readonly header: string;
  /** Members of `verification`. */
  readonly needs: readonly string[];
  /** Of body, time and id what the signature covers. */
  readonly covers: readonly string[];
  /** Seconds that a signed time may be off; null: no limit. */
  readonly toleranceS: number | null;
  /** Seconds within which the sender wants its answer; null: not known. */
  readonly answerWithinS: number | null;
  /** What the sender does when it is not answered with success; null: not known. */
  readonly onFailure: string | null;
  readonly pasteUrl: string;
  readonly pasteSecret: string;
  /** Who makes the secret: `here`, which the sender is then given, or the `sender`. */
  readonly secretFrom: 'here' | 'sender';
  readonly documentation: string;
  /** What nothing but memory or a third party says; null: all is confirmed. */
  readonly unconfirmed: string | null;
};

/** What the signature covers, in words. */
export function formatCoverage({ covers, needs }: PresetDescription): string {
  return needs.includes('scheme') ? SCHEME_DECIDES : covers.join(', ') || 'nothing';
}

const SCHEME_DECIDES = 'as the scheme says';

export function describePresets(): readonly PresetDescription[] {
  return PRESETS.map((preset) => {
    const { name, sender, scheme, setup, documentation } = preset;
    const { onFailure = null, unconfirmed = null } = preset;
    const coverage = scheme === null ? null : computeCoverage(scheme);
    return {
      name, sender,
      header: scheme === null ? SCHEME_DECIDES : describeSources(scheme.signature.from),
      needs: scheme === null ? ['scheme'] : scheme.needs ?? [],
      covers: (['body', 'time', 'id'] as const).filter((part) => coverage?.[part] === true),
      toleranceS: scheme?.timestamp?.tolerance ?? null,
      answerWithinS: scheme?.ackWithin ?? null, onFailure,
      pasteUrl: setup.url, pasteSecret: setup.secret, documentation, unconfirmed,
      secretFrom: preset.newSecret === null ? 'sender' : 'here',
    };
  });
}
