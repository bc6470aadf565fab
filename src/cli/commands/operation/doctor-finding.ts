/** The subject of the checks of `doctor`, and their findings. */
import type { Token } from '../../../access/token.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import type { CommandContext } from '../command-context.ts';
import type { RunningServer } from './running-server.ts';

export type DoctorFinding = {
  /** `hint`: nothing is wrong, but it may not be what was meant. */
  readonly status: 'ok' | 'hint' | 'warning' | 'failed';
  readonly detail: string;
  /** The step that the user should take; `''` where there is none. */
  readonly advice: string;
};

export type DoctorSubject = {
  readonly context: CommandContext;
  /** The settings of the running server, without its secrets; else those of this command. */
  readonly settings: Settings;
  /** null: no server runs. Throws where a server runs that does not tell its state. */
  readonly getServer: () => RunningServer | null;
  /**
   * Reads the tokens of the data directory once, where no server runs; null: an engine has them.
   * Throws as `recoverState` does, and where a server that runs removes a file meanwhile.
   */
  readonly readStoredTokens: () => Promise<readonly Token[] | null>;
};

export type DoctorFindings = DoctorFinding | readonly DoctorFinding[];

export type DoctorCheck = (subject: DoctorSubject) => DoctorFindings | Promise<DoctorFindings>;

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
