/** The verdict of a verification. Findings are for the webhook's owner and hold no secret. Pure. */
import { toSourceList, type ValueSources } from '../scheme/scheme.ts';

export type CheckName = 'configuration' | 'secret' | 'handshake' | 'signature_missing'
  | 'signature_form' | 'parts' | 'mismatch' | 'stale';
export type SenderRejection = {
  readonly isGenuine: false; readonly check: CheckName; readonly finding: string;
};
export type SenderVerdict = SenderRejection | {
  readonly isGenuine: true;
  readonly secret: 'current' | 'previous';
  /** Milliseconds since the epoch; null where the scheme signs no time. */
  readonly signedAtMs: number | null;
};

export function createRejection(check: CheckName, finding: string): SenderRejection {
  return { isGenuine: false, check, finding };
}

export function describeSources(sources: ValueSources | undefined): string {
  return toSourceList(sources).map((source) => {
    if ('header' in source) return source.header;
    if ('json' in source) return `\`${source.json}\` in the JSON body`;
    if ('form' in source) return `form field \`${source.form}\``;
    if ('cloudEvent' in source) return `\`${source.cloudEvent}\` of the CloudEvent`;
    return `query parameter \`${source.query}\``;
  }).join(' or ');
}
