import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainFileError } from '../../src/base/file-error.ts';
import type { SystemView } from '../../src/base/file-error.ts';

const MOUNTS = [
  '21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
  '22 21 8:2 / /srv ro,relatime - ext4 /dev/sdb1 ro',
  '23 21 8:3 / /srv/my\\040books ro - ext4 /dev/sdc1 ro',
].join('\n');

/** The folders and files of `owners`, as user 65534 sees them. */
function view(owners: Readonly<Record<string, number>>, name: string | null): SystemView {
  return {
    uid: 65_534,
    userName: () => name,
    look: (path) => {
      const uid = owners[path];
      return uid === undefined ? null : { uid, isDirectory: !path.includes('.') };
    },
    resolveLinks: (path) => path.replace('/link', '/srv'),
    readMounts: () => MOUNTS,
  };
}

function refusal(code: string, syscall: string, path?: string): Error {
  const target = path === undefined ? '' : ` '${path}'`;
  return Object.assign(new Error(`${code}: no, ${syscall}${target}`), { code, syscall, path });
}

const DATA = { '/': 0, '/srv': 0, '/srv/data': 65_534, '/srv/data/journal-1.x': 0 };

const CASES: readonly {
  readonly name: string; readonly error: Error; readonly text: string;
  readonly owners?: Readonly<Record<string, number>>; readonly user?: string;
}[] = [
  {
    name: 'a file of root in our folder', user: 'nobody', owners: DATA,
    error: refusal('EACCES', 'open', '/srv/data/journal-1.x'),
    text: 'EACCES: no, open \'/srv/data/journal-1.x\' as user 65534 (nobody): '
      + '/srv/data/journal-1.x belongs to user 0 (root); chown -R nobody: /srv/data',
  },
  {
    name: 'a folder of root in ours, and a user whose name nobody knows',
    owners: { '/a b': 65_534, '/a b/c': 0 },
    error: refusal('EACCES', 'open', '/a b/c/d.x'),
    text: 'EACCES: no, open \'/a b/c/d.x\' as user 65534: /a b/c belongs to user 0 (root); '
      + 'chown -R 65534: \'/a b\'',
  },
  {
    name: 'a folder of somebody else', user: 'nobody', owners: { '/': 0, '/srv': 7 },
    error: refusal('EACCES', 'mkdir', '/srv/data'),
    text: 'EACCES: no, mkdir \'/srv/data\' as user 65534 (nobody): /srv belongs to user 7; run as '
      + 'its owner, user 7, or let user 65534 (nobody) in; its rights: ls -ld /srv',
  },
  {
    name: 'our own file without rights', user: 'nobody', owners: { '/srv/k.pem': 65_534 },
    error: refusal('EACCES', 'open', '/srv/k.pem'),
    text: 'EACCES: no, open \'/srv/k.pem\' as user 65534 (nobody); chmod u+rw /srv/k.pem',
  },
  {
    name: 'our own folder without rights', user: 'nobody', owners: DATA,
    error: refusal('EACCES', 'unlink', '/srv/data/journal-1.x'),
    text: 'EACCES: no, unlink \'/srv/data/journal-1.x\' as user 65534 (nobody); '
      + 'chmod u+rwx /srv/data',
  },
  {
    name: 'what chmod does not mend', user: 'nobody', owners: { '/srv/k.pem': 65_534 },
    error: refusal('EPERM', 'open', '/srv/k.pem'),
    text: 'EPERM: no, open \'/srv/k.pem\' as user 65534 (nobody)',
  },
  {
    name: 'a mount that is read-only, by its longest name',
    error: refusal('EROFS', 'open', '/link/my books/lock'),
    text: 'EROFS: no, open \'/link/my books/lock\': its file system is mounted read-only: '
      + '/srv/my books; mount it for writing (mount -o remount,rw \'/srv/my books\', in a '
      + 'container its volume without ro, in a systemd unit ReadWritePaths=)',
  },
  {
    name: 'the mount point itself', owners: { '/srv': 0 },
    error: refusal('EROFS', 'access', '/srv'),
    text: 'EROFS: no, access \'/srv\': its file system is mounted read-only: /srv; mount it for '
      + 'writing (mount -o remount,rw /srv, in a container its volume without ro, in a systemd '
      + 'unit ReadWritePaths=)',
  },
  {
    name: 'a mount that became read-only under an open file',
    error: refusal('EROFS', 'write'),
    text: 'EROFS: no, write: its file system is mounted read-only; mount it for writing (in a '
      + 'container its volume without ro, in a systemd unit ReadWritePaths=)',
  },
  {
    name: 'a full disk', error: refusal('ENOSPC', 'write'),
    text: 'ENOSPC: no, write; free some room on the disk and try again',
  },
  {
    name: 'a full quota', error: refusal('EDQUOT', 'write'),
    text: 'EDQUOT: no, write; free some room, or raise the quota of this user, and try again',
  },
  {
    name: 'a refusal without a path', user: 'nobody', error: refusal('EPERM', 'kill'),
    text: 'EPERM: no, kill as user 65534 (nobody)',
  },
  {
    name: 'another error', error: refusal('ENOENT', 'open', '/x'),
    text: 'ENOENT: no, open \'/x\'',
  },
  {
    name: 'a program that may not run', error: refusal('EACCES', 'spawn x', '/srv/data'),
    text: 'EACCES: no, spawn x \'/srv/data\'',
  },
];

for (const { name, error, text, owners = {}, user = null } of CASES) {
  test(`a refusal of the file system tells its cause and its remedy: ${name}`, () => {
    assert.equal(explainFileError(error, view(owners, user)), text);
  });
}

test('this system is asked where nobody else is', () => {
  const error = refusal('EROFS', 'open', '/nowhere/at/all');
  assert.match(explainFileError(error), /is mounted read-only: \//);
  const refused = refusal('EACCES', 'open', '/proc/1/nowhere');
  assert.match(explainFileError(refused), / as user \d+/);
});
