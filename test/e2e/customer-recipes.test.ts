/** The scripts of the chapter on customers, as it prints them: signing up, renewing and ending. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readBlocks } from '../support/manual-blocks.ts';
import { QUICK_PROGRAM } from '../support/program.ts';
import { hasProgram } from '../support/shell.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

const missing = ['curl', 'openssl', 'jq'].filter((program) => !hasProgram(program));
const LINK = /^http:\S+\/console#token=hookshelf_[\w-]{43}\n$/;

function readScript(beginning: string): string {
  const block = readBlocks('src/manual/customers.md')
    .find(({ lines }) => lines.slice(0, 2).some((line) => line.startsWith(beginning)));
  assert.ok(block !== undefined, beginning);
  return `${block.lines.join('\n')}\n`;
}

type Result = { readonly status: number | null; readonly stdout: string; readonly stderr: string };
type Backend = {
  readonly server: Running;
  /** Sends the words over SSH, whose forced command is the script of the chapter. */
  ssh(words: string): Result;
  /** Runs a script of the chapter, of which this is how it begins, in the backend's folder. */
  run(beginning: string, ...words: string[]): Result;
};

/** A server with a token `backend` of its operator, and the folder of a backend. */
function inBackend(use: (backend: Backend) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    const data = join(folder, 'data');
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const server = await startServer(['--data', data]);
    const program = (name: string, text: string): void =>
      writeFileSync(join(bin, name), text, { mode: 0o755 });
    program('hookshelf',
      `#!/bin/sh\nexec '${process.execPath}' '${QUICK_PROGRAM}' "$@" --data '${data}'\n`);
    program('hooks-customer', readScript('# link <name>'));
    program('ssh', '#!/bin/sh\nSSH_ORIGINAL_COMMAND=$2 exec hooks-customer\n');
    const made = await hookshelf(
      ['token:create', '--name', 'backend', '--scope', 'admin', '--data', data]);
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, TOKEN: made.stdout.trim() };
    const spawn = (file: string, args: readonly string[]): Result =>
      spawnSync(file, args, { cwd: folder, env, encoding: 'utf8' });
    try {
      await use({
        server,
        ssh: (words) => spawn('ssh', ['hooks', words]),
        run: (beginning, ...words) => spawn('sh', ['-c',
          readScript(beginning).replaceAll('https://hooks.example.com', server.url), 'sh',
          ...words]),
      });
    } finally {
      await server.stop();
    }
  });
}

/** The status of a request with the token of a link. */
async function access(server: Running, link: string): Promise<number> {
  const [, token = ''] = link.trim().split('#token=');
  const { status } = await fetch(`${server.url}/api/access`,
    { headers: { authorization: `Bearer ${token}` } });
  return status;
}

test('a customer is signed up by two calls, again where an answer was lost, and ended', {
  skip: missing.length > 0 && `${missing.join(', ')} must be there`,
}, () => inBackend(async ({ server, ssh, run }) => {
  const signUp = () => splitAnswer(run('# provision', 'backend', 'https://b.example/'));
  const [code, link = ''] = signUp();
  assert.equal(code, '201');
  const [codeAgain, linkAgain = ''] = signUp();
  assert.equal(codeAgain, '409');
  assert.deepEqual([await access(server, link), await access(server, linkAgain)], [401, 200]);
  const renewed = ssh('renew backend');
  assert.deepEqual([renewed.status, renewed.stdout], [0, '']);
  assert.match(renewed.stderr, /1 of 1 name left out/);
  const other = ssh('link other');
  const ended = run('# end', 'backend');
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(await access(server, linkAgain), 401);
  assert.equal(await access(server, other.stdout), 200);
  // The operator's token of the customer's own name goes on, and has deleted the webhook.
  assert.equal(signUp()[0], '201');
  assert.equal(ssh('end backend').status, 0);
  assert.equal(ssh('end backend').status, 1);
}));

test('the key of the backend does nothing but the three words for a customer', {
  skip: missing.length > 0 && `${missing.join(', ')} must be there`,
}, () => inBackend(async ({ ssh }) => {
  for (const words of ['', 'link', 'link ', 'link a b', 'link a.b', 'link $(id)', 'link a;id',
    'link *', 'link -a=b', 'serve a', 'link a\nb', '--help a']) {
    const { status, stdout } = ssh(words);
    assert.deepEqual([status, stdout], [2, ''], words);
  }
  assert.match(ssh('link -help').stdout, LINK);
}));

/** Splits the output of the script that signs up: the status of the API, then the link. */
function splitAnswer({ stdout, stderr }: Result): readonly string[] {
  const [code = '', ...rest] = stdout.split('\n');
  assert.match(rest.join('\n'), LINK, stderr);
  return [code, rest.join('\n')];
}
