/** The finding of one check of `doctor`. */
import type { Settings } from '../../../settings/load-settings.ts';
import type { CommandContext } from '../command-context.ts';

export type DoctorFinding = {
  /** `hint`: nothing is wrong, but it may not be what was meant. */
  readonly status: 'ok' | 'hint' | 'warning' | 'failed';
  readonly detail: string;
  /** The step that the user should take; `''` where there is none. */
  readonly advice: string;
};
export type DoctorCheck = (context: CommandContext, settings: Settings) =>
  DoctorFinding | Promise<DoctorFinding>;

export function ok(detail: string): DoctorFinding {
  return { status: 'ok', detail, advice: '' };
}

export function hint(detail: string, advice: string): DoctorFinding {
  return { status: 'hint', detail, advice };
}

export function warning(detail: string, advice: string): DoctorFinding {
  return { status: 'warning', detail, advice };
}

export function failed(detail: string, advice: string): DoctorFinding {
  return { status: 'failed', detail, advice };
}
