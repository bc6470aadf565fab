/** Real processes: hooks that run programs, from the request to what is left when all is over. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isRunning } from '../support/is-running.ts';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { needsRoot, NOBODY, makeNobodys } from '../support/users.ts';
import { CommandHooks } from './command-hooks.ts';
import { hookshelf } from './processes.ts';

const ACCEPTED = { answer: 'accepted', inbox: 'all' };

/** The pid that a script has written. */
async function readPid(path: string): Promise<number> {
  await until(`${path} is written`, () =>
    existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
  return Number(readFileSync(path, 'utf8'));
}

/** Starts a server, and a command for a request that is kept. Resolves with the command's pid. */
async function startLongCommand(hooks: CommandHooks): Promise<number> {
  const pid = join(hooks.folder, 'pid');
  hooks.add('long.sh', `echo $$ > ${pid}; exec sleep 60`);
  await hooks.start();
  await hooks.hook('long', { command: 'long.sh' }, ACCEPTED);
  await hooks.call('long');
  return readPid(pid);
}

test('a command may call hookshelf: what it is told is no setting', async () => {
  const hooks = new CommandHooks({ HOOKSHELF_ACTIONS_ENVIRONMENT: 'HOOKSHELF_SERVER' });
  hooks.add('call.sh', `exec ${process.execPath} ${PROGRAM} request:list --json`);
  await hooks.start();
  await hooks.hook('call', {
    command: 'call.sh', output: 'result', timeout: 60,
    environment: { HOOKSHELF_SERVER: hooks.server.url },
  });
  const { status, message, data } = await hooks.call('call');
  assert.deepEqual([status, message, data['output']], [200, '', []]);
  await hooks.server.stop();
});

test('after kill -9 nothing is left, and what was accepted runs again', async () => {
  const hooks = new CommandHooks({ HOOKSHELF_INCOMING_RETRY_SCHEDULE: '[0.05]' });
  const pids = join(hooks.folder, 'pids');
  mkdirSync(pids);
  hooks.add('long.sh', `sleep 60 & echo $! > ${pids}/child-$HOOKSHELF_ATTEMPT
    [ -e ${pids}/again ] && exit 0
    echo $$ > ${pids}/leader; cat "$HOOK_KEY" > /dev/null; wait`);
  await hooks.start();
  await hooks.hook('long', { command: 'long.sh', files: { HOOK_KEY: 'secret' } },
    ACCEPTED);
  assert.equal((await hooks.call('long')).status, 200);
  const leader = await readPid(join(pids, 'leader'));
  const child = await readPid(join(pids, 'child-1'));
  // The command may have been faster than its note.
  await until('the command is noted', () => hooks.runFolders().length === 1);
  await hooks.server.stop('SIGKILL');
  assert.ok(isRunning(leader) && isRunning(child));
  writeFileSync(join(pids, 'again'), '');
  await hooks.start();
  assert.ok(!isRunning(leader) && !isRunning(child));
  await until('it has run again', async () =>
    (await hooks.requests())[0]?.status === 'done');
  await until('no folder is left', () => hooks.runFolders().length === 0);
  const again = await readPid(join(pids, 'child-1'));
  await until('the child of the second run has ended', () => !isRunning(again));
  await hooks.server.stop();
});

test('a start without the setting also ends what an earlier one has left', async () => {
  const hooks = new CommandHooks();
  const leader = await startLongCommand(hooks);
  await hooks.server.stop('SIGKILL');
  assert.ok(isRunning(leader));
  await hooks.start({ HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: '' });
  assert.ok(!isRunning(leader));
  assert.deepEqual(hooks.runFolders(), []);
  assert.ok(!(await hooks.ask('/api/actions')).text.includes('run-command'));
  await hooks.server.stop();
});

test('a stopping server waits for commands', async () => {
  const hooks = new CommandHooks();
  const [started, done] = [join(hooks.folder, 'started'), join(hooks.folder, 'done')];
  hooks.add('wait.sh', `echo $$ > ${started}; sleep 0.5; echo done > ${done}`);
  await hooks.start();
  await hooks.hook('wait', { command: 'wait.sh' });
  const answer = hooks.call('wait');
  await readPid(started);
  await hooks.server.stop();
  assert.equal((await answer).status, 200);
  assert.ok(existsSync(done));
});

test('a server that has waited ends its commands, and runs what was accepted later', async () => {
  const hooks = new CommandHooks({ HOOKSHELF_SERVER_SHUTDOWN_TIMEOUT: '0.2' });
  const [started, again] = [join(hooks.folder, 'started'), join(hooks.folder, 'again')];
  hooks.add('long.sh', `[ -e ${again} ] && exit 0; echo $$ > ${started}; exec sleep 60`);
  await hooks.start();
  await hooks.hook('long', { command: 'long.sh' }, ACCEPTED);
  await hooks.call('long');
  const leader = await readPid(started);
  const { code } = await hooks.server.stop();
  assert.equal(code, 0);
  assert.ok(!isRunning(leader));
  assert.deepEqual(hooks.runFolders(), []);
  writeFileSync(again, '');
  await hooks.start();
  await until('it is done', async () => (await hooks.requests())[0]?.status === 'done');
  const [request] = await hooks.requests();
  // That the server stopped says nothing of the command.
  assert.equal(request?.routes[0]?.attempts.length, 1);
  await hooks.server.stop();
});

test('a start is refused by a folder that is missing or that others may change', async () => {
  await inFolder(async (folder) => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const cases: readonly (readonly [path: string, problem: RegExp])[] = [
      [join(folder, 'none'), /none: is not there; make the folder, or correct the setting/],
      [open, /open: is writable by group or others; run: chmod go-w '.*open'/],
      ['hooks', /`actions\.commandDirectory` must be an absolute path, not "hooks"/],
    ];
    for (const [path, problem] of cases) {
      const { code, stderr } = await hookshelf(
        ['serve', '--port', '0', '--data', join(folder, 'data')],
        { environment: { HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: path } });
      assert.equal(code, 2, stderr);
      assert.match(stderr, problem);
    }
  });
});

test('doctor looks at the folder and its programs', async () => {
  const hooks = new CommandHooks();
  const look = async (path: string): Promise<readonly [status: string, text: string]> => {
    const { stdout } = await hookshelf(['doctor', '--json', '--data', hooks.data],
      { environment: { HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: path } });
    const { status, detail } = JSON.parse(stdout).find(
      ({ check }: { readonly check: string }) => check === 'commands');
    return [status, detail];
  };
  assert.match((await look('')).join(), /^ok,actions\.commandDirectory names no folder/);
  assert.match((await look(hooks.path)).join(), /^warning,no file in .*hooks is executable/);
  const path = hooks.add('deploy.sh', 'true');
  assert.match((await look(hooks.path)).join(), /^ok,.*hooks holds 1 executable file$/);
  chmodSync(path, 0o644);
  assert.match((await look(hooks.path)).join(), /^warning,hooks cannot run deploy\.sh \(.*u\+x/);
  chmodSync(path, 0o777);
  assert.match((await look(hooks.path)).join(), /^warning,hooks cannot run deploy\.sh \(.*chmod/);
  chmodSync(hooks.path, 0o777);
  assert.match((await look(hooks.path)).join(), /^failed,.*hooks: is writable by group/);
});

test('commands of a server that root starts are its user\'s, with that home', {
  skip: needsRoot,
}, async () => {
  const hooks = new CommandHooks();
  makeNobodys(hooks.data);
  hooks.add('who.sh', 'id -u; id -G; echo "$HOME"; touch "$PWD/mine" && stat -c %u "$PWD/mine"');
  await hooks.start({ HOME: '/root' });
  await hooks.hook('who', { command: 'who.sh', output: 'result' });
  const { data } = await hooks.call('who');
  const [user, groups, home, owner] = String(data['output']).split('\n');
  assert.deepEqual([user, owner], [String(NOBODY), String(NOBODY)]);
  assert.ok(!groups?.split(' ').includes('0'), groups);
  assert.notEqual(home, '/root');
  await hooks.server.stop();
});

test('a backup has no folders of runs', async () => {
  const hooks = new CommandHooks();
  const leader = await startLongCommand(hooks);
  const target = join(hooks.folder, 'backup');
  const { code, stderr } = await hookshelf(['data:backup', '--data', hooks.data, '--to', target]);
  assert.equal(code, 0, stderr);
  assert.ok(!existsSync(join(target, 'command-runs')));
  await hooks.server.stop('SIGKILL');
  process.kill(leader, 'SIGKILL');
});
