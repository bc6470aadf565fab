/**
 * Checks a history of several nodes over one log against what they promise. It knows nothing of the
 * program: only what clients see. Every rule is interval logic over the begin and the end of what
 * was asked; nothing is searched, so a history of tens of thousands of operations is no burden.
 */
import { checkDeliveries } from './deliveries.ts';
import { checkEmissions } from './emissions.ts';
import type { History, Violation } from './history.ts';
import { checkImages } from './images.ts';
import { checkOnce, merge } from './merged.ts';
import { checkNames } from './names.ts';
import { checkReads } from './reads.ts';
import { chainsOf, checkMismatches } from './registers.ts';
import { checkSequences } from './sequences.ts';

/** What is wrong; empty when everything promised was kept. */
export function check(history: History): readonly Violation[] {
  const merged = merge(history);
  const { chains, violations } = chainsOf(merged);
  return [
    ...merged.violations,
    ...checkOnce(history, merged),
    ...violations,
    ...checkMismatches(history),
    ...checkNames(history, merged),
    ...checkSequences(history, merged, chains),
    ...checkImages(history, merged),
    ...checkReads(history, merged, chains),
    ...checkDeliveries(history),
    ...checkEmissions(history),
  ];
}
