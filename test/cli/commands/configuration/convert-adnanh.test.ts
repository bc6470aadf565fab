/** What `config:convert --from adnanh` prints, lists and refuses; adnanh-examples runs it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync, mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseNumber } from '../../../../src/base/exact-number.ts';
import type { JsonObject } from '../../../../src/base/schema.ts';
import {
  convertHooks, type Conversion,
} from '../../../../src/cli/commands/configuration/adnanh/convert-hooks.ts';
import {
  parseHooksFile,
} from '../../../../src/cli/commands/configuration/adnanh/hooks-file.ts';
import type { Condition } from '../../../../src/webhooks/members/filters/condition.ts';
import { Facts } from '../../../../src/webhooks/members/filters/facts.ts';
import { prepareCondition } from '../../../../src/webhooks/members/filters/prepare-condition.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { runCommand } from '../../io.ts';

const HOOK = { id: 'a', 'execute-command': '/bin/a' };
const parse = (text: string): readonly JsonObject[] => parseHooksFile(Buffer.from(text));
const convert = (...hooks: readonly object[]): Conversion =>
  convertHooks(hooks.map((members) => ({ ...HOOK, ...members })));
const webhooksOf = ({ document }: Conversion): readonly JsonObject[] =>
  document['incomingWebhooks'] as JsonObject[];
const optionsOf = ({ document }: Conversion): readonly JsonObject[] =>
  (document['actionConfigurations'] as JsonObject[]).map(({ options }) => options as JsonObject);
const gapsOf = ({ gaps }: Conversion): readonly string[] =>
  gaps.map(({ pointer, isDisabling }) => `${pointer}${isDisabling ? ' disabled' : ''}`);
/** Whether the document or the report tells a secret. */
const showsSecret = ({ document, gaps }: Conversion): boolean =>
  JSON.stringify({ document, gaps }).includes('planted');
type Members = Readonly<Record<string, unknown>>;
const value = (parameter: object, text: unknown): Members =>
  ({ 'trigger-rule': { match: { type: 'value', value: text, parameter } } });
const payload = (name: string): object => ({ source: 'payload', name });
const signed = (secret: string, more: object = {}): Members => ({
  'trigger-rule': {
    match: {
      type: 'payload-hmac-sha256', secret,
      parameter: { source: 'header', name: 'X-Hub-Signature-256', ...more },
    },
  },
});

const FILES: readonly (readonly [name: string, text: string])[] = [
  ['plain JSON', '[{"id":"a","n":["b"]}]'],
  ['comments', '// one\n[/* two\n */{"id":"a",//"id":"b",\n"n":/**/["b"]}]// end'],
  ['commas at the ends of lists', '[{"id":"a","n":["b",],},]'],
  ['commas with comments behind them', '[{"id":"a","n":["b", // last\n] , /* x */ } ,\n\n]\n'],
  ['one hook without brackets', '{"id":"a","n":["b"]}'],
  ['a byte order mark', '\ufeff[{"id":"a","n":["b"],}]'],
  ['YAML', '- id: a\n  n: [b]\n'],
  ['YAML with comments and a beginning',
    '# hooks\n---\n- id: a # one\n  n:\n  # two\n  - b\n...\n'],
  ['YAML of one hook', 'id: a\nn:\n  - b'],
  ['YAML with a byte order mark and CRLF', '\ufeff-\r\n  id: a\r\n  n:\r\n    - b\r\n'],
];

for (const [name, text] of FILES) {
  test(`reads ${name}`, () => {
    assert.deepEqual(parse(text), [{ id: 'a', n: ['b'] }]);
  });
}

test('leaves texts as they are, whatever looks like a comment or a comma in them', () => {
  const hook = { id: '// no', n: ['/* no */', ',]', '\\",}', '"{{', '{{ "x"', 'ü,]'] };
  assert.deepEqual(parse(`[${JSON.stringify(hook)},]`), [hook]);
});

const SCALARS: readonly (readonly [yaml: string, value: unknown])[] = [
  ['a b#c', 'a b#c'], ['a # b', 'a'], ["'it''s # \"x\": y'", 'it\'s # "x": y'],
  ['"\\u00fc\\x41\\n\\\\ # y"', 'üA\n\\ # y'], ['""', ''], ['', null], ['~', null], ['true', true],
  ['off', false], ['42', 42], ['-1.5', -1.5], ['2020-01-01', '2020-01-01'],
  ['http://a.b:80/c?d#e', 'http://a.b:80/c?d#e'], ['-a', '-a'], ['^refs/(a|b)$', '^refs/(a|b)$'],
  ['{{ getenv "A" | js }}', '{{ getenv "A" | js }}'], ['"{{ getenv "A" }}"', "{{ getenv 'A' }}"],
  ["'{{ getenv \"A\" }}'", '{{ getenv "A" }}'], ['$a', '$a'],
  ['[]', []], ['{}', {}], ['[a b, "c", 1, null,]', ['a b', 'c', 1, null]],
  ['{ a: b, "c":\'d\', e: [f], g: }', { a: 'b', c: 'd', e: ['f'], g: null }],
  ['[ # x\n    a,\n    b\n  ]', ['a', 'b']], ['\n    a', 'a'],
  ['\n  - a\n  - b: c', ['a', { b: 'c' }]],
  ['\n    - - a\n      - b\n    -\n    - c', [['a', 'b'], null, 'c']],
  ['|\n    a\n      b\n\n    # c\n\n', 'a\n  b\n\n# c\n'], ['|-\n    a\n\n', 'a'],
  ['|2-\n     a\n', ' a'], ['| # x\n    a', 'a\n'], ['|\n', ''],
  ['>\n    a\n    b\n\n    c\n      d\n    e\n', 'a b\nc\n  d\ne\n'], ['>-\n    a\n    b', 'a b'],
];

for (const [yaml, expected] of SCALARS) {
  test(`reads ${JSON.stringify(yaml)} in YAML`, () => {
    assert.deepEqual(parse(`- id: a\n  m: ${yaml}\n  n: z`), [{ id: 'a', m: expected, n: 'z' }]);
    assert.deepEqual(parse(`- n: z\n  m: ${yaml}`), [{ n: 'z', m: expected }]);
  });
}

test('keeps all line ends of a text in YAML that asks for it', () => {
  assert.deepEqual(parse('- id: |+\n    a\n\n  n: b'), [{ id: 'a\n\n', n: 'b' }]);
});

test('leaves braces in texts as they are, and their quotation marks in a template', () => {
  assert.deepEqual(parse('[{"id":"{{","b":"}}"}]'), [{ id: '{{', b: '}}' }]);
  assert.deepEqual(parse('[{"id":"{{ x","b":"}}"},{"id":"{{ getenv "A" }}"}]'),
    [{ id: '{{ x', b: '}}' }, { id: "{{ getenv 'A' }}" }]);
});

test('reads quotation marks in a template as a part of the text', () => {
  assert.deepEqual(parse('[{"id": "{{ getenv "A" | js }}", "n": "a {{ b "c" }} d",}]'),
    [{ id: "{{ getenv 'A' | js }}", n: "a {{ b 'c' }} d" }]);
});

const BROKEN: readonly (readonly [name: string, text: string, message: RegExp])[] = [
  ['what is no JSON', '[{"id":"a",\n // one\n "n": x}]', /line 3, column 7/],
  ['a comment without an end', '[{"id":"a"}, /* ', /line 1, column 14/],
  ['a member that is there twice', '[{"id":"a","id":"b"}]', /line 1, column 12/],
  ['a comment behind all without an end', '[{"id":"a"}] /* ', /line 1, column 14/],
  ['a comma of nothing', '[,]', /line 1, column 2/],
  ['a comma of no member', '[{,}]', /line 1, column 3/],
  ['two commas', '[{"id":"a",,}]', /line 1, column 12/],
  ['what stands behind letters', '[{"id":"ü🦊"}, /* é🦊 */ x]', /line 1, column 24/],
  ['an anchor', '- &x\n  id: a', /line 1, column 3: an anchor/],
  ['an alias', '- id: a\n- *x', /line 2, column 3: an alias/],
  ['a tag', '- id: !!str a', /line 1, column 7: a tag/],
  ['a merge', '- <<: a', /line 1, column 3: a merge/],
  ['a directive', '%YAML 1.1\n---\n', /line 1, column 1: a directive/],
  ['a complex key', '? a\n: b', /line 1, column 1: a complex key/],
  ['a second document', '- id: a\n---\n- id: b', /line 2, column 1: a second document/],
  ['a member twice in YAML', '- id: a\n  id: b', /line 2, column 3: the member id/],
  ['a flow member twice', '- { id: a, id: b }', /line 1, column 12: the member id/],
  ['a tab', '- id: a\n\tn: b', /line 2, column 2: a line is indented by spaces/],
  ['a text that goes on', '- id: a\n   b', /line 2, column 4: this is indented/],
  ['an indent that fits nothing', '- id: a\n n: b', /line 2, column 2: this is indented/],
  ['a colon in a text', '- id: a: b', /line 1, column 8: a text with a colon/],
  ['quotes without an end, behind letters', 'ü: é\nid: "ü\n"', /line 2, column 5: this text in/],
  ['what follows quotes', '- id: "a" b', /line 1, column 11: the end of the line/],
  ['an unknown escape', '- id: "\\q"', /line 1, column 8: \\q is no escape/],
  ['a number in octal', '- id: 007', /line 1, column 7: 007 may be read/],
  ['a number that is written in two ways', '- id: 1.50', /put it in quotes/],
  ['a letter that is a boolean to some', '- id: y', /put it in quotes/],
  ['a sequence in the line of its name', 'a: - b', /line 1, column 4: a sequence begins/],
  ['a flow sequence without an end', '- [a, b', /"," or "]" is expected/],
  ['a text among members', 'id: a\nb', /line 2, column 1: a member is expected/],
  ['a long header of a block', 'id: |22\n  a', /line 1, column 5: of \| and > only/],
  ['nesting without an end', `- ${'['.repeat(70)}`, /over 64 levels/],
  ['sequences without an end', '- '.repeat(70), /over 64 levels/],
  ['a template around hooks in YAML', '{{ if x }}\n- id: a\n{{ end }}', /line 1: of templates/],
  ['a template between hooks in YAML', '- id: a\n{{ if x }}\n- id: b', /line 2: of templates/],
  ['a template around hooks', '[{{ if x }}{"id":"a"}{{ end }}]', /of templates only those within/],
  ['a text', '"a"', /must be an array of hooks/],
  ['a list of texts', '["a"]', /must be an array of hooks/],
];

for (const [name, text, message] of BROKEN) {
  test(`refuses ${name}, and says where or what to do`, () => {
    assert.throws(() => parse(text), message);
  });
}

test('prints the document, lists the rest with its place, and exits with 3', async () => {
  const file = join(createTemporaryFolder(), 'hooks.json');
  writeFileSync(file, JSON.stringify([HOOK, { ...HOOK, id: 'b', 'pre-hook-command': 'no' }]));
  const { code, stdout, stderr } = await runCommand(['config:convert', '--from', 'adnanh', file]);
  assert.equal(code, 3);
  const names = (JSON.parse(stdout)['incomingWebhooks'] as JsonObject[]).map(({ pathSegment }) =>
    pathSegment);
  assert.deepEqual(names, ['a', 'b']);
  assert.match(stderr,
    /^hookshelf: b: \/1\/pre-hook-command: .*: remove it, and let the command.*\(disabled\)$/m);
  assert.match(stderr, /; ln -s '\/bin\/a' "\$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"\/'a'$/m);
  assert.match(stderr, /^# once it is .*\n# curl .* http:\/\/127.0.0.1:8000\/webhook\/in\/a\n$/m);
  assert.doesNotMatch(stderr, /curl .*\/b$/m);
});

test('writes a script in place of an interpreter, and prints the commands', async () => {
  const fixed = (name: string): object => ({ source: 'string', name });
  const hook = {
    id: 'a', 'execute-command': '/usr/bin/python3',
    'pass-arguments-to-command': [fixed("/srv/it's.py"), payload('ref')],
  };
  const run = (members: object) => runCommand(['config:convert', '--from', 'adnanh', '-'],
    { input: JSON.stringify([{ ...hook, ...members }]) });
  const { code, stdout, stderr } = await run({});
  assert.equal(code, 0);
  const { options } = JSON.parse(stdout)['actionConfigurations'][0];
  assert.match(options.command, /^hook-a-[0-9a-f]{8}\.sh$/);
  assert.deepEqual(options.arguments, ['{{ payload.ref }}']);
  const folder = createTemporaryFolder();
  paste(stderr, folder);
  assert.equal(readFileSync(join(folder, options.command), 'utf8'),
    `#!/bin/sh\nexec '/usr/bin/python3' '/srv/it'\\''s.py' "$@"\n`);
  const open = await run({ 'pass-arguments-to-command': [fixed('-c'), payload('ref')] });
  assert.equal(open.code, 3);
  assert.match(open.stderr, /request would say what .* \(disabled\)$/m);
  assert.match(open.stderr, /printf .* 'exit 1 # yet to be written' > /);
  assert.doesNotMatch(open.stderr, /exec '/);
  // The script in its place, which people wrote, stays.
  const { options: openOptions } = JSON.parse(open.stdout)['actionConfigurations'][0];
  assert.notEqual(openOptions.command, options.command);
  writeFileSync(join(folder, openOptions.command), 'mine');
  paste(open.stderr, folder);
  assert.equal(readFileSync(join(folder, openOptions.command), 'utf8'), 'mine');
});

test('a script whose content changes has another name, and one that is there is kept', async () => {
  const folder = createTemporaryFolder();
  const names: string[] = [];
  for (const text of ['echo one', 'echo one', 'echo two']) {
    const { stdout, stderr } = await runConvert([{
      id: 'a', 'execute-command': '/bin/sh', 'pass-arguments-to-command':
        ['-c', text].map((name) => ({ source: 'string', name })),
    }]);
    paste(stderr, folder);
    const { options } = JSON.parse(stdout)['actionConfigurations'][0];
    assert.equal(execFileSync(join(folder, options.command)).toString(), `${text.slice(5)}\n`);
    names.push(options.command);
  }
  assert.equal(names[0], names[1]);
  assert.equal(new Set(names).size, 2);
});

/** Runs the lines that fill the folder of commands. */
function paste(stderr: string, folder: string): void {
  const lines = stderr.split('\n').filter((line) => /ln -s|printf/.test(line));
  execFileSync('/bin/sh', ['-e', '-c', lines.join('\n')], {
    env: { HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: folder, PATH: process.env['PATH'] },
    stdio: 'pipe',
  });
}

test('a second conversion makes links anew, whatever their order, and keeps files', async () => {
  const [folder, scripts] = [createTemporaryFolder(), createTemporaryFolder()];
  for (const ids of [['a', 'b'], ['b', 'a'], ['c']]) {
    const list = ids.map((id) => {
      mkdirSync(join(scripts, id), { recursive: true });
      writeFileSync(join(scripts, id, 'run.sh'), '');
      return { id, 'execute-command': join(scripts, id, 'run.sh') };
    });
    const { stdout, stderr } = await runConvert(list);
    paste(stderr, folder);
    const { actionConfigurations } = JSON.parse(stdout);
    for (const [index, hook] of list.entries()) {
      const link = join(folder, actionConfigurations[index].options.command);
      assert.equal(readlinkSync(link), hook['execute-command']);
    }
  }
  const { stderr } = await runConvert([{ ...HOOK, 'execute-command': '/c/mine.sh' }]);
  writeFileSync(join(folder, 'mine.sh'), 'mine');
  assert.throws(() => paste(stderr, folder), /exists/);
  assert.equal(readFileSync(join(folder, 'mine.sh'), 'utf8'), 'mine');
});

test('the link of a missing command leads to it, and runs it as soon as it is there', async () => {
  const [folder, scripts] = [createTemporaryFolder(), createTemporaryFolder()];
  const script = join(scripts, 'late.sh');
  for (let tries = 0; tries < 2; tries += 1) {
    const { code, stderr } = await runConvert([{ ...HOOK, 'execute-command': script }]);
    assert.equal(code, 0);
    assert.match(stderr, /late\.sh is not here: its hook fails until it is\n/);
    paste(stderr, folder);
    assert.equal(readlinkSync(join(folder, 'late.sh')), script);
  }
  writeFileSync(script, '#!/bin/sh\necho here\n');
  chmodSync(script, 0o755);
  assert.equal(execFileSync(join(folder, 'late.sh')).toString(), 'here\n');
});

test('a missing program that is a name alone is linked where people install theirs', async () => {
  const { stderr } = await runConvert([{ ...HOOK, 'execute-command': 'play.sh' }]);
  assert.match(stderr,
    /play\.sh is not in PATH: its hook fails until \/usr\/local\/bin\/play\.sh is there$/m);
  assert.deepEqual(stderr.match(/ln -s .*$/gm),
    [`ln -s '/usr/local/bin/play.sh' "$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"/'play.sh'`]);
});

const SCRIPTS: readonly (readonly [text: string, isWarned: boolean])[] = [
  ['#!/bin/sh\nnohup make > log 2>&1 & # long\n', true],
  ['#!/bin/sh\n(make &) && echo\n', true],
  ['#!/bin/sh\nmake & echo $!', true],
  ['#!/bin/sh\na && b 2>&1\nc >&2 |& d &> e\n# f & g\ncurl "h?i=1&j=2"\n', false],
  ['\x7fELF & \n', false],
];

test('names commands that are missing, and scripts that leave work in the background', async () => {
  const folder = createTemporaryFolder();
  const paths = SCRIPTS.map(([text], index) => {
    writeFileSync(join(folder, String(index)), text, { mode: 0o755 });
    return join(folder, String(index));
  });
  const { stderr } = await runConvert([...paths, folder, join(folder, 'missing')]
    .map((path, index) => ({ id: `a${index}`, 'execute-command': path })));
  assert.deepEqual(stderr.match(/(?<=^hookshelf: )\/\S+ (?:is not here|may leave work)/gm), [
    ...paths.filter((_, index) => SCRIPTS[index]?.[1]).map((path) => `${path} may leave work`),
    `${folder}/missing is not here`,
  ]);
});

test('an id that can be an address is one, wherever another stands that comes near to it', () => {
  for (const ids of [['a/b', 'a-b'], ['a-b', 'a/b']]) {
    const conversion = convert(...ids.map((id) => ({ id })));
    const records = conversion.document as Readonly<Record<string, JsonObject[]>>;
    assert.deepEqual(webhooksOf(conversion).map(({ pathSegment }) => pathSegment),
      ids.map((id) => id === 'a-b' ? 'a-b' : 'a-b-2'));
    assert.deepEqual(records['actionConfigurations']?.map(({ identifier }) => identifier),
      ids.map((id) => id === 'a-b' ? 'a-b' : 'a-b-2'));
    assert.deepEqual(gapsOf(conversion), [`/${ids.indexOf('a/b')}/id`]);
  }
});

test('has many commands run at once, and takes large bodies, if there is a command', async () => {
  const line = /^export HOOKSHELF_ACTIONS_MAX_COMMANDS=32\n.*SERVER_MAX_BODY_BYTES=26214400$/m;
  assert.match((await runConvert([HOOK])).stderr, line);
  assert.doesNotMatch((await runConvert([{ id: 'a' }])).stderr, line);
});

test('says which variables to allow, and gives the line', async () => {
  const variables = [payload('a'), { ...payload('b'), envname: 'B' }];
  const hook = {
    ...HOOK, 'pass-environment-to-command': variables,
    'pass-file-to-command': [{ ...payload('c'), envname: 'C' }],
  };
  const { stderr } = await runCommand(['config:convert', '--from', 'adnanh', '-'],
    { input: JSON.stringify([hook, { ...hook, id: 'b' }]) });
  assert.match(stderr,
    /^export HOOKSHELF_ACTIONS_ENVIRONMENT='HOOK_\*,B,C'$/m);
  const { stderr: none } = await runCommand(['config:convert', '--from', 'adnanh', '-'],
    { input: JSON.stringify([HOOK]) });
  assert.doesNotMatch(none, /ACTIONS_ENVIRONMENT/);
});

test('what is pasted into a shell has the name of a hook in quotes, in a comment too', async () => {
  const hook = { ...HOOK, id: "a'$(touch owned)", ...signed('s') };
  const { stderr } = await runCommand(['config:convert', '--from', 'adnanh', '-'],
    { input: JSON.stringify([hook]) });
  assert.match(stderr, /^export \w+='' # what stands at '\/0\/.* of a'\\''\$\(touch owned\)'$/m);
});

const runConvert = (
  hooks: readonly object[], words: readonly string[] = [], environment = {},
): ReturnType<typeof runCommand> => runCommand(
  ['config:convert', '--from', 'adnanh', '-', ...words],
  { input: JSON.stringify(hooks), environment });

test('says which variable that is set differs from the file, without a value', async () => {
  const hooks = [{ ...HOOK, ...signed('planted') }];
  const differs = /^hookshelf: A_SECRET is set, and differs from the file: \/0\/.*secret of a: /m;
  const { code, stderr } = await runConvert(hooks, [], { A_SECRET: 'older' });
  assert.equal(code, 0);
  assert.match(stderr, differs);
  assert.doesNotMatch(stderr, /planted|older/);
  for (const text of ['planted', '']) {
    assert.doesNotMatch((await runConvert(hooks, [], { A_SECRET: text })).stderr, differs);
  }
  // The script that is read then sets it.
  const secrets = ['--environment-file', join(createTemporaryFolder(), 'hooks.env')];
  assert.doesNotMatch((await runConvert(hooks, secrets, { A_SECRET: 'older' })).stderr, differs);
});

test('prints no value for a secret, and nothing for a variable that is set', async () => {
  const hooks = [
    { ...HOOK, ...signed('planted') },
    ...['b', 'c'].map((id) => ({ ...HOOK, id, ...signed("{{ getenv 'KEY' }}") })),
    // No secret of it is in the document.
    { ...HOOK, id: 'd', 'trigger-rule': { not: signed('planted')['trigger-rule'] } },
  ];
  const { stderr } = await runConvert(hooks);
  assert.deepEqual(stderr.match(/(?<=^export )(?:A_SECRET|KEY|D_SECRET)=\S*/gm),
    ["A_SECRET=''", "KEY=''"]);
  assert.match(stderr, /--environment-file <file>/);
  const { stderr: none } = await runConvert(hooks, [], { KEY: 'k', A_SECRET: 's' });
  assert.doesNotMatch(none, /SECRET=|KEY=/);
});

test('writes a whole environment for its owner alone, as a shell and systemd read it', async () => {
  const folder = createTemporaryFolder();
  const file = join(folder, "it's.env");
  writeFileSync(file, '');
  const variable = { ...payload('x'), envname: 'B' };
  const { code, stdout, stderr } = await runConvert([
    { ...HOOK, ...signed('planted \'one\'\n"$`\\'), 'pass-environment-to-command': [variable] },
    {
      ...HOOK, id: 'b', ...signed("{{ getenv 'KEY' }}"), 'command-working-directory': folder,
    },
    { ...HOOK, id: 'c', ...signed("{{ getenv 'SET' }}") },
    { ...HOOK, id: 'd' },
  ], ['--environment-file', file], { A_SECRET: 'another', SET: 'planted, too' });
  assert.equal(code, 0);
  assert.ok(!(stdout + stderr).includes('planted'));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  // Without remarks, which systemd knows at the beginning of a line alone.
  assert.deepEqual(readFileSync(file, 'utf8').split('\n').filter((line) => !line.startsWith('#')), [
    'A_SECRET="planted \'one\'', '\\"\\$\\`\\\\"', 'KEY=""', 'SET="planted, too"',
    `HOOKSHELF_ACTIONS_COMMAND_DIRECTORY="${folder}/commands"`,
    'HOOKSHELF_ACTIONS_MAX_COMMANDS=32', 'HOOKSHELF_SERVER_MAX_BODY_BYTES=26214400',
    'HOOKSHELF_ACTIONS_ENVIRONMENT="HOOK_*,B"',
    `HOOKSHELF_ACTIONS_WORKING_DIRECTORIES="${folder}"`,
    'HOOKSHELF_SERVER_PORT=9000', 'HOOKSHELF_SERVER_WEBHOOK_PATH="/hooks"', '',
  ]);
  const line = `set -a; . '${file.replace("'", "'\\''")}'; set +a`;
  assert.ok(stderr.includes(`shell:\n${line}\nmkdir `));
  assert.doesNotMatch(stderr, /^export /m);
  assert.match(stderr, /^hookshelf: KEY has no value in .*it's\.env, and nothing is applied/m);
  assert.doesNotMatch(stderr, /(?:SET|A_SECRET) has no value/);
  assert.match(stderr, /^# curl .* http:\/\/127.0.0.1:9000\/hooks\/d$/m);
  assert.equal(execFileSync('/bin/sh', ['-c', `${line}; printenv A_SECRET`]).toString(),
    'planted \'one\'\n"$`\\\n');
  const again = await runConvert([HOOK], ['--environment-file', file]);
  assert.deepEqual([again.code, again.stdout], [1, '']);
  assert.match(again.stderr, /exists, and may hold what you have added: name another/);
  assert.match(readFileSync(file, 'utf8'), /planted/);
});

test('converts several files as one, with the name of each at its places', async () => {
  const folder = createTemporaryFolder();
  const files = ['a', 'b'].map((id) => {
    const file = join(folder, `${id}.json`);
    const variable = { ...payload('x'), envname: id.toUpperCase() };
    writeFileSync(file, JSON.stringify(
      [{ ...HOOK, id, ...regex('^a+b'), 'pass-environment-to-command': [variable] }]));
    return file;
  });
  const { code, stdout, stderr } =
    await runCommand(['config:convert', '--from', 'adnanh', ...files]);
  assert.equal(code, 3);
  assert.equal(JSON.parse(stdout).incomingWebhooks.length, 2);
  assert.match(stderr, /^hookshelf: b: b.json\/0\/trigger-rule\/match: /m);
  assert.match(stderr, /^export HOOKSHELF_ACTIONS_ENVIRONMENT='HOOK_\*,A,B'$/m);
  assert.equal(stderr.match(/ln -s /g)?.length, 1);
});

test('a command and a folder that a template names are placeholders, and refuse no apply', () => {
  const conversion = convert({
    'execute-command': "{{ getenv 'PYTHON' | js }}",
    'command-working-directory': "/srv/{{ getenv 'A' }}",
  });
  assert.deepEqual(gapsOf(conversion),
    ['/0/execute-command disabled', '/0/command-working-directory disabled']);
  const [options] = optionsOf(conversion);
  assert.match(String(options?.['command']), /^hook-a-[0-9a-f]{8}\.sh$/);
  assert.equal(options?.['workingDirectory'], undefined);
  const [command] = conversion.commands.values();
  assert.deepEqual(command?.script, ['#!/bin/sh', 'exit 1 # yet to be written']);
});

test('braces that are not closed are a part of the name of a command and of a folder', () => {
  const conversion = convert({
    'execute-command': '/srv/a{{b', 'command-working-directory': '/srv/x{{y',
  });
  assert.deepEqual(conversion.gaps, []);
  const [options] = optionsOf(conversion);
  assert.deepEqual([options?.['command'], options?.['workingDirectory']], ['a{{b', '/srv/x{{y']);
  assert.deepEqual([...conversion.commands.values()].map(({ path, script }) => [path, script]),
    [['/srv/a{{b', null]]);
});

test('leaves out what no webhook can have, so that it refuses no apply of the others', () => {
  const json = [{ name: 'Content-Type', value: 'application/json' }];
  const conversion = convert(
    { 'response-message': 'ok', 'response-headers': json, 'http-methods': ['PUT'] },
    { id: 'b', 'http-methods': ['G ET'] });
  assert.deepEqual(gapsOf(conversion), ['/0 disabled', '/1 disabled']);
  const [first, second] = webhooksOf(conversion);
  assert.deepEqual([first?.['response'], first?.['allowedMethods']], [undefined, ['PUT']]);
  assert.deepEqual([second?.['response'], second?.['allowedMethods']],
    [{ accepted: { status: 200 } }, undefined]);
});

test('names folders that are missing and commands that cannot run before an apply', async () => {
  const file = join(createTemporaryFolder(), 'a.sh');
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
  const { stderr } = await runConvert([
    { ...HOOK, 'execute-command': file, 'command-working-directory': '/nowhere/site' },
  ]);
  assert.match(stderr, /^hookshelf: \/\S+\/a\.sh is not executable, .*: chmod u\+x '\/\S+'$/m);
  assert.match(stderr,
    /^hookshelf: \/nowhere\/site is not here, and nothing is applied until the folder is there$/m);
});

test('links a program of PATH and no builtin, and nothing where a template names the path',
  async () => {
    const folder = createTemporaryFolder();
    writeFileSync(join(folder, 'echo'), '', { mode: 0o755 });
    const { stderr } = await runConvert([
      { ...HOOK, 'execute-command': 'echo' },
      { ...HOOK, id: 'b', 'execute-command': "{{ getenv 'SCRIPTS' }}/b.sh" },
    ], [], { PATH: `/nowhere:${folder}` });
    assert.deepEqual(stderr.match(/ln -s .*$/gm),
      [`ln -s '${folder}/echo' "$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"/'echo'`]);
  });

test('reads the names of members whatever their case, and refuses two that differ in it', () => {
  const hook = parse(JSON.stringify([{
    ID: 'a', 'Execute-Command': '/bin/a', 'Trigger-Rule': { AND: [{ Match: { TYPE: 'Value' } }] },
  }]));
  assert.deepEqual(hook, [{
    id: 'a', 'execute-command': '/bin/a', 'trigger-rule': { and: [{ match: { type: 'Value' } }] },
  }]);
  assert.throws(() => parse('[{"id": "a", "Id": "b"}]'), /the member id stands twice/);
});

test('exits with 0 when all has a counterpart, and reads standard input', async () => {
  const { code, stdout } = await runCommand(['config:convert', '--from', 'adnanh', '-'],
    { input: JSON.stringify([HOOK]) });
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout)['incomingWebhooks'][0].enabled, undefined);
});

test('says which file cannot be read, and which program is not known', async () => {
  const missing = await runCommand(['config:convert', '--from', 'adnanh', '/nowhere/hooks.json']);
  assert.deepEqual([missing.code, missing.stdout], [1, '']);
  assert.match(missing.stderr, /cannot read \/nowhere\/hooks.json/);
  const unknown = await runCommand(['config:convert', '--from', 'other', '-']);
  assert.equal(unknown.code, 2);
});

test('takes all methods without a word on them, and keeps those that are named', () => {
  const [any, some] = webhooksOf(convert({}, { id: 'b', 'http-methods': [' get', 'POST', 'get'] }));
  assert.deepEqual(any?.['allowedMethods'],
    ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);
  assert.deepEqual(some?.['allowedMethods'], ['GET', 'POST']);
});

test('keeps all, and answers at once and runs once, unless the output is the answer', () => {
  const output = { id: 'b', 'include-command-output-in-response': true };
  const [first, second] = webhooksOf(convert({}, output));
  const { inbox, answer, retrySchedule, bodyFormat } = first ?? {};
  assert.deepEqual({ inbox, answer, retrySchedule, bodyFormat },
    { inbox: 'all', answer: 'accepted', retrySchedule: [], bodyFormat: 'auto' });
  assert.deepEqual([second?.['answer'], second?.['inbox']], [undefined, 'all']);
});

test('answers the output as it was printed, and JSON within JSON as its value', () => {
  const output = { id: 'b', 'include-command-output-in-response': true };
  const json = [{ name: 'content-type', value: 'application/json' }];
  const conversion = convert({}, output, { ...output, id: 'c', 'response-headers': json });
  assert.deepEqual(optionsOf(conversion).map((options) => options['output']),
    [undefined, 'combined', 'result']);
});

test('names the variables of secrets apart, never as our own, and shows no secret', () => {
  const conversion = convert(
    { ...signed('planted'), id: 'hookshelf-x' }, { ...signed('planted'), id: 'a.b' },
    { ...signed('planted'), id: 'A_B' }, { ...signed('planted'), id: '1' },
    { ...signed("{{ getenv 'KEY' | js }}"), id: 'c' }, { ...signed("{{ secret 'gh' }}"), id: 'd' },
    { ...signed('planted'), id: 'ü' });
  assert.deepEqual(webhooksOf(conversion).map(({ secret }) => secret), [
    { $env: 'HOOK_HOOKSHELF_X_SECRET' }, { $env: 'A_B_SECRET' }, { $env: 'A_B_SECRET_2' },
    { $env: 'HOOK_1_SECRET' }, { $env: 'KEY' }, { $file: '/run/secrets/gh' },
    { $env: 'HOOK_SECRET' },
  ]);
  assert.ok(!showsSecret(conversion));
});

const regex = (expression: string, parameter: object = payload('ref')): Members =>
  ({ 'trigger-rule': { match: { type: 'regex', regex: expression, parameter } } });

const LONGER = [
  { path: 'payload.ref', op: 'prefix', value: 'v' },
  { not: { path: 'payload.ref', op: 'eq', value: 'v' } },
  { not: { path: 'payload.ref', op: 'prefix', value: 'v\n' } },
];
const ONE_LINE = { not: { path: 'payload.ref', op: 'contains', value: '\n' } };

const RULES: readonly (readonly [name: string, members: object, when: unknown])[] = [
  ['one of two values', {
    'trigger-rule': { or: ['a', 'b'].map((text) => value(payload('ref'), text)['trigger-rule']) },
  }, { path: 'payload.ref', op: 'in', value: ['a', 'b'] }],
  ['a number', value(payload('n'), '42'), { path: 'payload.n', op: 'in', value: ['42', 42] }],
  ['a number that is written as one', value(payload('n'), 42),
    { path: 'payload.n', op: 'in', value: ['42', 42] }],
  ['a large number', value(payload('n'), '820982911946154508'), {
    path: 'payload.n', op: 'in', value: ['820982911946154508', parseNumber('820982911946154508')],
  }],
  ['what only looks like a number', value(payload('n'), '007'),
    { path: 'payload.n', op: 'eq', value: '007' }],
  ['a boolean', value(payload('n'), 'false'),
    { path: 'payload.n', op: 'in', value: ['false', false] }],
  ['a number in a header', value({ source: 'header', name: 'X-N' }, '42'),
    { path: 'headers.x-n', op: 'eq', value: '42' }],
  ['a parameter with dots', value({ source: 'query', name: 'a.b' }, 'c'),
    { path: 'query.a.b', op: 'eq', value: 'c' }],
  ['a method', value({ source: 'request', name: 'Method' }, 'PUT'),
    { path: 'method', op: 'eq', value: 'PUT' }],
  ['an array for a payload', value(payload('root.0.a'), 'b'),
    { path: 'payload.0.a', op: 'eq', value: 'b' }],
  ['a member named root', value(payload('root.a'), 'b'),
    { path: 'payload.root.a', op: 'eq', value: 'b' }],
  ['a prefix', regex('^refs/tags/.*'), { path: 'payload.ref', op: 'prefix', value: 'refs/tags/' }],
  ['a prefix with a sign', regex('^v\\.x'), { path: 'payload.ref', op: 'prefix', value: 'v.x' }],
  ['an equality', regex('^a-b$'), { path: 'payload.ref', op: 'eq', value: 'a-b' }],
  ['a list', regex('^refs/heads/(main|master)$'),
    { path: 'payload.ref', op: 'in', value: ['refs/heads/main', 'refs/heads/master'] }],
  ['a list of whole expressions', regex('^a$|^(?:b|)c$'),
    { path: 'payload.ref', op: 'in', value: ['a', 'bc', 'c'] }],
  ['branches with ends of their own', regex('^refs/heads/(main|release/.*)$'), {
    any: [{ path: 'payload.ref', op: 'eq', value: 'refs/heads/main' },
      { all: [{ path: 'payload.ref', op: 'prefix', value: 'refs/heads/release/' }, ONE_LINE] }],
  }],
  ['a line that goes on', regex('^v.+$'), { all: [...LONGER, ONE_LINE] }],
  ['a prefix behind which the line goes on', regex('^v.+'), { all: LONGER }],
  ['letters of any case', regex('(?i)^ok-?$'), {
    path: 'payload.ref', op: 'in',
    value: ['ok', 'oK', 'o\u212a', 'Ok', 'OK', 'O\u212a'].flatMap((text) => [text, `${text}-`]),
  }],
  ['a class of letters', regex('^(?:r[1-3]|[a\\]-])$'),
    { path: 'payload.ref', op: 'in', value: ['r1', 'r2', 'r3', 'a', ']', '-'] }],
  ['what may follow again and again', regex('^vx+|^wx*'), {
    any: [{ path: 'payload.ref', op: 'prefix', value: 'vx' },
      { path: 'payload.ref', op: 'prefix', value: 'w' }],
  }],
  ['groups in groups', regex('^(a(b|c)?)$'),
    { path: 'payload.ref', op: 'in', value: ['a', 'ab', 'ac'] }],
  ['a list of prefixes', regex('^x(a|b)'), {
    any: [{ path: 'payload.ref', op: 'prefix', value: 'xa' },
      { path: 'payload.ref', op: 'prefix', value: 'xb' }],
  }],
  ['a number as an expression', regex('^42$'),
    { path: 'payload.ref', op: 'in', value: ['42', 42] }],
  ['whatever is there', regex('.*'), { path: 'payload.ref', op: 'exists' }],
  ['an empty expression', regex(''), { path: 'payload.ref', op: 'exists' }],
  ['an expression that only begins', regex('^'), { path: 'payload.ref', op: 'exists' }],
  ['an end', regex('/main$'), { path: 'payload.ref', op: 'suffix', value: '/main' }],
  ['a line', regex('^refs/heads/.*$'), {
    all: [{ path: 'payload.ref', op: 'prefix', value: 'refs/heads/' },
      { not: { path: 'payload.ref', op: 'contains', value: '\n' } }],
  }],
  ['a part of a header', regex('main|master', { source: 'header', name: 'X-A' }), {
    any: [{ path: 'headers.x-a', op: 'contains', value: 'main' },
      { path: 'headers.x-a', op: 'contains', value: 'master' }],
  }],
  ['a prefix of digits in a header', regex('^4', { source: 'header', name: 'X-N' }),
    { path: 'headers.x-n', op: 'prefix', value: '4' }],
  ['an end with brackets', regex('\\[deploy\\]$'),
    { path: 'payload.ref', op: 'suffix', value: '[deploy]' }],
  ['a beginning with brackets', regex('^\\[deploy\\]'),
    { path: 'payload.ref', op: 'prefix', value: '[deploy]' }],
  ['a negation', { 'trigger-rule': { not: value(payload('ref'), 'a')['trigger-rule'] } },
    { not: { path: 'payload.ref', op: 'eq', value: 'a' } }],
];

for (const [name, members, when] of RULES) {
  test(`makes a condition of ${name}`, () => {
    const conversion = convert(members);
    assert.deepEqual(gapsOf(conversion), []);
    const [webhook] = webhooksOf(conversion);
    assert.deepEqual(webhook?.['routes'],
      [{ name: 'main', when, actionConfiguration: 'a' }]);
  });
}

const and = (...rules: readonly Members[]): Members =>
  ({ 'trigger-rule': { and: rules.map((rule) => rule['trigger-rule']) } });
const or = (...rules: readonly Members[]): Members =>
  ({ 'trigger-rule': { or: rules.map((rule) => rule['trigger-rule']) } });
const addresses = (range: string): Members =>
  ({ 'trigger-rule': { match: { type: 'ip-whitelist', 'ip-range': range } } });
const RULE = '/0/trigger-rule';

for (const expression of [
  '^a.c$', '^a+b', '^v\\d+$', '^(a|b', '^a)', '^(?i)a$', '(?i)^é$', '(?i)^merged$', '^[^a]$',
  '^[[:alpha:]]$', '^[\\w]$', '^a$|4', '4', '.5', '}$', 'rue', 'a.*$', '^.*a', '.+', '^a.+b',
  '^a\nb.*$', 'ue\\]$', '"\\]$', '1\\]$', '\\]\\]$', '^\\[true', '^\\["', '^{"', '^4',
  '^-', '^tr', '^[[]', '^\\[', '^[0-9]', '^a{2}$', '^é\\é', '^a$b', '^(?=a)',
  '^[z-a]$',
]) {
  test(`leaves ${JSON.stringify(expression)} disabled`, () => {
    assert.deepEqual(gapsOf(convert(regex(expression))), [`${RULE}/match disabled`]);
  });
}

const GAPS: readonly (readonly [name: string, members: object, gaps: readonly string[]])[] = [
  ['a signature as one of several', or(signed('k'), value(payload('a'), 'b')),
    [`${RULE}/or/0/match disabled`]],
  ['two signatures', and(signed('k'), signed('l')), [`${RULE}/and/1/match disabled`]],
  ['a signature without a secret', signed(''), [`${RULE}/match disabled`]],
  ['a signature in the body', signed('k', { source: 'payload' }),
    [`${RULE}/match/parameter disabled`]],
  ['signed headers', signed('k', { 'headers-to-add-to-signature-payload': ['Date'] }),
    [`${RULE}/match/parameter/headers-to-add-to-signature-payload disabled`]],
  ['addresses as one of several', or(addresses('192.0.2.1'), value(payload('a'), 'b')),
    [`${RULE}/or/0/match disabled`]],
  ['two lists of addresses', and(addresses('192.0.2.1'), addresses('192.0.2.0/24')),
    [`${RULE}/and/1/match disabled`]],
  ['what is no address', addresses('office'), [`${RULE}/match/ip-range disabled`]],
  ['one address of IPv6', addresses('2001:db8::1'), [`${RULE}/match/ip-range`]],
  ['a token beside a signature',
    and(signed('k'), value({ source: 'header', name: 'X-Token' }, 'planted')),
    [`${RULE}/and/1/match`]],
  ['an expression for a token', {
    'trigger-rule': {
      match: { type: 'regex', regex: 'planted', parameter: { source: 'header', name: 'X-Token' } },
    },
  }, [`${RULE}/match disabled`]],
  ['a part of a text', regex('main'), [`${RULE}/match`]],
  ['a part that is denied', { 'trigger-rule': { not: regex('main')['trigger-rule'] } },
    [`${RULE}/not/match`]],
  ['a number in another form', value(payload('n'), '1.50'), [`${RULE}/match/value`]],
  ['a whole array', value(payload('n'), '[1]'), [`${RULE}/match/value disabled`]],
  ['an address in a rule', value({ source: 'request', name: 'remote-addr' }, 'a'),
    [`${RULE}/match/parameter disabled`]],
  ['the whole body in a rule', value({ source: 'raw-request-body' }, 'a'),
    [`${RULE}/match/parameter disabled`]],
  ['a rule that is never true', { 'trigger-rule': {} }, [`${RULE} disabled`]],
  ['a rule that is no rule', { 'trigger-rule': { and: 'x' } }, [`${RULE}/and disabled`]],
  ['an unknown type', { 'trigger-rule': { match: { type: 'magic' } } }, [`${RULE}/match disabled`]],
  ['more comparisons than a condition has',
    or(...Array.from({ length: 60 }, (_, index) => value(payload(`a${index}`), 'b'))),
    [`${RULE} disabled`]],
  ['a second rule in one object',
    { 'trigger-rule': { or: [], and: [] } }, [`${RULE}/or`]],
  ['XML by its type', { 'incoming-payload-content-type': 'text/xml' },
    ['/0/incoming-payload-content-type disabled']],
  ['a part that nobody knows', { 'do-magic': true }, ['/0/do-magic disabled']],
  ['a header that we set', { 'response-headers': [{ name: 'Content-Length', value: '1' }] },
    ['/0 disabled']],
  ['headers that are no list', { 'response-headers': { a: 'b' } },
    ['/0/response-headers disabled']],
  ['a status that is none of success', { 'success-http-response-code': 302 },
    ['/0/success-http-response-code disabled']],
  ['a status that is none of a rejection', {
    ...signed('planted'), 'trigger-rule-mismatch-http-response-code': 302,
  }, ['/0/trigger-rule-mismatch-http-response-code disabled']],
  ...[200, 302].flatMap((code): typeof GAPS => [signed('planted'), addresses('192.0.2.1'),
    value({ source: 'header', name: 'X-Token' }, 'planted')].map((guard, index) => [
    `${code} as the status of a rejection by guard ${index}`,
    { ...guard, 'trigger-rule-mismatch-http-response-code': code },
    ['/0/trigger-rule-mismatch-http-response-code disabled'],
  ])),
  ['a status that is none', {
    ...value(payload('ref'), 'a'), 'trigger-rule-mismatch-http-response-code': 999,
  }, ['/0/trigger-rule-mismatch-http-response-code disabled']],
  ['output as a page', {
    'include-command-output-in-response': true,
    'response-headers': [{ name: 'Content-Type', value: 'text/html' }],
  }, ['/0/include-command-output-in-response disabled']],
  ['JSON within a header', {
    'parse-parameters-as-json': [{ source: 'header', name: 'X-A' }, payload('a')],
  }, ['/0/parse-parameters-as-json/0 disabled']],
  ['JSON within JSON', {
    'parse-parameters-as-json': [payload('a')], 'incoming-payload-content-type': 'application/json',
  }, ['/0/parse-parameters-as-json/0 disabled']],
  ['a template of the file', { 'command-working-directory': "/srv/{{ getenv 'A' }}" },
    ['/0/command-working-directory disabled']],
  ['a folder that is not named from the root', { 'command-working-directory': 'srv' },
    ['/0/command-working-directory disabled']],
  ['all headers', { 'pass-arguments-to-command': [{ source: 'entire-headers' }] },
    ['/0/pass-arguments-to-command/0 disabled']],
  // What comes in these is not given to commands: it would be empty or *** there.
  ['secrets of headers and parameters that a command is to have', {
    'pass-arguments-to-command': [
      { source: 'header', name: 'X-Api-Key' }, { source: 'url', name: 'token' }, payload('token'),
    ],
    'pass-environment-to-command': [
      { source: 'header', name: 'X-Hub-Signature', envname: 'SIGNATURE' },
    ],
    'pass-file-to-command': [{ source: 'query', name: 'password', envname: 'PASSWORD' }],
  }, [
    '/0/pass-file-to-command/0 disabled', '/0/pass-environment-to-command/0 disabled',
    '/0/pass-arguments-to-command/0 disabled', '/0/pass-arguments-to-command/1 disabled',
  ]],
  ['the token that verifies the sender, which a command is to have', {
    ...value(payload('auth.token'), 'planted'),
    'pass-arguments-to-command': [payload('auth.token'), payload('auth'), payload('other')],
    'pass-file-to-command': [{ source: 'entire-payload', envname: 'ALL' }],
  }, [
    '/0/pass-file-to-command/0', '/0/pass-arguments-to-command/0 disabled',
    '/0/pass-arguments-to-command/1',
  ]],
  ['variables that are code, and one that the request has no part in', {
    'pass-environment-to-command': [{ ...payload('a'), envname: 'LD_PRELOAD' },
      { source: 'string', name: '/bin', envname: 'PATH' }],
    'pass-file-to-command': [{ ...payload('b'), envname: 'BASH_ENV' }],
  }, ['/0/pass-file-to-command/0 disabled', '/0/pass-environment-to-command/0 disabled']],
  ['remarks', { _comment: 'a', comment: 'b' }, ['/0/_comment', '/0/comment']],
  ['a method that is one of several', {
    'http-methods': ['PUT', 'POST'],
    'pass-arguments-to-command': [{ source: 'request', name: 'method' }],
  }, ['/0/pass-arguments-to-command/0 disabled']],
  ['a variable with a space', { 'pass-environment-to-command': [payload('a b')] },
    ['/0/pass-environment-to-command/0 disabled']],
  ['a command with arguments in its name', { 'execute-command': '/srv/a.sh now' },
    ['/0/execute-command']],
  ['an id with a slash', { id: 'team/deploy' }, ['/0/id']],
  ['a method that is none', { 'http-methods': ['G ET'] }, ['/0 disabled']],
  ['output of a command that fails', {
    'include-command-output-in-response': true, 'include-command-output-in-response-on-error': true,
  }, []],
  ['empty members', {
    'response-message': '', 'response-headers': [], 'success-http-response-code': 200,
    'trigger-signature-soft-failures': true,
  }, []],
];

for (const [name, members, gaps] of GAPS) {
  test(`lists ${name} with its place, and disables what would be something else`, () => {
    const conversion = convert(members);
    assert.deepEqual(gapsOf(conversion), gaps);
    const [webhook] = webhooksOf(conversion);
    const isDisabled = gaps.some((gap) => gap.endsWith(' disabled'));
    assert.equal(webhook?.['enabled'], isDisabled ? false : undefined);
    assert.ok(conversion.gaps.every(({ reason, remedy }) => reason !== '' && remedy !== ''));
    assert.ok(!showsSecret(conversion));
  });
}

const lost = { not: signed('planted')['trigger-rule'] };
const LOCKED: readonly (readonly [name: string, members: object, remark: RegExp])[] = [
  ['a signature as one of several', or(signed('k'), value(payload('a'), 'b')), /a signature is/],
  ['a signature that is denied', { 'trigger-rule': lost }, /a signature is/],
  ['an expression', regex('^a+b'), /the regular expression/],
  ['an expression beside a value', and(regex('^a+b'), value(payload('a'), 'b')), /expression/],
  ['a rule of an unknown type', { 'trigger-rule': { match: { type: 'Value' } } },
    /did you mean value\?/],
  ['a digest that is not known', { 'trigger-rule': { match: { type: 'payload-hmac-md5' } } },
    /payload-hmac-sha256/],
  ['a rule that is mistyped', { 'trigger-rule': { ands: [] } }, /did you mean and\?/],
  ['a member that is mistyped', { 'trigger-rules': lost }, /did you mean trigger-rule\?/],
  ['a signature without a secret', signed(''), /without a secret/],
  ['a rule that is never true', { 'trigger-rule': {} }, /never true/],
  ['a template in a rule',
    { 'trigger-rule': { not: value(payload('a'), '{{ x }}')['trigger-rule'] } }, /a template/],
  ['more comparisons than a condition has',
    or(...Array.from({ length: 60 }, (_, index) => value(payload(`a${index}`), 'b'))),
    /at most/],
  ['a command before the command', { 'pre-hook-command': '/bin/b' }, /a command before/],
];

for (const [name, members, remark] of LOCKED) {
  test(`runs nothing, also once it is switched on, in place of ${name}`, () => {
    const [webhook = {}] = webhooksOf(convert(members));
    const [route] = webhook['routes'] as JsonObject[];
    const matches = prepareCondition(route?.['when'] as Condition);
    for (const method of ['GET', 'POST']) {
      const facts = { payload: () => ({ a: 'b', ref: 'aa' }), event: () => null, method };
      assert.equal(matches(new Facts(facts)), false);
    }
    assert.equal(webhook['actionConfiguration'], undefined);
    assert.match(String(webhook['description']), remark);
  });
}

test('leaves an expression of more groups than anybody writes disabled', () => {
  const expression = `^${'('.repeat(20_000)}a${')'.repeat(20_000)}$`;
  assert.deepEqual(gapsOf(convert(regex(expression))), [`${RULE}/match disabled`]);
});

for (const parameter of [
  { source: 'url', name: 'key' }, { source: 'header', name: 'X-Key' },
  { source: 'query', name: 's' },
  { source: 'url', name: 'apikey' }, { source: 'header', name: 'X-Deploy-Auth' },
  { source: 'header', name: 'X-My-Deploy-Key' }, { source: 'url', name: 'access_key' },
]) {
  test(`takes ${parameter.name} for the name of a token, which commands do not get`, () => {
    const conversion = convert({
      ...value(parameter, 'planted'), 'pass-arguments-to-command': [parameter],
    });
    assert.deepEqual(gapsOf(conversion), ['/0/pass-arguments-to-command/0 disabled']);
    const [webhook] = webhooksOf(conversion);
    assert.deepEqual(webhook?.['secret'], { $env: 'A_SECRET' });
    assert.equal(webhook?.['routes'], undefined);
    assert.ok(!showsSecret(conversion));
  });
}

for (const name of [
  'Idempotency-Key', 'partition-key', 'X-Routing-Key', 'X-Foo-s', 'issue_key', 'public-key',
  'X-Keys', 'monkey',
]) {
  test(`makes a condition of ${name}, which names a record and no token`, () => {
    const conversion = convert({
      ...value({ source: 'header', name }, 'a'),
      'pass-arguments-to-command': [{ source: 'header', name }],
    });
    assert.deepEqual(gapsOf(conversion), []);
    const [webhook] = webhooksOf(conversion);
    assert.equal(webhook?.['verification'], undefined);
    const [route] = webhook?.['routes'] as JsonObject[];
    assert.deepEqual(route?.['when'],
      { path: `headers.${name.toLowerCase()}`, op: 'eq', value: 'a' });
  });
}

test('says what a request gets that a guard keeps out, in place of a status of success', () => {
  const code = { 'trigger-rule-mismatch-http-response-code': 302 };
  const [webhook] = webhooksOf(convert({ ...signed('planted'), ...code }));
  assert.match(String(webhook?.['description']), new RegExp('keeps out gets 401 or 403 here, and '
    + 'cannot get 302: choose one from 400 to 599, or switch the webhook on if'));
});

test('asks for the right name of a member that a hook needs', () => {
  const [gap] = convertHooks([{ id: 'a', 'execute-comand': '/bin/a' }]).gaps;
  assert.match(gap?.remedy ?? '', /is it execute-comand that is meant/);
});

test('denies a part of a text to texts alone', () => {
  const match = { path: 'payload.ref', op: 'contains', value: 'skip' };
  const text = [{ path: 'payload.ref', op: 'prefix', value: '' }, { not: match }];
  const missing = { path: 'payload.ref', op: 'exists', value: false };
  const [webhook] = webhooksOf(convert({ 'trigger-rule': { not: regex('skip')['trigger-rule'] } }));
  const [route] = webhook?.['routes'] as JsonObject[];
  assert.deepEqual(route?.['when'], { all: [{ not: match }, { any: [missing, text[0]] }] });
  const denials = [regex('skip'), regex('late')].map((rule) => ({ not: rule['trigger-rule'] }));
  const [both] = webhooksOf(convert({ 'trigger-rule': { and: denials } }));
  const [strict] = both?.['routes'] as JsonObject[];
  assert.deepEqual(strict?.['when'],
    { all: [...text, { not: { ...match, value: 'late' } }] });
});

test('says of a text with braces that it is one where no template ran', () => {
  const conversion = convert({
    'pass-arguments-to-command': [{ source: 'string', name: '{{.Names}} {{' }],
  });
  const [gap] = conversion.gaps;
  assert.match(gap?.remedy ?? '', /without -template, .* as it is, switch the webhook on$/);
  assert.deepEqual(optionsOf(conversion)[0]?.['arguments'], ['\\{{.Names}} \\{{']);
});

test('suggests a condition of what an expression begins with', () => {
  const [gap] = convert(regex('^refs/tags/v[0-9]+$')).gaps;
  assert.match(gap?.remedy ?? '', /{"path":"payload.ref","op":"prefix","value":"refs\/tags\/v"}/);
  const [several] = convert(regex('^refs/heads/(main|v[0-9])$')).gaps;
  assert.doesNotMatch(several?.remedy ?? '', /refs/);
});

test('names a webhook by its path where that may be a name', () => {
  const [first, second] = webhooksOf(convert({ id: 'deploy' }, { id: 'Tags' }));
  assert.deepEqual([first?.['name'], second?.['name']], ['deploy', undefined]);
});

const TEXT = { 'Content-Type': 'text/plain', 'X-A': 'b' };
const ANSWERS: readonly (readonly [name: string, members: object, response: unknown])[] = [
  ['nothing but a status without a message', {}, { accepted: { status: 200 } }],
  ['a message', { 'response-message': 'thanks {{' },
    { accepted: { status: 200, body: 'thanks \\{{' } }],
  ['a status and headers, the last of one name', {
    'success-http-response-code': 202,
    'response-headers': [{ name: 'x-a', value: 'a' }, { name: 'Content-Type', value: 'text/plain' },
      { name: 'X-A', value: 'b' }],
  }, { accepted: { status: 202, headers: { 'X-A': 'b', 'Content-Type': 'text/plain' } } }],
  ['a 204, which has no body', { 'success-http-response-code': 204, 'response-message': 'a' },
    { accepted: { status: 204 } }],
  ['a 205, which has no body', { 'success-http-response-code': 205, 'response-message': 'a' },
    { accepted: { status: 205 } }],
  ['a message of JSON', {
    'response-message': '{"a": "{{"}',
    'response-headers': [{ name: 'content-type', value: 'application/json' }],
  }, {
    accepted: {
      status: 200, headers: { 'content-type': 'application/json' }, body: '{"a": "\\\\{{"}',
    },
  }],
  ['a message that is a page', { 'response-message': '\n<!doctype html><p>thanks {{' }, {
    accepted: {
      status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' },
      body: '\n<!doctype html><p>thanks \\{{',
    },
  }],
  ['a message of XML', {
    'response-message': '<?xml version="1.0"?><a/>',
    'response-headers': [{ name: 'X-A', value: 'b' }],
  }, {
    accepted: {
      status: 200, headers: { 'X-A': 'b', 'Content-Type': 'text/xml; charset=utf-8' },
      body: '<?xml version="1.0"?><a/>',
    },
  }],
  ['a message that begins as no page does', { 'response-message': '<pre>thanks</pre>' },
    { accepted: { status: 200, body: '<pre>thanks</pre>' } }],
  ['a page that has another type', {
    'response-message': '<html></html>',
    'response-headers': [{ name: 'content-type', value: 'text/plain' }],
  }, {
    accepted: { status: 200, headers: { 'content-type': 'text/plain' }, body: '<html></html>' },
  }],
  ['no type of a 204', { 'success-http-response-code': 204, 'response-message': '<html>' },
    { accepted: { status: 204 } }],
  ['the output of the command', {
    'include-command-output-in-response': true, 'success-http-response-code': 201,
    'response-headers': Object.entries(TEXT).map(([name, text]) => ({ name, value: text })),
  }, {
    accepted: { status: 201, headers: TEXT, body: '{{ data.output }}' },
    failed: {
      status: 500, headers: { 'X-A': 'b' },
      body: 'Error occurred while executing the hook\'s command. Please check your logs for more '
        + 'details.',
    },
  }],
  ['the output of the command of a route, and of one that fails', {
    ...value(payload('ref'), 'a'), 'include-command-output-in-response': true,
    'include-command-output-in-response-on-error': true,
  }, {
    accepted: { status: 200, body: '{{ data.routes.main.output }}' },
    unmatched: { status: 200, body: 'Hook rules were not satisfied.' },
    failed: { status: 500, body: '{{ data.routes.main.output }}' },
  }],
  ['output as JSON', {
    'include-command-output-in-response': true,
    'include-command-output-in-response-on-error': true,
    'response-headers': [{ name: 'Content-Type', value: 'application/json' }],
  }, {
    accepted: {
      status: 200, headers: { 'Content-Type': 'application/json' }, body: '"{{ data.output }}"',
    },
    failed: {
      status: 500, headers: { 'Content-Type': 'application/json' },
      body: '"{{ data.output }}"',
    },
  }],
  ['what a condition is not for', {
    ...value(payload('ref'), 'a'), 'response-message': 'thanks',
    'response-headers': [{ name: 'X-A', value: 'b' }],
    'trigger-rule-mismatch-http-response-code': 302,
  }, {
    accepted: { status: 200, headers: { 'X-A': 'b' }, body: 'thanks' },
    unmatched: { status: 302, body: 'Hook rules were not satisfied.' },
  }],
  ['what neither a condition nor a signature lets through', {
    ...and(signed('planted'), value(payload('ref'), 'a')),
    'trigger-rule-mismatch-http-response-code': 403,
  }, {
    accepted: { status: 200 },
    unmatched: { status: 403, body: 'Hook rules were not satisfied.' },
    rejected: { status: 403, body: 'Hook rules were not satisfied.' },
  }],
  ['a status of what is rejected', {
    ...signed('planted'), 'trigger-rule-mismatch-http-response-code': 403,
  }, {
    accepted: { status: 200 },
    rejected: { status: 403, body: 'Hook rules were not satisfied.' },
  }],
];

for (const [name, members, response] of ANSWERS) {
  test(`answers ${name}`, () => {
    const conversion = convert(members);
    assert.deepEqual(gapsOf(conversion), []);
    assert.deepEqual(webhooksOf(conversion)[0]?.['response'], response);
  });
}

test('makes a webhook of each signature of which one is enough', () => {
  const conversion = convert({ ...or(signed('planted'), signed('planted')), id: 'a.b' });
  assert.deepEqual(gapsOf(conversion), [`${RULE}/or/1/match`]);
  assert.deepEqual(webhooksOf(conversion).map(({ pathSegment, enabled, secret, routes }) =>
    [pathSegment, enabled, secret, routes]), [
    ['a.b', undefined, { $env: 'A_B_SECRET' }, undefined],
    ['a.b-2', undefined, { $env: 'A_B_SECRET_2' }, undefined],
  ]);
});

test('fills in variables that are set, refers to others, and to those of secrets', () => {
  const hook = {
    ...HOOK, ...signed("{{ getenv 'A' }}"), 'response-message': '{{ getenv "B" }}',
    'command-working-directory': '/srv/{{ getenv "A" | js }}',
    'pass-arguments-to-command': [{ source: 'string', name: '{{ getenv "B" }}' }],
  };
  const conversion = convertHooks([hook, { ...hook, id: 'b' }], { A: 'x' });
  assert.deepEqual(gapsOf(conversion), []);
  const [webhook] = webhooksOf(conversion);
  assert.deepEqual([webhook?.['secret'], webhook?.['response']],
    [{ $env: 'A' }, { accepted: { status: 200, body: { $env: 'B' } } }]);
  const [options] = optionsOf(conversion);
  assert.deepEqual([options?.['workingDirectory'], options?.['arguments']],
    ['/srv/x', [{ $env: 'B' }]]);
});

test('reads fields that hold JSON, and keeps each a member of the payload', () => {
  const fields = { 'parse-parameters-as-json': [payload('payload'), payload('payload')] };
  const [plain, ofGithub] =
    webhooksOf(convert(fields, { id: 'b', ...fields, ...signed('planted') }));
  assert.deepEqual([plain?.['jsonFields'], plain?.['bodyFormat']], [['payload'], 'auto']);
  assert.deepEqual(ofGithub?.['jsonFields'], ['payload']);
  const { preset, scheme } = ofGithub?.['verification'] as JsonObject;
  assert.equal(preset, 'custom');
  assert.equal((scheme as JsonObject)['payload'], undefined);
  const [multipart] = webhooksOf(convert({
    ...fields, 'incoming-payload-content-type': 'multipart/form-data',
  }));
  assert.equal(multipart?.['bodyFormat'], 'multipart');
});

test('lists commands of one name, hooks of one id, and hooks without a command', () => {
  const conversion = convertHooks([
    HOOK, { ...HOOK, id: 'b', 'execute-command': '/usr/bin/a' }, { ...HOOK, id: 'c' }, HOOK,
    { id: 'd' }, { 'execute-command': '/bin/a' },
  ]);
  assert.deepEqual(gapsOf(conversion),
    ['/0/execute-command', '/1/execute-command', '/3 disabled', '/4 disabled', '/5 disabled']);
  assert.deepEqual(webhooksOf(conversion).map(({ pathSegment, enabled }) => [pathSegment, enabled]),
    [['a', undefined], ['b', undefined], ['c', undefined]]);
  assert.deepEqual(optionsOf(conversion).map(({ command }) => command), [
    'a-198e4d3c', 'a-5c358478', 'a-198e4d3c',
  ]);
});

test('passes the only method that a hook takes as it is', () => {
  const [options] = optionsOf(convert({
    'http-methods': ['put'], 'pass-arguments-to-command': [{ source: 'request', name: 'method' }],
  }));
  assert.deepEqual(options?.['arguments'], ['PUT']);
});

test('passes arguments, variables and files as templates, and literal braces as they are', () => {
  const [options] = optionsOf(convert({
    'command-working-directory': '/srv',
    'pass-arguments-to-command': [
      payload('a.0.b'), { source: 'url', name: 'q' }, { source: 'header', name: 'X-A' },
      { source: 'entire-payload' }, payload('root'), { source: 'string', name: 'a {{ b' },
    ],
    'pass-environment-to-command':
      [payload('a.x-y'), { ...payload('b'), envname: 'B', base64decode: true }],
    'pass-file-to-command': [payload('c.z'), { ...payload('d'), envname: 'D', base64decode: true }],
  }));
  assert.deepEqual(options, {
    command: 'a',
    arguments: ['{{ payload.a.0.b }}', '{{ query.q }}', '{{ headers.x-a }}', '{{ payload }}',
      '{{ payload }}', 'a \\{{ b'],
    environment: { 'HOOK_a.x-y': '{{ payload.a.x-y }}', B: '{{ payload.b }}' },
    files: { 'HOOK_C.Z': '{{ payload.c.z }}', D: { base64: '{{ payload.d }}' } },
    stdin: 'none', workingDirectory: '/srv', timeout: 3600,
  });
});
