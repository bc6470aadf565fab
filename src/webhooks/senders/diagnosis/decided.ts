/**
 * What a diagnosis says of a kept request whose token or whole body was not kept: what was decided
 * when it came. Pure.
 */
import { refusal, type SenderVerdict } from '../verification/verdict.ts';
import { SIGNATURE_CHECKS, type DiagnosisReport } from './report.ts';

/** What was decided when a request came, where it cannot be decided again. */
export type Decided = {
  readonly accepted: boolean;
  /** What the request did not pass; not always one of our checks. */
  readonly failedCheck: string | null;
  readonly secret: 'current' | 'previous' | null;
  /** What was not kept, as a clause. */
  readonly missing: string;
};

/** null: the request is there, and is verified again. */
export function decidedVerdict(decided: Decided | null): SenderVerdict | null {
  if (decided === null) return null;
  const { accepted, failedCheck, secret, missing } = decided;
  if (accepted) return { isGenuine: true, secret: secret ?? 'current', signedAtMs: null };
  const check = SIGNATURE_CHECKS.find((one) => one === failedCheck);
  return refusal(check ?? 'parts', missing);
}

export function checkDecided(
  report: DiagnosisReport, { failedCheck, missing }: Decided, verdict: SenderVerdict,
): void {
  const failed = SIGNATURE_CHECKS.find((one) => one === failedCheck);
  if (verdict.isGenuine) {
    return report.skipTo('near_miss', `${missing}; it passed when it came`);
  }
  if (failed === undefined) {
    return report.skipTo('near_miss', `${missing}, so that it cannot be checked again`);
  }
  report.skipTo(failed, 'it passed when it came');
  report.fail(failed, `so it was found when it came; ${missing}`);
  return report.skipTo('near_miss', 'the signature cannot be checked');
}

export function checkDecidedAge(
  report: DiagnosisReport, { failedCheck, missing }: Decided,
): void {
  if (failedCheck === 'stale') report.fail('stale', `so it was found when it came; ${missing}`);
  else report.note('stale', 'skipped', missing);
}
