/**
 * The user that a command runs as. A command that root starts on a data directory of another user
 * becomes that user, with all groups, before it opens anything in it: root's rights are never used
 * to read, run, follow or remove anything that the owner put there.
 *
 * Files elsewhere are opened before that. If the owner controls their path, the command becomes the
 * owner first. A command that writes a file elsewhere at its end (an export, a backup) becomes root
 * again once it is done with the data directory. Such a command never runs code of the owner.
 */
import { userInfo } from 'node:os';
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts';
import { assert } from '../../base/assert.ts';
import {
  checkOnlyRootCanReplace, canBeReplacedBy, walkPath,
} from '../../base/files/path-owners.ts';

type User = {
  readonly uid: number;
  readonly gid: number;
  /** null where the system knows only the number. */
  readonly name: string | null;
  readonly home: string | null;
  readonly groups: readonly number[];
};

const ROOT = 0;
// The group for users that the system does not know: `nogroup`, which has no rights.
const GROUP_OF_NOBODY = 65_534;

export class Identity {
  readonly #directory: string | null;
  #owner: User | null | undefined;
  #isOwner = false;
  #isRootAgain = false;
  #caller: { readonly gid: number; readonly groups: number[] } | null = null;

  /** null: the command uses no data directory, and the process keeps its user. */
  constructor(dataDirectory: string | null) {
    this.#directory = dataDirectory;
  }

  /**
   * Whether we are root and another user owns the data directory. Throws `conflict` where root owns
   * it and yet others could replace it.
   */
  get needsSwitch(): boolean {
    return this.#otherOwner !== null;
  }

  /** Whether the owner could replace the file at the path, or we have become the owner. */
  isOwnersPath(path: string): boolean {
    if (this.#otherOwner === null) return false;
    return this.#isOwner || canBeReplacedBy(walkPath(path), this.#otherOwner);
  }

  /**
   * Call it before a file elsewhere is read: if the owner could replace or create the file, we
   * become the owner for good.
   */
  prepareToRead(path: string): void {
    if (this.isOwnersPath(path)) this.becomeOwner();
  }

  /** Becomes the directory's owner for good. Throws `conflict` when the system refuses. */
  becomeOwner(): void {
    assert(!this.#isRootAgain, 'root again: the data directory must not be opened any more');
    if (this.#isOwner) return;
    this.#isOwner = true;
    if (this.#otherOwner !== null) switchTo(this.#otherOwner, becomeForGood);
  }

  /** Becomes the directory's owner until `becomeRootAgain`; may be called again after that. */
  becomeOwnerForNow(): void {
    if (this.#isOwner) return;
    this.#isOwner = true;
    this.#isRootAgain = false;
    if (this.#otherOwner === null) return;
    const caller = { gid: process.getegid?.() ?? ROOT, groups: process.getgroups?.() ?? [] };
    switchTo(this.#otherOwner, becomeForNow);
    this.#caller = caller;
  }

  /** Call it only when nothing in the data directory is open any more. */
  becomeRootAgain(): void {
    if (this.#caller === null) return;
    process.seteuid?.(ROOT);
    process.setegid?.(this.#caller.gid);
    process.setgroups?.(this.#caller.groups);
    this.#caller = null;
    this.#isOwner = false;
    this.#isRootAgain = true;
  }

  get #otherOwner(): User | null {
    if (this.#owner === undefined) this.#owner = findOtherOwner(this.#directory);
    return this.#owner;
  }
}

/** Null when we are not root, or only root can change the directory. */
function findOtherOwner(directory: string | null): User | null {
  if (directory === null || process.geteuid?.() !== ROOT) return null;
  const walk = walkPath(directory);
  if (walk.nearest.uid !== ROOT) return switchTo(walk.nearest, lookUpUser);
  checkOnlyRootCanReplace(directory, walk);
  return null;
}

function lookUpUser({ uid, gid }: { readonly uid: number; readonly gid: number }): User {
  const callersGroups = process.getgroups?.() ?? [];
  process.seteuid?.(uid);
  let user: Pick<User, 'name' | 'home' | 'gid'>;
  try {
    const { username, homedir, gid: userGid } = userInfo();
    user = { name: username, home: homedir, gid: userGid };
  } catch {
    // A folder may have inherited the group of its parent. We never take root's group.
    user = { name: null, home: null, gid: gid === ROOT ? GROUP_OF_NOBODY : gid };
  } finally {
    process.seteuid?.(ROOT);
  }
  setGroups(user);
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.(callersGroups);
  return { uid, ...user, groups };
}

function setGroups({ name, gid }: Pick<User, 'name' | 'gid'>): void {
  if (name === null) process.setgroups?.([gid]);
  else initGroups(name, gid);
}

// Node has `process.initgroups`, but @types/node lacks it.
function initGroups(name: string, gid: number): void {
  const initgroups: unknown = Reflect.get(process, 'initgroups');
  assert(typeof initgroups === 'function');
  initgroups.call(process, name, gid);
}

function becomeForNow(user: User): void {
  setGroups(user);
  process.setegid?.(user.gid);
  process.seteuid?.(user.uid);
  assert(process.geteuid?.() === user.uid);
}

function becomeForGood(user: User): void {
  setGroups(user);
  process.setgid?.(user.gid);
  process.setuid?.(user.uid);
  assert(process.getuid?.() === user.uid && process.geteuid?.() === user.uid);
  // Commands of hooks get it, and root's home is not theirs to use.
  if (user.home !== null) process.env['HOME'] = user.home;
  assert(!canBeRoot(), 'the rights of root were not given up');
}

function canBeRoot(): boolean {
  try {
    process.setuid?.(ROOT);
    return true;
  } catch {
    return false;
  }
}

function switchTo<Owner extends { readonly uid: number }, Result>(
  owner: Owner, change: (owner: Owner) => Result,
): Result {
  try {
    return change(owner);
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    throw new AppError('conflict', `the data directory is user ${owner.uid}'s, whom root cannot `
      + `become here (${messageOf(thrown)}): run the command as that user`, {}, thrown);
  }
}
