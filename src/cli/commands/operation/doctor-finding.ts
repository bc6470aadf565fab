/** The result of one check of `doctor`. */
import type { Settings } from '../../../settings/load.ts';
import type { CommandContext } from '../command-context.ts';

export type CheckResult = {
  /** `hint`: nothing is wrong, but it may not be what was meant. */
  readonly status: 'ok' | 'hint' | 'warning' | 'failed';
  readonly detail: string;
  /** What the user should do; `''` for nothing. */
  readonly advice: string;
};
export type DoctorCheck = (context: CommandContext, settings: Settings) =>
  CheckResult | Promise<CheckResult>;

export function ok(detail: string): CheckResult {
  return { status: 'ok', detail, advice: '' };
}

export function hint(detail: string, advice: string): CheckResult {
  return { status: 'hint', detail, advice };
}

export function warning(detail: string, advice: string): CheckResult {
  return { status: 'warning', detail, advice };
}

export function failed(detail: string, advice: string): CheckResult {
  return { status: 'failed', detail, advice };
}
