/**
 * What a diagnosis says of a kept request whose token or whole body was not kept: what was decided
 * when it came. Pure.
 */
import { createRefusal, type SenderVerdict } from '../verification/verdict.ts';
import { SIGNATURE_CHECKS, type DiagnosisReport } from './diagnosis-report.ts';

/** What was decided when a request came, where it cannot be decided again. */
export type RecordedVerdict = {
  readonly accepted: boolean;
  /** What the request did not pass; not always one of our checks. */
  readonly failedCheck: string | null;
  readonly secret: 'current' | 'previous' | null;
  /** What was not kept, as a clause. */
  readonly missingEvidence: string;
};

/** null: the request is there, and is verified again. */
export function toSenderVerdict(recorded: RecordedVerdict | null): SenderVerdict | null {
  if (recorded === null) return null;
  const { accepted, failedCheck, secret, missingEvidence } = recorded;
  if (accepted) return { isGenuine: true, secret: secret ?? 'current', signedAtMs: null };
  const check = SIGNATURE_CHECKS.find((one) => one === failedCheck);
  return createRefusal(check ?? 'parts', missingEvidence);
}

export function reportRecordedVerdict(
  report: DiagnosisReport, { failedCheck, missingEvidence }: RecordedVerdict,
  verdict: SenderVerdict,
): void {
  const failed = SIGNATURE_CHECKS.find((one) => one === failedCheck);
  if (verdict.isGenuine) {
    return report.skipTo('near_miss', `${missingEvidence}; it passed when it came`);
  }
  if (failed === undefined) {
    return report.skipTo('near_miss', `${missingEvidence}, so that it cannot be checked again`);
  }
  report.skipTo(failed, 'it passed when it came');
  report.fail(failed, `so it was found when it came; ${missingEvidence}`);
  return report.skipTo('near_miss', 'the signature cannot be checked');
}

export function reportRecordedAge(
  report: DiagnosisReport, { failedCheck, missingEvidence }: RecordedVerdict,
): void {
  if (failedCheck !== 'stale') return report.note('stale', 'skipped', missingEvidence);
  return report.fail('stale', `so it was found when it came; ${missingEvidence}`);
}
