/**
 * The scripts of the chapter on customers, as it prints them: signing up, renewing and ending, the
 * events of the backend, links for a list of names, and webhooks in a file.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
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
  readonly folder: string;
  /** Runs the script that emits an event with the token, and returns the answer. */
  emit(token: string, ...words: string[]): string;
  /** Runs a line of a shell in the backend's folder. */
  shell(line: string): Result;
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
    const spawn = (file: string, args: readonly string[], variables = {}): Result =>
      spawnSync(file, args, { cwd: folder, env: { ...env, ...variables }, encoding: 'utf8' });
    const runScript = (beginning: string, words: readonly string[], variables = {}): Result =>
      spawn('sh', ['-c',
        readScript(beginning).replaceAll('https://hooks.example.com', server.url), 'sh', ...words,
      ], variables);
    try {
      await use({
        server,
        folder,
        shell: (line) => spawn('sh', ['-c', line]),
        ssh: (words) => spawn('ssh', ['hooks', words]),
        run: (beginning, ...words) => runScript(beginning, words),
        emit: (token, ...words) => runScript('# emit', words, { EVENTS_TOKEN: token }).stdout,
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
}, () => inBackend(async ({ server, folder, shell, ssh, run }) => {
  const signUp = () => splitAnswer(run('# provision', 'backend', 'https://b.example/'));
  const [code, link = ''] = signUp();
  assert.equal(code, '201');
  const [codeAgain, linkAgain = ''] = signUp();
  assert.equal(codeAgain, '409');
  assert.deepEqual([await access(server, link), await access(server, linkAgain)], [401, 200]);
  const renewed = ssh('renew backend');
  assert.deepEqual([renewed.status, renewed.stdout], [0, '']);
  assert.match(renewed.stderr, /1 of 1 name left out/);
  // A refused call makes no link, and ends none.
  for (const [name, target, answer] of [
    ['mistaken', 'no url', '422\n'], ['backend', 'https://other.example/', '409\n'],
  ] as const) {
    const refused = run('# provision', name, target);
    assert.deepEqual([refused.status, refused.stdout], [1, answer]);
    assert.notEqual(refused.stderr, '');
  }
  assert.equal(await access(server, linkAgain), 200);
  const other = ssh('link other');
  for (const name of ['backend-two', 'back']) run('# provision', name, 'https://b.example/');
  shell('hookshelf outgoingwebhook:create --name customer-backend.eu '
    + '--target-url https://b.example/ --trigger-event x');
  const dotted = run('# provision', 'backend.eu', 'https://b.example/');
  assert.deepEqual([dotted.status, dotted.stdout], [2, '']);
  const ended = run('# end', 'backend');
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(shell("hookshelf outgoingwebhook:list --json | jq -r '.[].name' | sort").stdout,
    'customer-back\ncustomer-backend-two\n');
  assert.equal(await access(server, linkAgain), 401);
  assert.equal(await access(server, other.stdout), 200);
  assert.equal(run('# end', 'backend').status, 2);
  // The answer to the last call of the script was lost: the same call does the rest.
  shell('hookshelf outgoingwebhook:delete customer-back');
  assert.equal(run('# end', 'back').status, 0);
  assert.deepEqual(readdirSync(join(folder, 'secrets')).sort(), ['backend-two', 'mistaken']);
  // The operator's token of the customer's own name goes on, and has deleted the webhook.
  assert.equal(signUp()[0], '201');
  assert.equal(ssh('end backend').status, 0);
  assert.equal(ssh('end backend').status, 1);
}));

test('the key of the backend does nothing but the three words for a customer', {
  skip: missing.length > 0 && `${missing.join(', ')} must be there`,
}, () => inBackend(async ({ ssh }) => {
  for (const words of ['', 'link', 'link ', 'link a b', 'link a.b', 'link $(id)', 'link a;id',
    'link *', 'link b*', 'link -a=b', 'serve a', 'link a\nb', '--help a']) {
    const { status, stdout } = ssh(words);
    assert.deepEqual([status, stdout], [2, ''], words);
  }
  assert.match(ssh('link -help').stdout, LINK);
}));

test('the backend emits by one call, and once however often it is made', {
  skip: missing.length > 0 && `${missing.join(', ')} must be there`,
}, () => inBackend(async ({ shell, run, emit }) => {
  run('# provision', 'acme', 'https://a.example/');
  const token = shell(readScript('hookshelf token:create --name events')).stdout.trim();
  const first = emit(token, 'invoice.paid', 'acme', '7', '25');
  assert.match(first, /^\{"event":"[\w-]+","deliveries":\["[\w-]+"\]\}$/);
  assert.equal(emit(token, 'invoice.paid', 'acme', '7', '25'), first);
  assert.match(emit(token, 'invoice.paid', 'nobody', '7', '25'), /"deliveries":\[\]/);
  assert.match(emit(token, 'order.paid', 'acme', '9', '25'), /"status":403/);
  assert.equal(shell('hookshelf delivery:list --json | jq length').stdout, '1\n');
}));

test('links for a list of names are for their owner alone, and the next run adds its own', {
  skip: missing.length > 0 && `${missing.join(', ')} must be there`,
}, () => inBackend(async ({ folder, shell }) => {
  const renew = (names: string): readonly string[] => {
    writeFileSync(join(folder, 'customers.txt'), names);
    const { status, stderr } = shell(readScript('umask'));
    assert.equal(status, 0, stderr);
    return readFileSync(join(folder, 'links.tsv'), 'utf8').split('\n');
  };
  const links = renew('acme\r\nbolt\r\n\r\n');
  assert.deepEqual(links.map((line) => line.split('\t')[0]),
    ['customer-acme', 'customer-bolt', '']);
  assert.equal(statSync(join(folder, 'links.tsv')).mode & 0o777, 0o600);
  assert.deepEqual(renew('acme\nbolt\ncorp\n').slice(0, 2), links.slice(0, 2));
}));

test('webhooks of a file are made of a list of Windows, kept in a fresh clone, and ended', {
  skip: missing.length > 0 && `${missing.join(', ')} must be there`,
}, () => inBackend(async ({ folder, shell, run }) => {
  const names = ['acme', 'bolt', 'corp'];
  writeFileSync(join(folder, 'customers.tsv'),
    names.map((name) => `${name}\thttps://${name}.example/hooks\r\n`).join(''));
  writeFileSync(join(folder, 'customers.sh'), readScript('# customers.sh'));
  const made = shell('sh customers.sh');
  assert.equal(made.status, 0, made.stderr);
  const list = (): readonly string[] => shell(
    "hookshelf outgoingwebhook:list --json | jq -r '.[] | [.name, .targetUrl] | join(\" \")'",
  ).stdout.trim().split('\n').sort();
  assert.deepEqual(list(),
    names.map((name) => `customer-${name} https://${name}.example/hooks`));
  shell('hookshelf token:create --name customer-acme --scope read --webhook customer-acme');
  const clone = shell('rm -r secrets; sh customers.sh');
  assert.match(clone.stdout, /^3 outgoing webhooks keep .*: secret \(customer-acme, customer-bo/);
  assert.match(clone.stdout, /\n= 3 unchanged\n$/);
  const before = readdirSync(folder);
  const planned = shell(`printf 'last\\thttps://a.example/\\n' >> customers.tsv
    sh customers.sh --dry-run; status=$?; sed -i /last/d customers.tsv; exit $status`);
  assert.deepEqual([planned.status, readdirSync(folder)], [3, before]);
  for (const name of ['acme.eu', 'acme-labs']) {
    shell(`hookshelf outgoingwebhook:create --name customer-${name} `
      + '--target-url https://hand.example/ --trigger-event x');
  }
  assert.equal(run('# leave', 'acm').status, 2);
  shell("hookshelf event:emit --name invoice.paid --payload '{\"customer\":\"acme\"}'");
  const ended = run('# leave', 'acme');
  assert.equal(ended.status, 0, ended.stderr);
  assert.deepEqual(list().map((line) => line.split(' ')[0]),
    ['customer-acme-labs', 'customer-bolt', 'customer-corp']);
  assert.doesNotMatch(readFileSync(join(folder, 'customers.tsv'), 'utf8'), /acme/);
  assert.deepEqual(readdirSync(join(folder, 'secrets')).sort(), ['bolt', 'corp', 'last']);
  assert.match(shell('sh customers.sh --prune').stdout, /= 2 unchanged\n$/);
  // The webhook is gone already, as after a call that has failed half way.
  shell('hookshelf outgoingwebhook:delete customer-bolt');
  assert.equal(run('# leave', 'bolt').status, 0);
  assert.deepEqual(readdirSync(join(folder, 'secrets')), ['corp', 'last']);
  for (const name of ['../evil', 'foo.bar', '']) {
    writeFileSync(join(folder, 'customers.tsv'), `${name}\thttps://a.example/\n`);
    assert.equal(shell('sh customers.sh').status, 2, name);
  }
  assert.deepEqual(readdirSync(join(folder, 'secrets')), ['corp', 'last']);
}));

/** Splits the output of the script that signs up: the status of the API, then the link. */
function splitAnswer({ stdout, stderr }: Result): readonly string[] {
  const [code = '', ...rest] = stdout.split('\n');
  assert.match(rest.join('\n'), LINK, stderr);
  return [code, rest.join('\n')];
}
