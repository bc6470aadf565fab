/** What `doctor` finds of one thing that a server needs. */
import type { Settings } from '../../../settings/load.ts';
import type { CommandContext } from '../context.ts';

export type Examined = {
  /** `hint`: nothing is wrong, but it may not be what was meant. */
  readonly status: 'ok' | 'hint' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; `''` for nothing. */
  readonly advice: string;
};
export type Look = (context: CommandContext, settings: Settings) => Examined | Promise<Examined>;

export function ok(detail: string): Examined {
  return { status: 'ok', detail, advice: '' };
}

export function hint(detail: string, advice: string): Examined {
  return { status: 'hint', detail, advice };
}

export function warning(detail: string, advice: string): Examined {
  return { status: 'warning', detail, advice };
}

export function failed(detail: string, advice: string): Examined {
  return { status: 'failed', detail, advice };
}
