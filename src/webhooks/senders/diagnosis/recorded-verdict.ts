/**
 * Reports the verdict of the time when a stored request came, if its token or its whole body was
 * not stored. Pure.
 */
import { createRejection, type SenderVerdict } from '../verification/verdict.ts';
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
export function toSenderVerdict(recordedVerdict: RecordedVerdict | null): SenderVerdict | null {
  if (recordedVerdict === null) return null;
  const { accepted, failedCheck, secret, missingEvidence } = recordedVerdict;
  if (accepted) return { isGenuine: true, secret: secret ?? 'current', signedAtMs: null };
  const check = SIGNATURE_CHECKS.find((name) => name === failedCheck);
  return createRejection(check ?? 'parts', missingEvidence);
}

export function reportRecordedVerdict(
  report: DiagnosisReport, { failedCheck: failedCheckName, missingEvidence }: RecordedVerdict,
  verdict: SenderVerdict,
): void {
  const failedCheck = SIGNATURE_CHECKS.find((check) => check === failedCheckName);
  if (verdict.isGenuine) {
    return report.skipTo('near_miss', `${missingEvidence}; it passed when it came`);
  }
  if (failedCheck === undefined) {
    return report.skipTo('near_miss', `${missingEvidence}, so that it cannot be checked again`);
  }
  report.skipTo(failedCheck, 'it passed when it came');
  report.fail(failedCheck, `so it was found when it came; ${missingEvidence}`);
  return report.skipTo('near_miss', 'the signature cannot be checked');
}

export function reportRecordedAge(
  report: DiagnosisReport, { failedCheck, missingEvidence }: RecordedVerdict,
): void {
  if (failedCheck !== 'stale') return report.note('stale', 'skipped', missingEvidence);
  return report.fail('stale', `so it was found when it came; ${missingEvidence}`);
}
