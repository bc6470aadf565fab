/**
 * Checks who owns, and who may write in, a file that we rely on: settings, modules, the lock. One
 * rule holds for all three: the file must be ours or root's.
 */
import { AppError } from '../errors.ts';
import { shellQuote } from '../text/shell-quote.ts';
import { findUntrustedStep } from './path-owners.ts';
import type { PathStep, PathWalk } from './path-owners.ts';

const WRITABLE_BY_GROUP_OR_OTHERS = 0o022;
const STICKY = 0o1000;

/** Why the owner of a file is not trusted, as a sentence without its subject; null when it is. */
export function findOwnerProblem(uid: number): string | null {
  const euid = process.geteuid?.() ?? uid;
  return uid === 0 || uid === euid ? null : `is user ${uid}'s, neither ours nor root's`;
}

/** The command that makes a file ours. */
export function formatChown(path: string): string {
  return `chown ${process.geteuid?.() ?? 0} ${shellQuote(path)}`;
}

/**
 * Throws `usage`, with the command that helps, for a file, folder or link that is another user's,
 * or that group or others may write in. In a sticky folder others can replace nothing of ours.
 */
export function checkOwnership({ path, uid, mode, isDirectory, isLink }: PathStep): void {
  const problem = findOwnerProblem(uid);
  if (problem !== null) {
    throw new AppError('usage', `${path}: ${problem}; run: ${formatChown(path)}`);
  }
  const isSticky = isDirectory && (mode & STICKY) !== 0;
  if (isLink || isSticky || (mode & WRITABLE_BY_GROUP_OR_OTHERS) === 0) return;
  throw new AppError('usage',
    `${path}: is writable by group or others; run: chmod go-w ${shellQuote(path)}`);
}

/**
 * Throws as `checkOwnership` where we are root, and others could exchange a step of the way: root
 * would run what they have put there.
 */
export function checkWayAsRoot({ steps }: PathWalk): void {
  const untrustedStep = process.geteuid?.() === 0 ? findUntrustedStep(steps, 0) : undefined;
  if (untrustedStep !== undefined) checkOwnership(untrustedStep);
}
