/**
 * Whom a command runs as. Started by root on a data directory of another user, it becomes that
 * user, groups and all, before it opens anything in there: nothing that the user has put there, or
 * puts there meanwhile, is ever read, run, written through or removed with the rights of root.
 *
 * What a command needs elsewhere it opens before. Where a path is in the hands of that user it
 * becomes the user first. A command that puts a file in its place elsewhere at the end (an export,
 * a backup) becomes the user for a while only: it takes the rights of root back once it is done
 * with the data directory. Such a command never runs code of the user's.
 */
import { userInfo } from 'node:os';
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts';
import { assert } from '../../base/assert.ts';
import { checkRootsAlone, isInHandsOf, walkPath } from '../../base/path-owners.ts';

type User = {
  readonly uid: number;
  readonly gid: number;
  /** null: the system knows the number alone. */
  readonly name: string | null;
  readonly groups: readonly number[];
};

const ROOT = 0;
// The group that systems give to whom they do not know: it has no rights.
const GROUP_OF_NOBODY = 65_534;

export class Identity {
  readonly #directory: string;
  #owner: User | null | undefined;
  #isEntered = false;
  #isTakenBack = false;
  #lent: { readonly gid: number; readonly groups: number[] } | null = null;

  constructor(dataDirectory: string) {
    this.#directory = dataDirectory;
  }

  /**
   * Whether we are root and the data directory is another user's. Throws `conflict` where nobody
   * can be become and yet others could exchange the directory.
   */
  get isBorrowed(): boolean {
    return this.#other !== null;
  }

  /** Whether the other user could exchange what the path names, or is the one we are by now. */
  isTheirs(path: string): boolean {
    if (this.#other === null) return false;
    return this.#isEntered || isInHandsOf(walkPath(path), this.#other);
  }

  /**
   * To be called before a file elsewhere is read: what the other user could exchange, or make, is
   * opened as that user, from now on and for good.
   */
  approach(path: string): void {
    if (this.isTheirs(path)) this.enter();
  }

  /** Becomes the directory's owner for good. Throws `conflict` when the system refuses. */
  enter(): void {
    assert(!this.#isTakenBack, 'the data directory is behind us');
    if (this.#isEntered) return;
    this.#isEntered = true;
    if (this.#other !== null) switchTo(this.#other, becomeForGood);
  }

  /** Becomes the directory's owner until `takeBack`. */
  lend(): void {
    if (this.#isEntered) return;
    this.#isEntered = true;
    if (this.#other === null) return;
    const caller = { gid: process.getegid?.() ?? ROOT, groups: process.getgroups?.() ?? [] };
    switchTo(this.#other, becomeForNow);
    this.#lent = caller;
  }

  /** Only once nothing in the data directory is open that could still be at work. */
  takeBack(): void {
    if (this.#lent === null) return;
    process.seteuid?.(ROOT);
    process.setegid?.(this.#lent.gid);
    process.setgroups?.(this.#lent.groups);
    this.#lent = null;
    this.#isTakenBack = true;
  }

  get #other(): User | null {
    if (this.#owner === undefined) this.#owner = otherOwnerOf(this.#directory);
    return this.#owner;
  }
}

/** Null when we are not root, or the directory is root's alone. */
function otherOwnerOf(directory: string): User | null {
  if (process.geteuid?.() !== ROOT) return null;
  const walk = walkPath(directory);
  if (walk.nearest.uid !== ROOT) return switchTo(walk.nearest, lookUp);
  checkRootsAlone(directory, walk);
  return null;
}

function lookUp({ uid, gid }: { readonly uid: number; readonly gid: number }): User {
  const before = process.getgroups?.() ?? [];
  process.seteuid?.(uid);
  let user: { readonly name: string | null; readonly gid: number };
  try {
    const { username, gid: own } = userInfo();
    user = { name: username, gid: own };
  } catch {
    // A folder of his may have got the group of the one above it. Root's is never lent.
    user = { name: null, gid: gid === ROOT ? GROUP_OF_NOBODY : gid };
  } finally {
    process.seteuid?.(ROOT);
  }
  setGroups(user);
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.(before);
  return { uid, ...user, groups };
}

function setGroups({ name, gid }: Pick<User, 'name' | 'gid'>): void {
  if (name === null) process.setgroups?.([gid]);
  else initGroups(name, gid);
}

// Node has it, its types do not.
function initGroups(name: string, gid: number): void {
  const set: unknown = Reflect.get(process, 'initgroups');
  assert(typeof set === 'function');
  set.call(process, name, gid);
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
