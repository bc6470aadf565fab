/** What bash, zsh and fish offer for a line, the cursor at its end. Each is driven for real. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { HOSTILE_NAMES } from '../support/hostile-names.ts';
import { QUICK_PROGRAM } from '../support/program.ts';
import { hasProgram } from '../support/shell.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { hookshelf } from './processes.ts';

const PROGRAM_SCRIPT = `#!/bin/sh\nexec '${process.execPath}' '${QUICK_PROGRAM}' "$@"\n`;
/** Stands in for a program that a server has deceived. */
const DECEIVED_SCRIPT = `#!/bin/sh
[ "$4" = --file ] && { echo file; exit; }
cat <<'END'
plain\tmeaning
${HOSTILE_NAMES.flatMap((name) => [`${name}\t`, `meant\t${name}`]).join('\n')}
END
echo 'hookshelf: an error' >&2
`;

/** The folder holds `books.csv` and a data directory `shelf`, in which is one book. */
const OFFERS: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['hookshelf book:im', ['book:import']],
  ['hookshelf --json book:show --id', ['--id', '--identifier']],
  ['hookshelf book:export --format=js', ['--format=json', '--format=jsonl', '--format=jsonld']],
  ['hookshelf book:export --file bo', ['books.csv']],
  ['hookshelf book:export --file=bo', ['books.csv']],
  ['hookshelf --data sh', ['shelf']],
  ['hookshelf --data ~/shelf book:show ', ['<book>']],
  ['hookshelf --server http://127.0.0.1:1 book:show --id ', []],
];

/** Gives what a shell offers for each line. */
type Shell = (script: string, lines: readonly string[], folder: string) => string[][];

const SHELLS: Readonly<Record<string, Shell>> = {
  bash: bashOffers, zsh: zshOffers, fish: fishOffers,
};

for (const [name, offers] of Object.entries(SHELLS)) {
  const skip = !hasProgram(name) && `${name} is not installed`;

  test(`${name} offers what the program says`, { skip }, async () => {
    const folder = createFolder(PROGRAM_SCRIPT);
    writeFileSync(join(folder, 'books.csv'), '');
    const data = join(folder, 'shelf');
    const book = JSON.parse((await hookshelf(
      ['book:add', '--input', '{"title":"a"}', '--json', '--data', data])).stdout).id;
    const found = offers(await printScript(name), OFFERS.map(([line]) => line), folder);
    for (const [index, [line, words]] of OFFERS.entries()) {
      const offered = new Set(found[index]?.map((word) =>
        word.replace(/^--file=|\/$/g, '').replace(book, '<book>')));
      offered.delete('');
      assert.deepEqual([...offered].sort(), [...words].sort(), line);
    }
  });

  test(`${name} evaluates nothing of what it offers, and runs no program of the folder`, {
    skip,
  }, async () => {
    const folder = createFolder(DECEIVED_SCRIPT);
    writeFileSync(join(folder, 'hookshelf'), '#!/bin/sh\ntouch owned\n', { mode: 0o755 });
    const files = HOSTILE_NAMES.filter((file) => !/[\/\t]|^$/.test(file)).map((file) => `${file}x`);
    for (const file of [...files, 'a\nb']) writeFileSync(join(folder, file), '');
    const found = offers(await printScript(name), [
      'hookshelf book:show ', './hookshelf book:show ', 'hookshelf $(touch${IFS}owned) ',
      'hookshelf `touch${IFS}owned` ', 'hookshelf apply --file ', 'hookshelf apply --file "',
      'hookshelf apply --file $(touch${IFS}owned)/', 'hookshelf apply --file (touch\\ owned)/',
    ], folder);
    assert.ok(found[0]?.includes('plain'), found[0]?.join('\n'));
    const paths = found[4]?.map((path) => path.replaceAll('\\', '')) ?? [];
    assert.ok(paths.includes('$(touch owned)x'), paths.join('\n'));
    assert.ok(!existsSync(join(folder, 'owned')));
    if (name !== 'bash') return;
    // Readline puts them on the line as they are: none needs quotes, and none is cut at spaces.
    const words = ['plain', 'meant', ...HOSTILE_NAMES.map((word) => word.split('\t')[0])];
    assert.deepEqual(new Set(found.slice(0, 4).flat()),
      new Set(words.filter((word) => /^[\p{L}\u202e:-]*$/u.test(word ?? '~'))));
  });
}

test('a server that says nothing is not waited for', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const started = Date.now();
    const { stdout } = await hookshelf(['completion:words', '--',
      '--server', `http://127.0.0.1:${address.port}`, 'book:show', '']);
    assert.equal(stdout, '');
    // Without a limit of its own it would ask after ten seconds whether the server lives.
    assert.ok(Date.now() - started < 14_000);
  } finally {
    server.close();
  }
});

async function printScript(shell: string): Promise<string> {
  return (await hookshelf(['completion', shell])).stdout;
}

/** A folder in which `bin` holds the program. */
function createFolder(program: string): string {
  const folder = createTemporaryFolder();
  mkdirSync(join(folder, '.bin'));
  writeFileSync(join(folder, '.bin/hookshelf'), program, { mode: 0o755 });
  return folder;
}

/** Runs a shell once for all lines; after what it offers for one it prints `END`. */
function run(
  program: string, words: readonly string[], cwd: string,
): string[][] {
  const { stdout, stderr, status } = spawnSync(program, words, {
    cwd, encoding: 'utf8', timeout: 120_000,
    env: { PATH: `${join(cwd, '.bin')}:${process.env['PATH'] ?? ''}`, HOME: cwd,
      LANG: 'C.UTF-8' },
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

/** Readline's part done by hand: it replaces what stands after the last character of WORDBREAKS. */
function bashOffers(
  script: string, lines: readonly string[], folder: string,
): string[][] {
  const asked = lines.map((line) => `COMP_LINE='${line}' COMP_POINT=${line.length}
_hookshelf
printf '%s\n' "\${COMPREPLY[@]}" END`);
  const file = writeScript(script, 'compopt() { [[ "$*" == "-o filenames" ]]; }',
    'COMP_WORDBREAKS=$\' \\t\\n"\\\'@><=;|&(:\'', ...asked);
  const found = run('bash', [file], folder);
  return lines.map((line, index) => {
    const before = /\S*[:=](?=[^\s:=]*$)/.exec(line)?.[0] ?? '';
    return (found[index] ?? []).map((word) => word && before + word);
  });
}

/**
 * An interactive zsh on a terminal of its own, in which compadd also tells what it is given. Its
 * line editor asks for all lines as it starts: nothing is typed, so nothing typed can be missed.
 */
function zshOffers(
  script: string, lines: readonly string[], folder: string,
): string[][] {
  mkdirSync(join(folder, '.zfunc'));
  writeFileSync(join(folder, '.zfunc/_hookshelf'), script);
  writeFileSync(join(folder, '.lines'), lines.join('\n'));
  writeFileSync(join(folder, '.zshrc'), ZSH_SETUP);
  return run('zsh', ['-f', '-c', ZSH_DRIVER], folder);
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

function fishOffers(
  script: string, lines: readonly string[], folder: string,
): string[][] {
  const file = writeScript(script,
    ...lines.map((line) => `complete -C '${line}'\necho END`));
  return run('fish', ['--no-config', file], folder)
    .map((offers) => offers.map((offer) => offer.split('\t')[0] ?? ''));
}
