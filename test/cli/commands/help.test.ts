import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseArguments, parseLine } from '../../../src/cli/arguments/parse-arguments.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { VERSION } from '../../../src/base/version.ts';
import { runCommand } from '../io.ts';

for (const words of [['--version'], ['-V'], ['version'], ['-V', '--debug']]) {
  test(`${words.join(' ')} prints the version of the package`, async () => {
    const packageJson = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    assert.equal(VERSION, packageJson.version);
    assert.deepEqual(await runCommand(words), { code: 0, stdout: `${VERSION}\n`, stderr: '' });
    const json = await runCommand([...words, '--json']);
    assert.deepEqual(JSON.parse(json.stdout), { version: VERSION, commit: null });
  });
}

/** The words of a text; a backslash stands where a shell line goes on. */
function wordsOfText(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '' && word !== '\\');
}

test('help fits any terminal, and says the same', async () => {
  for (const name of [null, 'data', ...COMMANDS.map((command) => command.name)]) {
    const words = name === null ? ['help'] : ['help', name];
    const { stdout: whole } = await runCommand(words);
    for (const columns of [40, 60, 80, 120]) {
      const { stdout } = await runCommand(words, { columns });
      const [text = ''] = stdout.split('\nExamples:');
      const long = text.split('\n').filter((line) => line.length > columns);
      // A word that is longer than a line cannot be helped.
      assert.deepEqual(long.filter((line) => /\S\s+\S/.test(line.trim())
        && !/^\s+--[^<]+ </.test(line)), [], `${words.join(' ')} at ${columns}`);
      assert.deepEqual(wordsOfText(stdout), wordsOfText(whole));
    }
  }
});

test('help is no wider than 80 columns, in a pipe and on a wide terminal too', async () => {
  for (const name of [null, ...COMMANDS.map((command) => command.name)]) {
    const words = name === null ? ['help'] : ['help', name];
    for (const size of [{}, { columns: 80 }, { columns: 200 }]) {
      const { stdout } = await runCommand(words, size);
      assert.deepEqual(stdout.split('\n').filter((line) => line.length > 80), []);
    }
  }
});

test('a long example goes on behind a backslash, and is the same to a shell', async () => {
  for (const { name, examples } of COMMANDS) {
    const { stdout } = await runCommand(['help', name]);
    const [, shown = ''] = stdout.split('\nExamples:\n');
    assert.deepEqual(shown.replaceAll(/ \\\n +/g, ' ').trimEnd().split('\n'),
      examples.map((example) => `  ${example}`));
  }
});

test('help at 80 columns keeps what an option means beside it', async () => {
  const { stdout } = await runCommand(['help', 'book:list'], { columns: 80 });
  assert.match(stdout, /^ {2}--sort <keys> +id, title, .* updatedAt,\n {29}createdAt,/m);
  assert.ok(stdout.split('\n').every((line) => line.length <= 80));
});

test('help says which of several options a command needs', async () => {
  const { stdout: webhook } = await runCommand(['help', 'incomingwebhook:create']);
  assert.match(webhook.replaceAll(/\n {6}/g, ' '),
    /^Usage: .* --path-segment <slug> \(--action-config <\w+> \| --routes <.*>\) \[options\]$/m);
  const { stdout: retry } = await runCommand(['help', 'delivery:retry']);
  assert.match(retry, /^Usage: hookshelf delivery:retry \(<id> \| --failed\)/m);
});

for (const words of [['help'], ['--help'], ['-h']]) {
  test(`hookshelf ${words.join(' ')} lists every command`, async () => {
    const { code, stdout } = await runCommand(words);
    assert.equal(code, 0);
    assert.deepEqual(COMMANDS.filter(({ name }) => !stdout.includes(`  ${name} `)), []);
    assert.ok(stdout.split('\n').every((line) => line.length <= 80));
  });
}

for (const { name, options, examples } of COMMANDS) {
  test(`help ${name} shows its options`, async () => {
    const { code, stdout } = await runCommand(['help', name]);
    assert.equal(code, 0);
    const wanted = Object.keys(options).map((option) => `--${option}`);
    assert.deepEqual(wanted.filter((text) => !stdout.includes(text)), []);
    assert.ok(examples.length > 0);
    assert.equal((await runCommand([name, '--help'])).stdout, stdout);
  });
}

/** The words of a shell line up to a redirection, without what is piped into it. */
function wordsOf(example: string): string[] {
  const [, command = ''] = /hookshelf(.*)$/.exec(example) ?? [];
  const words = command.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? [];
  const end = words.findIndex((word) => word === '<' || word === '>' || word === '|');
  const own = words.slice(0, end < 0 ? words.length : end);
  return own.map((word) => word.replace(/^['"]|['"]$/g, ''));
}

/** What an option must say beside its name: what holds without it, and where a secret belongs. */
const SAID: readonly (readonly [command: string, option: string, says: RegExp])[] = [
  ['incomingwebhook', 'allowed-methods', /setting incoming\.defaultAllowedMethods/],
  ['incomingwebhook', 'retry-schedule', /setting incoming\.retrySchedule/],
  ['incomingwebhook', 'rate-limit', /setting incoming\.rateLimit/],
  ['incomingwebhook', 'max-concurrent', /setting incoming\.maxConcurrent/],
  ['incomingwebhook', 'action-timeout', /setting incoming\.actionTimeout/],
  ['incomingwebhook', 'max-in-flight', /setting incoming\.maxInFlightPerHook/],
  ['incomingwebhook', 'body-format', /without it .*auto.*json/],
  ['incomingwebhook', 'name', /identifier/],
  ['outgoingwebhook', 'name', /identifier/],
  ['outgoingwebhook', 'retry-schedule', /setting outgoing\.retrySchedule/],
  ['outgoingwebhook', 'timeout', /settings http\.timeout and http\.totalTimeout/],
  ['outgoingwebhook', 'max-in-flight', /setting outgoing\.maxInFlightPerHook/],
  ['outgoingwebhook', 'disable-after-hours', /without it, never/],
  ['outgoingwebhook', 'format', /CloudEvents 1\.0.*without it standard/],
  ['outgoingwebhook', 'target-url', /in a file if it has a password/],
  ['outgoingwebhook', 'oauth2', /in a file, for the secret/],
];

test('an option says what holds without it, and where its secret belongs', () => {
  for (const [group, name, says] of SAID) {
    for (const verb of ['create', 'update']) {
      const command = COMMANDS.find((one) => one.name === `${group}:${verb}`);
      assert.match(command?.options[name]?.meaning ?? '', says, `${group}:${verb} --${name}`);
    }
  }
  const configuration = COMMANDS.find(({ name }) => name === 'actionconfig:create');
  assert.match(configuration?.options['identifier']?.meaning ?? '', /without it one is made/);
});

test('every example is a line that its command takes', () => {
  for (const spec of COMMANDS) {
    for (const example of spec.examples) {
      const line = parseLine(wordsOf(example), COMMANDS);
      assert.equal(line.name ?? 'serve', spec.name, example);
      assert.doesNotThrow(() => parseArguments(spec, line), example);
    }
  }
});

test('help on a group lists its commands', async () => {
  const { stdout } = await runCommand(['help', 'data']);
  assert.deepEqual(stdout.match(/data:\w+/g),
    ['data:verify', 'data:compact', 'data:backup', 'data:restore', 'data:move', 'data:follow']);
});
