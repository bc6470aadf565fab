import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON_OPTIONS } from '../../../src/cli/arguments/parse-arguments.ts';
import type { OptionSpec } from '../../../src/cli/arguments/option-spec.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runCommand } from '../io.ts';

const ID = '01980000-0000-7000-8000-000000000001';

const REFUSED: readonly (readonly [words: string[], stderr: RegExp])[] = [
  [['book:lst'], /unknown command "book:lst"; did you mean book:list\?/],
  [['webhook:list'],
    /"webhook:list"; did you mean incomingwebhook:list or outgoingwebhook:list\?/],
  [['event:resend'], /unknown command "event:resend"; did you mean delivery:resend\?/],
  [['event:send'], /"event:send"; did you mean event:show or outgoingwebhook:send\?/],
  [['help', 'event:resend'], /command "event:resend"; did you mean delivery:resend\?/],
  [['events:list'], /"events:list"; did you mean event:list\?/],
  [['9000'], /unknown command "9000"; for a port give --port 9000, with npm `npm start -- -/],
  [['frobnicate'], /unknown command "frobnicate"; see hookshelf help/],
  [['--prt', '9000'], /unknown option --prt of serve; did you mean --port\?/],
  [['-port', '9000'], /unknown option -port of serve; did you mean --port\?/],
  [['serve', '-port=9000'], /unknown option -port of serve; did you mean --port\?/],
  [['-hooks', 'hooks.json', '-verbose'],
    /unknown option -hooks of serve; hookshelf config:convert --from adnanh <file>/],
  [['-verbose'], /unknown option -verbose of serve; the log is on standard error/],
  [['serve', '--urlprefix', 'hooks'], /--urlprefix of serve; set HOOKSHELF_SERVER_WEBHOOK_PATH/],
  [['book:list', '-limit', '5'], /unknown option -limit of book:list; did you mean --limit\?/],
  [['book:list', '-verbose'], /unknown option -verbose of book:list; see hookshelf help/],
  [['book:list', '--q', '-port'], /--q needs a value; write --q=-port if that is the value/],
  [['-p9x'], /setting `server\.port` must be an integer .* \(from --port\)/],
  [['--json', 'frobnicate'], /unknown command "frobnicate"/],
  [['book'], /book is a group; its commands are book:list, book:facets/],
  [['book:list', '--limt', '5'], /unknown option --limt of book:list; did you mean --limit\?/],
  [['book:list', '-x'], /unknown option -x of book:list/],
  [['book:list', '--port', '1'], /unknown option --port of book:list/],
  [['book:list', 'emma'], /book:list does not take "emma"; see hookshelf help book:list/],
  [['book:list', '--limit'], /--limit needs a value: --limit <n>/],
  [['book:list', '--limit', '0'], /--limit must be an integer from 1 to \d+, not "0"/],
  [['book:list', '--limit', '1000000001'], /--limit must be an integer from 1 to 1000000000/],
  [['book:list', '--limit', 'ten'], /--limit must be an integer/],
  [['book:list', '--q', '--json'], /--q needs a value; write --q=--json if that is the value/],
  [['outgoingwebhook:update', '--id', 'a', '--client-certificate',
    `-----BEGIN PRIVATE KEY-----${'planted'.repeat(9)}`], /write --client-certificate=<value> if/],
  [['book:list', '--json=yes'], /--json takes no value/],
  [['book:show'], /book:show needs <id>; see hookshelf help book:show/],
  [['book:show', 'a', '--id', 'b'], /--identifier and "a" are two of one/],
  [['book:show', 'a', 'b'], /book:show does not take "b"/],
  [['book:show', ''], /book:show does not take ""/],
  [['book:show', '--id', ID, '--identifier', ID], /--identifier stands twice/],
  [['book:show', '--id='], /--id needs a value/],
  [['book:add', '--input', '{"title":'], /--input: not valid JSON at line 1, column 10/],
  [['book:add', '--input', '{\n  oops}'], /--input: not valid JSON at line 2, column 3/],
  [['book:export', '--format', 'cvs'], /--format must be one of .*, not cvs; did you mean csv\?/],
  [['book:import', '--file', 'books.xlsx'], / books\.xlsx is a spreadsheet: save it as CSV there/],
  [['book:import', '--file', 'books.json.gz'], / books\.json\.gz is compressed \(gzip\): unpack/],
  [['book:import', '--file', 'books.doc'], /does not end in \.json, .* or \.\w+; name its/],
  [['delivery:retry', '--hook', 'x'], /those of one webhook are for delivery:resend --hook <id>/],
  [['delivery:retry', ID, '--as', 'new'], /--as .*; delivery:resend has it: .* <id> --as new/],
  [['delivery:retry'], /delivery:retry needs <id> or --failed/],
  [['delivery:retry', '--failed', '--id', 'x'], /<id> or --failed, not both/],
  [['completion'], /completion needs one of bash, zsh, fish/],
  [['completion', 'tcsh'], /completion takes one of bash, zsh, fish, not "tcsh"/],
  [['help', 'book:lst'], /there is no command "book:lst"; did you mean book:list\?/],
  [['book:list', '--data', 'package.json'], /package\.json is not a directory; name one with/],
  [['-p', 'http'], /setting `server\.port` must be an integer .* \(from --port\)/],
  [['serve', '--config', '/nowhere/settings.json'], /\/nowhere\/settings\.json cannot be read/],
  [['incomingwebhook:update', '--id', 'a', '--generate-secret', '--unset', 'secret'],
    /--unset secret contradicts/],
  [['outgoingwebhook:update', '--id', 'a', '--secret-file', 'f', '--unset', 'secret'],
    /--unset secret contradicts/],
  [['incomingwebhook:create', '--path-segment', 'a', '--action-config', 'b', '--secret-file', 'f',
    '--generate-secret'], /--secret-file or --generate-secret, not both/],
  [['incomingwebhook:create', '--path-segment', 'a', '--action-config', 'b', '--secret', 's'],
    /unknown option --secret .*did you mean --secret-file\?/],
  [['outgoingwebhook:create', '--target-url', 'http://a:b@c/'], /--target-url @<file>/],
  [['outgoingwebhook:create', '--target-url', 'http://c/', '--header', 'Authorization: x'],
    /--headers-file <file>/],
  [['outgoingwebhook:create', '--target-url', 'http://c/', '--header', 'x'], /'Name: value'/],
  [['token:create', '--name', 'a', '--scope', 'root'],
    /--scope must be one of emit, read, resend, write, admin/],
  [['token:create', '--name', 'a', '--scope', 'read', '--expires', 'soon'], /--expires must be/],
];
for (const [words, stderr] of REFUSED) {
  test(`hookshelf ${words.join(' ')} is a usage error`, async () => {
    const ran = await runCommand(
      words.includes('--data') ? words : ['--data', '/nowhere', ...words]);
    assert.match(ran.stderr, stderr);
    assert.match(ran.stderr, /^hookshelf: [^\n]*\n$/);
    assert.equal(ran.code, 2);
    assert.equal(ran.stdout, '');
  });
}

test('wrong settings end every command that works on data with exit code 2', async () => {
  const environment = { HOOKSHELF_HTTP_TIMOUT: '5' };
  const ran = await runCommand(['book:list', '--data', '/nowhere'], { environment });
  assert.equal(ran.code, 2);
  assert.match(ran.stderr, /HOOKSHELF_HTTP_TIMOUT: did you mean HOOKSHELF_HTTP_TIMEOUT\?/);
});

test('prints a stack trace only with --debug', async () => {
  const words = ['book:show'];
  assert.doesNotMatch((await runCommand(words)).stderr, / at /);
  assert.match((await runCommand([...words, '--debug'])).stderr, /\n {4}at /);
});

test('options may stand before the command', async () => {
  const ran = await runCommand(['--json', 'help', 'book:show']);
  assert.equal(ran.code, 0);
  assert.equal(JSON.parse(ran.stdout).name, 'book:show');
});

/** A flag here, and an option with a value in other commands. */
const OTHER_TYPES: ReadonlySet<string> = new Set(['event:show payload', 'token:create url']);

test('options of one name have one type and short form in every command', () => {
  const seen = new Map<string, OptionSpec>(Object.entries(COMMON_OPTIONS));
  for (const { name: command, options } of COMMANDS) {
    for (const [name, option] of Object.entries(options)) {
      if (OTHER_TYPES.has(`${command} ${name}`)) continue;
      const before = seen.get(name) ?? option;
      assert.deepEqual([command, name, option.type, option.short],
        [command, name, before.type, before.short]);
      assert.ok(!Object.hasOwn(COMMON_OPTIONS, name), `${command} --${name} is common`);
      seen.set(name, option);
    }
  }
});

test('every command can be loaded, and has a summary and an example that names it', async () => {
  for (const { name, summary, examples, load } of COMMANDS) {
    assert.equal(typeof await load(), 'function', name);
    assert.match(summary, /^[A-Z].*[^.]$/);
    assert.ok(examples.some((example) => name === 'serve' || example.includes(name)), name);
  }
});
