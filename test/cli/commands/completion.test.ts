/** What the three shells offer for a line, the cursor at its end. Each is driven for real. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { WRITTEN_FORMATS } from '../../../src/books/transfer/format-list.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { createDelivery, createRouteDelivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { encodeDelivery } from '../../../src/webhooks/deliveries/delivery-codec.ts';
import { encodeEvent, encodeForward } from '../../../src/webhooks/deliveries/event-record.ts';
import { withAppStore } from '../../support/app-store.ts';
import { hasProgram } from '../../support/shell.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { runCommand } from '../io.ts';
import { ALL_WAYS, inPlace } from '../place.ts';

const scriptFor = async (shell: string) => (await runCommand(['completion', shell])).stdout;
const SCRIPTS = {
  bash: await scriptFor('bash'), zsh: await scriptFor('zsh'), fish: await scriptFor('fish'),
};
/** Stands in for the program, and says what it was asked. */
const ASKED = `#!/bin/sh
[ "$1" = completion:values ] || exit 1
printf '%s\\n' "$2-1" "$2-2"
if [ "$3" = --data ]; then printf '%s\\n' "$2-in-$4"; fi
if [ "$3" = --server ]; then printf '%s\\n' "$2-of-$4-$5-$6"; fi
`;

/** Stands in for a program that a server has deceived. */
const HOSTILE_VALUES = `#!/bin/sh
printf '%s\\n' plain '$(touch owned)' '\`touch owned\`' '*' '; touch owned' '\${x:=\$(touch owned)}'
`;

const NAMES = COMMANDS.map(({ name }) => name);
const FORMATS = WRITTEN_FORMATS.map(({ name }) => name).sort();
const SHOW_OPTIONS = [
  'config', 'data', 'debug', 'help', 'id', 'identifier', 'json', 'server', 'token-file',
];
const SERVE_OPTIONS = [
  'allow-anonymous', 'apply', 'config', 'data', 'debug', 'help', 'host', 'json', 'max-memory',
  'no-overlap', 'port', 'prune', 'set', 'yes',
];

/** A folder holds `books.csv` and the folder `shelf`. */
const OFFERS: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['hookshelf ', NAMES],
  ['hookshelf book:im', ['book:import']],
  ['hookshelf sett', ['settings:show']],
  ['hookshelf --', dashed([...SERVE_OPTIONS, 'version'])],
  ['hookshelf serve --', dashed(SERVE_OPTIONS)],
  ['hookshelf --data shelf del', NAMES.filter((name) => name.startsWith('delivery:'))],
  ['hookshelf -p 9000 --allow', ['--allow-anonymous']],
  ['hookshelf book:show --', dashed(SHOW_OPTIONS)],
  ['hookshelf --json book:show --id', ['--id', '--identifier']],
  ['hookshelf book:export --format ', FORMATS],
  ['hookshelf book:import --match ', ['isbn', 'source', 'title']],
  ['hookshelf book:export --file bo', ['books.csv']],
  ['hookshelf book:export --data ', ['shelf']],
  ['hookshelf apply --file bo', ['books.csv']],
  ['hookshelf serve --apply bo', ['books.csv']],
  ['hookshelf book:list --limit ', []],
  ['hookshelf token:create --name help --sc', ['--scope']],
  ['hookshelf delivery:list --status p', ['pending']],
  ['hookshelf completion ', ['bash', 'fish', 'zsh']],
  ['hookshelf help data:ba', ['data:backup']],
  ['hookshelf book:list --sort ',
    ['author', 'createdAt', 'datePublished', 'id', 'title', 'updatedAt']],
  ['hookshelf book:show ', ['books-1', 'books-2']],
  ['hookshelf book:show --id books-2', ['books-2']],
  ['hookshelf --data shelf token:revoke ', ['tokens-1', 'tokens-2', 'tokens-in-shelf']],
  ['hookshelf book:show --server http://shelf --token-file key ',
    ['books-1', 'books-2', 'books-of-http://shelf---token-file-key']],
  ['hookshelf incomingwebhook:create --action-config ',
    ['action-configurations-1', 'action-configurations-2']],
  ['hookshelf actionconfig:update --identifier ',
    ['action-configurations-1', 'action-configurations-2']],
  ['hookshelf actionconfig:create --identifier ', []],
  ['hookshelf actionconfig:create --action act', ['actions-1', 'actions-2']],
  ['hookshelf delivery:list --hook ', ['outgoing-webhooks-1', 'outgoing-webhooks-2']],
  ['hookshelf delivery:retry --failed ', ['deliveries-1', 'deliveries-2']],
  ['hookshelf incomingwebhook:show ', ['incoming-webhooks-1', 'incoming-webhooks-2']],
  ['hookshelf help book:import --', dashed(['config', 'data', 'debug', 'help', 'json'])],
];

/** What a shell offers for each line. */
type Offers = (lines: readonly string[], folder: string, bin?: string) => string[][];

const SHELLS: Readonly<Record<string, Offers>> = {
  bash: bashOffers, zsh: zshOffers, fish: fishOffers,
};

for (const [name, offers] of Object.entries(SHELLS)) {
  test(`${name} completes commands, options and values`, {
    skip: !hasProgram(name) && `${name} is not installed`,
  }, async () => {
    const folder = createTemporaryFolder();
    writeFileSync(join(folder, 'books.csv'), '');
    writeFileSync(join(folder, 'hookshelf'), ASKED, { mode: 0o755 });
    mkdirSync(join(folder, 'shelf'));
    const found = offers(OFFERS.map(([line]) => line), folder);
    for (const [index, [line, words]] of OFFERS.entries()) {
      const offered = new Set(found[index]?.map((word) => word.replace(/\/$/, '')));
      offered.delete('');
      assert.deepEqual([...offered].sort(), [...words].sort(), line);
    }
  });

  test(`${name} expands nothing of what it offers, and runs no program of the folder`, {
    skip: !hasProgram(name) && `${name} is not installed`,
  }, () => {
    const folder = createTemporaryFolder();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'hookshelf'), HOSTILE_VALUES, { mode: 0o755 });
    writeFileSync(join(folder, 'hookshelf'), '#!/bin/sh\ntouch owned\n', { mode: 0o755 });
    writeFileSync(join(folder, '$(touch owned).csv'), '');
    const found = offers(['hookshelf book:show ', './hookshelf book:show ',
      'hookshelf book:show --server $(touch${IFS}owned) ', 'hookshelf apply --file '], folder, bin);
    assert.ok(found[0]?.includes('plain'), found[0]?.join('\n'));
    assert.ok(!existsSync(join(folder, 'owned')));
    if (name === 'bash') assert.ok(!found.flat().some((word) => /[$`*;]/.test(word)));
  });

  test(`the completion script for ${name} names every command`, async () => {
    const { stdout } = await runCommand(['completion', name]);
    const missing = NAMES.filter((command) =>
      !stdout.includes(command) && !stdout.includes(command.replaceAll(':', '\\:')));
    assert.deepEqual(missing, []);
  });
}

// Without a server the values are read from the files.
for (const way of ALL_WAYS) {
  test(`lists the values of each kind for completion, ${way}`, () => inPlace(way, async (place) => {
    const values = async (kind: string): Promise<string[]> => {
      const { code, stdout, stderr } = await place.run(['completion:values', kind]);
      assert.equal(code, 0, stderr);
      const { stdout: json } = await place.run(['completion:values', kind, '--json']);
      const lines = stdout.split('\n').slice(0, -1);
      assert.deepEqual(JSON.parse(json), lines);
      return lines;
    };
    const made = async (...words: string[]): Promise<string> => {
      const { id, identifier } = await place.json(words);
      return String(id ?? identifier);
    };
    await made('actionconfig:create', '--action', 'log', '--identifier', 'to-log');
    assert.deepEqual(await values('action-configurations'), ['to-log']);
    assert.ok((await values('actions')).includes('http-forward'));
    const book = await made('book:add', '--input', '{"title":"a"}');
    assert.deepEqual(await values('books'), [book]);
    const hook = await made(
      'incomingwebhook:create', '--path-segment', 'deploy', '--action-config', 'to-log');
    assert.deepEqual(await values('incoming-webhooks'), ['deploy', hook]);
    const target = await made(
      'outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9', '--trigger-event', 'a.b');
    assert.deepEqual(await values('outgoing-webhooks'), [target]);
    const emitted = await place.json(['event:emit', '--name', 'a.b', '--payload', '1']);
    assert.deepEqual(await values('deliveries'), emitted['deliveries']);
    assert.deepEqual(await values('events'), [emitted['event']]);
    const token = await made('token:create', '--name', 'ci', '--scope', 'read');
    if (way === 'over the network') {
      const { code, stderr } = await place.run(['completion:values', 'tokens']);
      assert.equal(code, 2);
      assert.match(stderr, /does not offer this: run the command on that machine/);
    } else {
      assert.deepEqual(await values('tokens'), [token]);
    }
  }));
}

test('from files completion offers no forward as an event, and no route delivery', async () => {
  const data = join(createTemporaryFolder(), 'data');
  const event = '01890000-0000-7000-8000-000000000001';
  const forward = '01890000-0000-7000-8000-000000000002';
  const delivery = '01890000-0000-7000-8000-000000000003';
  const createdAt = '2026-01-01T00:00:00.000Z';
  await withAppStore(data, (store) => store.transact((transaction) => {
    transaction.put('events', event, encodeEvent({
      identifier: event, createdAt, name: 'a.b', source: 'api', hops: 0, webhookIds: [],
    }, '1'));
    transaction.put('events', forward, encodeForward({ identifier: forward, createdAt },
      { url: 'http://there/', method: 'POST', headers: {}, body: null }));
    transaction.put('deliveries', delivery, encodeDelivery(createDelivery(
      { identifier: delivery, hook: null, event: null, eventId: forward }, createdAt)), true);
    const route = createRouteDelivery({ id: event, hook: 'hook' }, 0, 'default', createdAt);
    transaction.put('deliveries', route.identifier, encodeDelivery(route));
  }));
  for (const [kind, id] of [['events', event], ['deliveries', delivery]] as const) {
    const { code, stdout } = await runCommand(['completion:values', kind, '--data', data]);
    assert.deepEqual([code, stdout], [0, `${id}\n`]);
  }
});

test('completion asks no socket outside of the data directory', async () => {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  await runCommand(['book:add', '--input', '{"title":"a"}', '--data', data]);
  let calls = 0;
  const agent = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  const path = join(folder, 'agent.sock');
  await new Promise<void>((resolve) => agent.listen(path, resolve));
  try {
    symlinkSync(path, join(data, 'control.sock'));
    for (const socketPath of [path, join(data, 'control.sock')]) {
      writeFileSync(join(data, 'lock'), JSON.stringify({ pid: 1, kind: 'server', socketPath }));
      const { code, stdout } = await runCommand(['completion:values', 'books', '--data', data]);
      assert.deepEqual([code, stdout.split('\n').length, calls], [0, 2, 0], socketPath);
    }
  } finally {
    agent.close();
  }
});

test('completion obeys no settings file of a folder, and changes nothing there', async () => {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  let calls = 0;
  const elsewhere = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  try {
    await runCommand(['book:add', '--input', '{"title":"a"}', '--data', data]);
    const address = elsewhere.address();
    assert.ok(address !== null && typeof address === 'object');
    writeFileSync(join(folder, 'password'), 'secret', { mode: 0o600 });
    writeFileSync(join(data, 'settings.json'), JSON.stringify({ store: {
      url: `postgres://user@127.0.0.1:${address.port}/db`,
      passwordFile: join(folder, 'password'),
    } }));
    rmSync(join(data, 'lock'));
    const names = readdirSync(data).sort();
    const { code, stdout } = await runCommand(['completion:values', 'books', '--data', data]);
    assert.deepEqual([code, stdout.split('\n').length], [0, 2]);
    assert.equal(calls, 0);
    assert.deepEqual(readdirSync(data).sort(), names);
  } finally {
    elsewhere.close();
  }
});

function dashed(names: readonly string[]): string[] {
  return names.map((name) => `--${name}`);
}

/** Runs a shell once for all lines; after what it offers for one it prints `END`. */
function run(
  program: string, words: readonly string[], cwd: string, bin: string,
): string[][] {
  const { stdout, stderr, status } = spawnSync(program, words, {
    cwd, encoding: 'utf8', timeout: 120_000,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: cwd },
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout.split('END\n').map((part) => part.split('\n'));
}

/** A file, because an argument may have 128 KiB; not in the folder, whose files are offered. */
function writeScript(...parts: readonly string[]): string {
  const file = join(createTemporaryFolder(), 'script');
  writeFileSync(file, `${parts.join('\n')}\n`);
  return file;
}

/** Readline's part done by hand: words end at colons too, and only the last is replaced. */
function bashOffers(lines: readonly string[], folder: string, bin = folder): string[][] {
  const asked = lines.map((line) => {
    const words = line.split(/([\s:])/).filter((word) => word.trim() !== '');
    const list = words.map((word) => `'${word}'`).join(' ');
    const last = /\s$/.test(line) ? " ''" : '';
    const index = words.length - (last === '' ? 1 : 0);
    return `COMPREPLY=()
COMP_LINE='${line}' COMP_POINT=${line.length} COMP_CWORD=${index} COMP_WORDS=(${list}${last})
_hookshelf
printf '%s\n' "\${COMPREPLY[@]}" END`;
  });
  const file = writeScript(SCRIPTS.bash, "COMP_WORDBREAKS=$' \t\n:='", ...asked);
  const found = run('bash', [file], folder, bin);
  return lines.map((line, index) => {
    const before = /\S*:(?=\S*$)/.exec(line)?.[0] ?? '';
    return (found[index] ?? []).map((word) => word && before + word);
  });
}

/**
 * An interactive zsh on a terminal of its own, in which compadd also tells what it is given. Its
 * line editor asks for all lines as it starts: nothing is typed, so nothing typed can be missed.
 */
function zshOffers(lines: readonly string[], folder: string, bin = folder): string[][] {
  mkdirSync(join(folder, '.zfunc'));
  writeFileSync(join(folder, '.zfunc/_hookshelf'), SCRIPTS.zsh);
  writeFileSync(join(folder, '.lines'), lines.join('\n'));
  writeFileSync(join(folder, '.zshrc'), ZSH_SETUP);
  return run('zsh', ['-f', '-c', ZSH_DRIVER], folder, bin);
}

const ZSH_SETUP = `
fpath=($PWD/.zfunc $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
  # Asked what would match, it adds nothing.
  [[ " $* " == *' -'[OAD]' '* ]] && { builtin compadd "$@"; return }
  local -a hits
  builtin compadd -A hits "$@"
  print -rl -- "\${hits[@]}" >> .offers
  builtin compadd "$@"
}
capture() { _main_complete; compstate[insert]= compstate[list]= }
zle -C capture list-choices capture
ask() {
  local line
  for line in "\${(@f)$(<.lines)}"; do
    BUFFER=$line CURSOR=$#line
    zle capture
    print END >> .offers
  done
  : > .asked
}
zle -N zle-line-init ask
`;

const ZSH_DRIVER = `
zmodload zsh/zpty zsh/zselect
ZDOTDIR=$PWD zpty inner zsh -d -i
until [[ -e .asked ]]; do
  zpty -r -t inner output
  zselect -t 2
done
cat .offers
zpty -d inner
`;

function fishOffers(lines: readonly string[], folder: string, bin = folder): string[][] {
  const file = writeScript(SCRIPTS.fish,
    ...lines.map((line) => `complete -C '${line}'\necho END`));
  return run('fish', ['--no-config', file], folder, bin)
    .map((offers) => offers.map((offer) => offer.split('\t')[0] ?? ''));
}
