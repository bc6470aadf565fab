/**
 * Tells which users could replace what a path leads to: those who own a folder or a link on the
 * way, and those who may write in such a folder. Every step from the root on is examined.
 */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { AppError } from '../errors.ts';
import { quotePath } from '../text/shell-quote.ts';

/** A folder, link or file on the way. */
export type PathStep = {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
  readonly isDirectory: boolean;
  readonly isLink: boolean;
  /** Whether it is a regular file: no folder, link, pipe, socket or device. */
  readonly isFile: boolean;
};

export type PathWalk = {
  /** From the root on, links followed and listed; never empty. */
  readonly steps: readonly PathStep[];
  /** The last step: what the path names, or the nearest folder above it that is there. */
  readonly nearest: PathStep;
  /** Whether what the path names is there. */
  readonly exists: boolean;
};

const LINKS_MAX = 40;
// Linux shows this uid for users of another user namespace.
const OUTSIDER = 65_534;
const STICKY = 0o1000;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ALL = 0o002;

/** Throws the system's error where a folder may not be looked into. */
export function walkPath(path: string): PathWalk {
  const { root } = parse(resolve(path));
  let nearest = createStep(root, lstatSync(root));
  const steps = [nearest];
  const names = splitPath(resolve(path));
  for (let links = 0; names.length > 0;) {
    const name = names.shift() ?? '';
    const next = join(nearest.path, name);
    const status = nearest.isDirectory ? lstatSync(next, { throwIfNoEntry: false }) : undefined;
    if (status === undefined) return { steps, nearest, exists: false };
    if (!status.isSymbolicLink()) {
      nearest = createStep(next, status);
      steps.push(nearest);
      continue;
    }
    steps.push(createStep(next, status));
    links += 1;
    if (links > LINKS_MAX) return { steps, nearest, exists: false };
    const target = resolve(dirname(next), readlinkSync(next));
    names.unshift(...splitPath(target));
    nearest = createStep(root, lstatSync(root));
  }
  return { steps, nearest, exists: true };
}

/**
 * Finds the first step that a user other than root and `uid` could exchange; undefined: there is
 * none. In a sticky folder the owner of the entry counts, which is the next step.
 */
export function findUntrustedStep(
  steps: readonly PathStep[], uid: number,
): PathStep | undefined {
  return steps.find((step) => (step.uid !== 0 && step.uid !== uid) || isOpenToOthers(step));
}

/**
 * Throws `conflict` unless root alone can replace what stands at `path`. Other users may write in
 * the folder `path` itself: files that are opened in there are examined by themselves.
 */
export function checkOnlyRootCanReplace(path: string, { steps, nearest, exists }: PathWalk): void {
  const above = (exists ? steps.slice(0, -1) : steps).filter(({ uid }) => !isOutside(uid));
  const untrustedStep = findUntrustedStep(above, 0) ?? (nearest.uid === 0 ? undefined : nearest);
  if (untrustedStep === undefined) return;
  const danger = `could put anything in the place of ${path}, and root would take it`;
  const alternative = 'or name another data directory with --data';
  const { path: folder, uid } = untrustedStep;
  throw new AppError('conflict', uid === 0
    ? `others may write in ${folder}: they ${danger}; chmod go-w ${quotePath(folder)}, `
      + alternative
    : `${folder} is user ${uid}'s, who ${danger}; run as user ${uid}, give ${path} to that user, `
      + alternative);
}

/**
 * Whether a user is outside of this user namespace. So is the system's own root if another user is
 * called root here: its folders cannot be told from the folders of other users outside.
 */
function isOutside(uid: number): boolean {
  if (uid !== OUTSIDER) return false;
  try {
    const ranges = readFileSync('/proc/self/uid_map', 'latin1').trim().split('\n')
      .map((line) => line.trim().split(/ +/).map(Number));
    return ranges.every(([start = 0, , count = 0]) => uid < start || uid >= start + count);
  } catch {
    return false;
  }
}

/** Whether users besides the owner and the group of root may exchange entries of the folder. */
function isOpenToOthers({ isDirectory, mode, gid }: PathStep): boolean {
  if (!isDirectory || (mode & STICKY) !== 0) return false;
  return (mode & WRITABLE_BY_ALL) !== 0 || ((mode & WRITABLE_BY_GROUP) !== 0 && gid !== 0);
}

/** Whether a user could exchange a step of the way, or make the step that is missing. */
export function canBeReplacedBy(
  { steps, nearest, exists }: PathWalk,
  user: { readonly uid: number; readonly groups: readonly number[] },
): boolean {
  return steps.some((step) => {
    const { uid, gid, mode, isDirectory } = step;
    if (uid === user.uid) return true;
    if (!isDirectory) return false;
    const isProtected = (mode & STICKY) !== 0 && (exists || step !== nearest);
    return !isProtected && ((mode & WRITABLE_BY_ALL) !== 0
      || ((mode & WRITABLE_BY_GROUP) !== 0 && user.groups.includes(gid)));
  });
}

function createStep(path: string, status: Stats): PathStep {
  const { uid, gid, mode } = status;
  return {
    path, uid, gid, mode, isDirectory: status.isDirectory(), isLink: status.isSymbolicLink(),
    isFile: status.isFile(),
  };
}

function splitPath(path: string): string[] {
  return path.slice(parse(path).root.length).split(sep).filter((name) => name !== '');
}
