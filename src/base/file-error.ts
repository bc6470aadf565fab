/**
 * Explains a refusal of the file system: its cause, and its remedy. No other module does so. The
 * texts of Node name the call and the path; people need to know the user, the owner and the mount.
 */
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { messageOf, systemCodeOf } from './errors.ts';
import { quotePath } from './text/shell-quote.ts';

/** `remedy` is null where we know none that would surely help. */
type FileErrorDescription = { readonly cause: string; readonly remedy: string | null };

/** Answers our questions about the system. Tests give their own, so that none has to be root. */
export type SystemView = {
  /** null where the system has no users. */
  readonly uid: number | null;
  /** Our name; null where the system knows only the number. */
  userName(): string | null;
  /** null where nothing is there, or where we may not look. */
  look(path: string): { readonly uid: number; readonly isDirectory: boolean } | null;
  /** The path without links; the path itself where that is not known. */
  resolveLinks(path: string): string;
  /** The mounts as /proc/self/mountinfo has them (proc_pid_mountinfo(5)); '' elsewhere. */
  readMounts(): string;
};

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'free some room on the disk and try again',
  EDQUOT: 'free some room, or raise the quota of this user, and try again',
  EFBIG: 'free some room on the disk and try again, or raise the limit of a file (ulimit -f)',
  EMFILE: 'raise the limit of open files (ulimit -n, or LimitNOFILE= of a systemd unit)',
  ENFILE: 'raise the limit of open files of the system (sysctl fs.file-max)',
};
// These calls change a folder: its rights count, and not those of the file in it.
const FOLDER_CALLS =
  ['unlink', 'rename', 'mkdir', 'mkdtemp', 'rmdir', 'link', 'symlink', 'listen', 'bind'];
const ROOT = 0;

/** Tells the cause and the remedy; for any other error its text. */
export function explainFileError(error: unknown, view?: SystemView): string {
  const { cause, remedy } = describeFileError(error, view);
  return remedy === null ? cause : `${cause}; ${remedy}`;
}

export function describeFileError(
  error: unknown, view: SystemView = createSystemView(),
): FileErrorDescription {
  const message = messageOf(error);
  const code = systemCodeOf(error) ?? '';
  if (code === 'EROFS') return describeReadOnly(message, readPath(error), view);
  // The program of a spawn is refused for reasons of its own.
  const isRefusal =
    (code === 'EACCES' || code === 'EPERM') && !readSyscall(error).startsWith('spawn');
  if (!isRefusal) return { cause: message, remedy: REMEDIES[code] ?? null };
  return describeRefusal(message, findRefusingStep(error, view), code, view);
}

/** Names a user: `user 65534 (nobody)`. */
function describeUser(uid: number | string, name: string | null): string {
  return name === null ? `user ${uid}` : `user ${uid} (${name})`;
}

function describeReadOnly(
  message: string, path: string | null, view: SystemView,
): FileErrorDescription {
  const mount = path === null ? null : findMount(path, view);
  const [place, command] = mount === null ? ['', '']
    : [`: ${mount}`, `mount -o remount,rw ${quotePath(mount)}, `];
  return {
    cause: `${message}: its file system is mounted read-only${place}`,
    remedy: `mount it for writing (${command}in a container its volume without ro, in a systemd `
      + 'unit ReadWritePaths=)',
  };
}

type RefusingStep = { readonly path: string; readonly uid: number; readonly isDirectory: boolean };

function describeRefusal(
  message: string, step: RefusingStep | null, code: string, view: SystemView,
): FileErrorDescription {
  const user = describeUser(view.uid ?? 'unknown', view.userName());
  const cause = `${message} as ${user}`;
  if (step === null) return { cause, remedy: null };
  if (step.uid === view.uid) {
    const rights = step.isDirectory ? 'u+rwx' : 'u+rw';
    // EPERM has another cause than these rights, such as a file that is immutable.
    return { cause, remedy: code === 'EPERM' ? null : `chmod ${rights} ${quotePath(step.path)}` };
  }
  const owner = describeUser(step.uid, step.uid === ROOT ? 'root' : null);
  const folder = findOwnFolder(step.path, view);
  return {
    cause: `${cause}: ${step.path} belongs to ${owner}`,
    remedy: folder === null
      ? `run as its owner, ${owner}, or let ${user} in; its rights: ls -ld ${quotePath(step.path)}`
      : `chown -R ${view.userName() ?? view.uid}: ${quotePath(folder)}`,
  };
}

/** Finds the step that refused: the file, the folder that is changed, or the last visible step. */
function findRefusingStep(error: unknown, view: SystemView): RefusingStep | null {
  const path = readPath(error);
  if (path === null) return null;
  let current = FOLDER_CALLS.includes(readSyscall(error)) ? dirname(path) : path;
  for (;;) {
    const step = view.look(current);
    if (step !== null) return { path: current, ...step };
    if (dirname(current) === current) return null;
    current = dirname(current);
  }
}

/** Finds the nearest folder above `path` that is ours: everything in it should be ours, too. */
function findOwnFolder(path: string, view: SystemView): string | null {
  for (let current = path; dirname(current) !== current;) {
    current = dirname(current);
    if (view.look(current)?.uid === view.uid) return current;
  }
  return null;
}

/** Finds the mount point above the path; without a list of mounts, the nearest folder. */
function findMount(path: string, view: SystemView): string {
  const folder = view.resolveLinks(view.look(path) === null ? dirname(path) : path);
  const points = view.readMounts().split('\n').map((line) =>
    (line.split(' ')[4] ?? '').replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8))));
  const above = points.filter((point) => point !== ''
    && `${folder}/`.startsWith(point.endsWith('/') ? point : `${point}/`));
  return above.reduce((longest, point) => point.length > longest.length ? point : longest, '')
    || folder;
}

function readPath(error: unknown): string | null {
  // Sockets in the file system have an address.
  const path: unknown = Reflect.get(Object(error), 'path') ?? Reflect.get(Object(error), 'address');
  return typeof path === 'string' && path.startsWith('/') ? path : null;
}

function readSyscall(error: unknown): string {
  return String(Reflect.get(Object(error), 'syscall'));
}

function createSystemView(): SystemView {
  return {
    uid: process.geteuid?.() ?? null,
    userName: () => attempt(() => userInfo().username),
    look: (path) => attempt(() => {
      const status = lstatSync(path);
      return { uid: status.uid, isDirectory: status.isDirectory() };
    }),
    resolveLinks: (path) => attempt(() => realpathSync(path)) ?? path,
    readMounts: () => attempt(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? '',
  };
}

function attempt<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
