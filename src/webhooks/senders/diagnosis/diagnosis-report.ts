/** The report of a diagnosis, check by check. Findings hold no secret. Pure. */

export const CHECKS = [
  'configuration', 'secret', 'address', 'handshake', 'signature_missing', 'signature_form', 'parts',
  'mismatch', 'near_miss', 'stale', 'duplicate', 'coverage', 'body',
] as const;
/** The checks that a verification makes of the signature itself, in order. */
export const SIGNATURE_CHECKS = [
  'signature_missing', 'signature_form', 'parts', 'mismatch',
] as const;
type DiagnosisCheck = typeof CHECKS[number];

type DiagnosisResult = {
  readonly check: DiagnosisCheck;
  /** `failed` is the verdict; later failures, and oddities, are hints. */
  readonly status: 'ok' | 'failed' | 'hint' | 'skipped';
  readonly finding: string;
};

export type Diagnosis = {
  readonly accepted: boolean;
  readonly failedCheck: DiagnosisCheck | null;
  readonly checks: readonly DiagnosisResult[];
};

/** Collects one result for each check, in order. */
export class DiagnosisReport {
  readonly #results: DiagnosisResult[] = [];
  #failedCheck: DiagnosisCheck | null = null;

  note(check: DiagnosisCheck, status: 'ok' | 'hint' | 'skipped', finding: string): void {
    this.#results.push({ check, status, finding });
  }

  fail(check: DiagnosisCheck, finding: string): void {
    const status = this.#failedCheck === null ? 'failed' : 'hint';
    this.#failedCheck ??= check;
    this.#results.push({ check, status, finding });
  }

  /** Skips every check between the last reported one and `end`. */
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
