import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MemberSchema, MemberSchemas, Schema } from '../../../src/base/schema.ts';
import type { OptionSpec } from '../../../src/cli/arguments/option-spec.ts';
import { Arguments } from '../../../src/cli/arguments/parse-arguments.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import type { CommandContext } from '../../../src/cli/commands/command-context.ts';
import {
  changeOptions, memberOptions, queryOptions,
} from '../../../src/cli/commands/member-options.ts';
import { readMembers } from '../../../src/cli/commands/option-members.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const TEXTS: Schema = { kind: 'array', items: { kind: 'string' }, maxItems: 2 };
const described = (schema: Schema, rest: Partial<MemberSchema> = {}): MemberSchema =>
  ({ schema, description: 'Which `books` of it. More', ...rest });
const MEMBERS: MemberSchemas = {
  createdAt: described({ kind: 'string' }, { readOnly: 'ignored' }),
  shelfName: described({ kind: 'string' }, { isRequired: true }),
  mode: described({ kind: 'string', values: ['a', 'b'] }, { default: 'a' }),
  howMany: described({ kind: 'integer', minimum: 1, maximum: 2 }),
  isOpen: described({ kind: 'boolean' }),
  tags: described(TEXTS),
  rule: described({ kind: 'json', isObject: true, bytesMax: 1, depthMax: 1 }),
  reserved: described({ kind: 'boolean' }, { option: [] }),
  owners: described(TEXTS, { option: [{ name: 'owner' }, { name: 'owners-file' }] }),
  enabled: described({ kind: 'boolean' }, { option: { name: 'disabled', isForNew: true } }),
};

test('options follow from the members of a schema', () => {
  const options = memberOptions(MEMBERS);
  assert.deepEqual(Object.entries(options).map(([name, option]) => [name, kindOf(option)]), [
    ['shelf-name', '<text> required'], ['mode', '<a | b>'], ['how-many', '<n>'],
    ['is-open', 'flag'], ['tags', '<name,…> repeatable'], ['rule', '<json | @file | ->'],
    ['owner', '<name,…> repeatable'], ['owners-file', '<name,…> repeatable'],
    ['disabled', 'flag'],
  ]);
  assert.deepEqual(options['mode']?.values, ['a', 'b']);
  assert.equal(options['rule']?.meaning, 'which books of it');
});

test('options follow from the parameters of a query', () => {
  const description = 'Whose `title` it is; several times: one. More.';
  const options = queryOptions([
    { name: 'shelf.not', in: 'query', schema: TEXTS, description, isRequired: true },
    {
      name: 'isOpen', in: 'query', schema: { kind: 'boolean' }, description: 'Open ones.',
      option: { values: ['true', 'false'], suggests: ['true'] },
    },
    { name: 'cursor', in: 'query', schema: { kind: 'string' }, description, option: [] },
  ]);
  assert.deepEqual(Object.entries(options).map(([name, option]) => [name, kindOf(option)]), [
    ['shelf-not', '<name,…> required repeatable'], ['is-open', '<true | false>'],
  ]);
  assert.equal(options['shelf-not']?.meaning, 'whose title it is; several times: one');
  assert.equal(options['is-open']?.meaning, 'open ones');
  assert.deepEqual(options['is-open']?.suggests, ['true']);
});

test('a change requires no member, and takes away those that need not be', () => {
  const options = changeOptions(MEMBERS);
  assert.ok(!Object.hasOwn(options, 'disabled'));
  assert.ok(Object.values(options).every(({ isRequired }) => isRequired !== true));
  assert.deepEqual(options['unset']?.values, ['how-many', 'is-open', 'tags', 'rule', 'owners']);
});

test('the option of a secret is that of a file, and --unset names the member', () => {
  const members: MemberSchemas = {
    apiKey: described({ kind: 'string' }, { isSecret: true }),
    secret: described({ kind: 'string' }, {
      isSecret: true, option: [{}, { name: 'generate-secret', isFlag: true, help: 'make one' }],
    }),
  };
  const options = changeOptions(members);
  assert.deepEqual(Object.keys(options),
    ['api-key-file', 'secret-file', 'generate-secret', 'unset']);
  const { placeholder, completes, meaning } = options['api-key-file'] ?? {};
  assert.deepEqual([placeholder, completes, meaning],
    ['<path | ->', 'file', 'file that holds the api key, - for standard input']);
  assert.deepEqual(options['unset']?.values, ['api-key', 'secret']);
});

test('a secret is read from its file, a flag is true, and a text may say so', async () => {
  const path = join(createTemporaryFolder(), 'key');
  writeFileSync(path, 'sesame\n');
  const members: MemberSchemas = {
    apiKey: described({ kind: 'string' }, { isSecret: true }),
    isOpen: described({ kind: 'boolean' }),
    isShown: described({ kind: 'boolean' }, { option: { values: ['true', 'false'] } }),
  };
  const args = new Arguments(new Map([
    ['api-key-file', [path]], ['is-open', ['']], ['is-shown', ['false']],
  ]));
  const context = { args, identity: { prepareToRead: () => {} } } as unknown as CommandContext;
  assert.deepEqual(await readMembers(context, { kind: 'object', members }),
    { apiKey: 'sesame', isOpen: true, isShown: false });
});

test('every command that a route has is a row of the table', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts')).map((path) => readFileSync(join('src', path), 'utf8'));
  const names = sources.flatMap((text) =>
    [...text.matchAll(/commands: \[([^\]]*)\]/g)].flatMap(([, rows = '']) =>
      [...rows.matchAll(/name: '([a-z-]+:[a-z-]+)'/g)].map(([, name]) => name)));
  assert.ok(names.length > 5);
  const known = COMMANDS.map(({ name }) => name);
  assert.deepEqual(names.filter((name) => !known.includes(name ?? '')), []);
});

function kindOf({ placeholder = 'flag', isRequired, isRepeatable }: OptionSpec): string {
  return placeholder + (isRequired === true ? ' required' : '')
    + (isRepeatable === true ? ' repeatable' : '');
}
