import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import {
  readConfigurationFile,
} from '../../../../src/cli/commands/configuration/configuration-file.ts';
import { Identity } from '../../../../src/cli/process/identity.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';

const ENVIRONMENT = { GITHUB_SECRET: 'from the variable', EMPTY: '' };

function makeFile(text: string, name = 'shelf.json'): { readonly path: string; read(): unknown } {
  const folder = createTemporaryFolder();
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets', 'crm'), 'of the file\n');
  writeFileSync(join(folder, 'secrets', 'two-lines'), 'one\n\n');
  writeFileSync(join(folder, 'secrets', 'windows'), 'carriage\r\n');
  writeFileSync(join(folder, 'secrets', 'empty'), '\n');
  writeFileSync(join(folder, 'secrets', 'latin1'), Buffer.from('caf\xe9', 'latin1'));
  const path = join(folder, name);
  writeFileSync(path, text);
  return {
    path,
    read: () => readConfigurationFile(path, {
      identity: new Identity(null), environment: ENVIRONMENT, isRegular: false, keep: [],
    }).document,
  };
}

function messageFor(text: string): string {
  const { path, read } = makeFile(text);
  try {
    read();
  } catch (thrown) {
    assert(thrown instanceof AppError);
    return thrown.message.replaceAll(join(path, '..'), '<folder>');
  }
  return assert.fail('it was read');
}

test('a reference stands for a string, at any depth', () => {
  const { read } = makeFile(JSON.stringify({
    incomingWebhooks: [{ pathSegment: 'gh', secret: { $env: 'GITHUB_SECRET' } }],
    outgoingWebhooks: [
      { name: 'crm', secret: { $file: 'secrets/crm' }, headers: { 'X-Key': { $env: 'EMPTY2' } } },
    ],
  }).replace('EMPTY2', 'GITHUB_SECRET'));
  assert.deepEqual(read(), {
    incomingWebhooks: [{ pathSegment: 'gh', secret: 'from the variable' }],
    outgoingWebhooks: [
      { name: 'crm', secret: 'of the file', headers: { 'X-Key': 'from the variable' } },
    ],
  });
});

test('of a file one newline at its end is dropped, and no more', () => {
  const { read } = makeFile(
    '{"a":{"$file":"secrets/two-lines"},"b":{"$file":"./secrets/windows"}}');
  assert.deepEqual(read(), { a: 'one\n', b: 'carriage' });
});

test('a name of an object\'s machinery is a member like any other', () => {
  const { read } = makeFile('{"__proto__":{"toString":{"$env":"GITHUB_SECRET"}}}');
  assert.equal(JSON.stringify(read()), '{"__proto__":{"toString":"from the variable"}}');
});

test('all references that stand for nothing are named at once, with their places', () => {
  const text = JSON.stringify({
    incomingWebhooks: [
      { secret: { $env: 'ABSENT' } }, { secret: { $env: 'EMPTY' } },
      { secret: { $env: 'toString' } },
    ],
    outgoingWebhooks: [{ secret: { $file: 'secrets/empty' } }, { secret: { $file: 'absent' } }],
  });
  assert.equal(messageFor(text), '<folder>/shelf.json: '
    + '/incomingWebhooks/0/secret: the environment variable ABSENT is not set; '
    + '/incomingWebhooks/1/secret: the environment variable EMPTY is empty; '
    + '/incomingWebhooks/2/secret: the environment variable toString is not set; '
    + '/outgoingWebhooks/0/secret: the file <folder>/secrets/empty is empty; '
    + '/outgoingWebhooks/1/secret: cannot read <folder>/absent: '
    + 'ENOENT: no such file or directory, open \'<folder>/absent\'');
});

const BROKEN = [
  ['{"a":\n  tru}', 'not valid JSON at line 2, column 3: expected a value, found "t"'],
  ['', 'not valid JSON at line 1, column 1: expected a value, found the end of the text'],
  ['{"incomingWebhooks":[],\n "incomingWebhooks":[]}',
    'line 2, column 2: the member "incomingWebhooks" stands twice'],
  ['3', 'must be a JSON object, such as { "incomingWebhooks": [{ "pathSegment": "gh" }] }'],
  ['[]', 'must be a JSON object, such as { "incomingWebhooks": [{ "pathSegment": "gh" }] }'],
  ['{"set":"mine"}', '/set: is not said by the file, but by --set <name>'],
  ['{"dryRun":true}', '/dryRun: is not said by the file, but by hookshelf apply --dry-run'],
  ['{"a":{"$env":"X","b":1}}', '/a: must be { "$env": "GITHUB_SECRET" }, with nothing beside it'],
  ['{"a":[{"$env":7}]}', '/a/0: must be { "$env": "GITHUB_SECRET" }, with nothing beside it'],
  ['{"a":{"$file":""}}',
    '/a: must be { "$file": "/run/secrets/github" }, with nothing beside it'],
  ['{"a":{"$file":"secrets/latin1"}}', '/a: the file <folder>/secrets/latin1 is not UTF-8'],
  ['{"a":{"$file":"/dev/zero"}}',
    '/a: cannot read /dev/zero: it is larger than 1048576 bytes'],
] as const;

for (const [text, problem] of BROKEN) {
  test(`a file that holds ${JSON.stringify(text)} is refused: ${problem}`, () => {
    assert.equal(messageFor(text), `<folder>/shelf.json: ${problem}`);
  });
}

const HOOK_FILES = [
  '[{"id":"a","execute-command":"/a"}]', '{"id":"a","execute-command":"/a"}',
  '[ // comment\n{"id":"a","execute-command":"/a"},]', '- id: a\n  execute-command: /a\n',
];

for (const text of HOOK_FILES) {
  test(`hooks of adnanh/webhook are told, and how to convert them: ${JSON.stringify(text)}`, () => {
    assert.equal(messageFor(text), '<folder>/shelf.json: these are hooks of adnanh/webhook, to '
      + "convert first: hookshelf config:convert --from adnanh '<folder>/shelf.json' > shelf.json");
  });
}

test('a file that is not there is named', () => {
  const deps = { identity: new Identity(null), environment: {}, isRegular: false, keep: [] };
  assert.throws(() => readConfigurationFile('/nowhere/shelf.json', deps), {
    code: 'not_found',
    message: 'cannot read /nowhere/shelf.json: ENOENT: no such file or directory, '
      + 'open \'/nowhere/shelf.json\'',
  });
});

test('a server reads regular files alone, which do not make it wait', () => {
  const deps = { identity: new Identity(null), environment: {}, isRegular: true, keep: [] };
  assert.throws(() => readConfigurationFile('/dev/stdin', deps), /\/dev\/stdin/);
  const { path } = makeFile('{"a":{"$file":"/dev/zero"}}');
  assert.throws(() => readConfigurationFile(path, deps),
    /\/a: cannot read \/dev\/zero: \/dev\/zero is not a regular file/);
});
