/** The report of a diagnosis, check by check. Findings hold no secret. Pure. */
import type { AnswerOf } from '../../../base/schema-types.ts';
import { FLAG, TEXT, arraySchema, objectSchema } from '../../../resources/route-specs.ts';

const CHECKS = [
  'configuration', 'secret', 'address', 'handshake', 'signature_missing', 'signature_form', 'parts',
  'mismatch', 'near_miss', 'stale', 'duplicate', 'coverage', 'body',
  'routes',
] as const;
/** The checks that a verification makes of the signature itself, in order. */
export const SIGNATURE_CHECKS = [
  'signature_missing', 'signature_form', 'parts', 'mismatch',
] as const;
type DiagnosisCheck = typeof CHECKS[number];

export const diagnosisSchema = objectSchema('Diagnosis', {
  accepted: FLAG, failedCheck: { kind: 'string', values: CHECKS },
  checks: arraySchema(objectSchema('DiagnosisResult', {
    check: { kind: 'string', values: CHECKS },
    status: [
      { kind: 'string', values: ['ok', 'failed', 'hint', 'skipped'] },
      '`failed` is the verdict; later failures, and oddities, are hints',
    ],
    finding: TEXT,
  })),
}, { nullable: ['failedCheck'] });

export type Diagnosis = AnswerOf<typeof diagnosisSchema>;
type DiagnosisResult = Diagnosis['checks'][number];

/** Collects one result for each check, in order. */
export class DiagnosisReport {
  readonly #results: DiagnosisResult[] = [];
  #failedCheck: DiagnosisCheck | null = null;

  note(check: DiagnosisCheck, status: DiagnosisResult['status'], finding: string): void {
    const isLater = status === 'failed' && this.#failedCheck !== null;
    if (status === 'failed') this.#failedCheck ??= check;
    this.#results.push({ check, status: isLater ? 'hint' : status, finding });
  }

  /** Skips every check between the last reported check and `end`. */
  skipTo(end: DiagnosisCheck, finding: string): void {
    for (const check of CHECKS.slice(this.#results.length, CHECKS.indexOf(end))) {
      this.note(check, 'skipped', finding);
    }
  }

  finish(): Diagnosis {
    const failedCheck = this.#failedCheck;
    return { accepted: failedCheck === null, failedCheck, checks: this.#results };
  }
}
