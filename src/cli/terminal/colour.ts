/** Colours on a terminal, unless it is a dumb one or NO_COLOR is set (no-color.org). */
import type { Io, Terminal } from './process-io.ts';

export type Tone = 'strong' | 'good' | 'warning' | 'bad';
/** Colours `text`, which must be escaped already. */
export type Paint = (text: string, tone: Tone | undefined) => string;

const SGR: Readonly<Record<Tone, number>> = { strong: 1, good: 32, warning: 33, bad: 31 };

export const paintNothing: Paint = (text) => text;

export function createPaint(stream: Terminal, { environment }: Io): Paint {
  const { NO_COLOR: noColor = '', TERM: terminal } = environment;
  if (stream.isTTY !== true || noColor !== '' || terminal === 'dumb') return paintNothing;
  return (text, tone) =>
    tone === undefined || text === '' ? text : `\u001b[${SGR[tone]}m${text}\u001b[0m`;
}
