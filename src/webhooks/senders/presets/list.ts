/** The table of presets as people read it. Pure. */
import { coveredBy } from '../scheme/coverage.ts';
import { placesOf } from '../verification/verdict.ts';
import { PRESETS } from './table.ts';

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
export function coversText({ covers, needs }: PresetDescription): string {
  return needs.includes('scheme') ? AS_THE_SCHEME_SAYS : covers.join(', ') || 'nothing';
}

const AS_THE_SCHEME_SAYS = 'as the scheme says';

export function listPresets(): readonly PresetDescription[] {
  return PRESETS.map((preset) => {
    const { name, sender, scheme, setup, documentation } = preset;
    const { onFailure = null, unconfirmed = null } = preset;
    const covered = scheme === null ? null : coveredBy(scheme);
    return {
      name, sender,
      header: scheme === null ? AS_THE_SCHEME_SAYS : placesOf(scheme.signature.from),
      needs: scheme === null ? ['scheme'] : scheme.needs ?? [],
      covers: (['body', 'time', 'id'] as const).filter((part) => covered?.[part] === true),
      toleranceS: scheme?.timestamp?.tolerance ?? null,
      answerWithinS: scheme?.ackWithin ?? null, onFailure,
      pasteUrl: setup.url, pasteSecret: setup.secret, documentation, unconfirmed,
      secretFrom: preset.newSecret === null ? 'sender' : 'here',
    };
  });
}
