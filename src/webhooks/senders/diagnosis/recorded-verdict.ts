/**
 * Reports the verdict of the time when a stored request came, if its token or its whole body was
 * not stored. Pure.
 */
import { createRefusal, type SenderVerdict } from '../verification/verdict.ts';
import { SIGNATURE_CHECKS, type DiagnosisReport } from './diagnosis-report.ts';

/** The verdict of the time when a request came, for one that cannot be judged again. */
export type RecordedVerdict = {
  readonly accepted: boolean;
  /** The failed check, which is not always one of a diagnosis. */
  readonly failedCheck: string | null;
  readonly secret: 'current' | 'previous' | null;
  /** The part that was not stored, as a clause. */
  readonly missingEvidence: string;
};

/** null: the request is complete, and is verified again. */
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
