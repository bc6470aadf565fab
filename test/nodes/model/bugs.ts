/** Faults that can be planted into a model of a node, and the rule that finds each. */
import type { Violation } from '../checker/history.ts';

export const BUGS = {
  'acknowledge before commit': 'once',
  'take a warning for success': 'image',
  'drop the barrier': 'image',
  'drop the barrier and the chain check': 'image',
  'resend as a new batch': 'once',
  'answer a lost connection as refused': 'once',
  'keep results after a conflict': 'winner',
  'refuse from an old image': 'refusal',
  'apply an entry twice': 'stream',
  'tail a standby': 'read',
  'follow too rarely': 'read',
  'skip what was trimmed': 'image',
  'apply a batch in pieces, last first': 'read',
  'begin attempts on a lease that has ended': 'delivery',
  'renew a lease late': 'delivery',
  'take a lease over early': 'delivery',
  'record results without a fence': 'delivery',
} as const satisfies Readonly<Record<string, Violation['rule']>>;

export type Bug = keyof typeof BUGS;

export function isBug(name: string): name is Bug {
  return Object.hasOwn(BUGS, name);
}
