import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import {
  loadActionModules as startModules,
} from '../../../../src/webhooks/actions/modules/load-action-modules.ts';
import {
  createActionRegistry, type ActionRegistry, type ActionSource,
} from '../../../../src/webhooks/actions/action-registry.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';
import { createCall } from './action-calls.ts';

const root = createTemporaryFolder();

const SOUND = `
export default class {
  static made = 0;
  static identifier() { return 'sound'; }
  static label() { return 'Sound'; }
  static validateOptions({ word }) { return word === undefined ? ['word is required'] : []; }
  count = 0;
  execute(payload, context, options, { ActionResult }) {
    this.count += 1;
    return ActionResult.ok({ count: this.count, payload });
  }
}`;

const closers: (() => Promise<void>)[] = [];
after(() => Promise.all(closers.map((close) => close())));

/** The actions of modules, whose worker ends with the tests. */
async function loadActionModules(
  files: { readonly folder: string; readonly paths: readonly string[] },
): Promise<readonly ActionSource[]> {
  const { sources, close } = await startModules({
    ...files, log: silentLogger, callTimeoutMs: 30_000, memoryMiBMax: 128,
  });
  closers.push(close);
  return sources;
}

let folderCount = 0;
function folderWith(files: Readonly<Record<string, string>>, mode = 0o600): string {
  folderCount += 1;
  const folder = join(root, `actions-${folderCount}`);
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  }
  return folder;
}

function registry(custom: readonly ActionSource[]): ActionRegistry {
  const http = { request: () => Promise.reject(new Error('there is no network')) };
  return createActionRegistry({ builtIn: [], custom, http, log: silentLogger });
}

test('a module in the folder becomes an action, made once', async () => {
  const folder = folderWith({ 'a.mjs': SOUND, 'notes.txt': 'not code' });
  const action = registry(await loadActionModules({ folder, paths: [] })).find('sound');
  assert.equal(action?.label, 'Sound');
  assert.equal(action.module?.fileName, 'a.mjs');
  assert.deepEqual(await action.validateOptions({}), ['word is required']);
  assert.deepEqual(await action.validateOptions({ word: 1 }), []);
  const call = createCall({ word: 'p' });
  await action.run(call);
  assert.deepEqual(await action.run(call),
    { success: true, message: null, data: { count: 2, payload: { word: 'p' } } });
});

test('a path of the settings is loaded as well', async () => {
  const folder = folderWith({ 'elsewhere.mjs': SOUND });
  const sources = await loadActionModules({
    folder: join(root, 'missing'), paths: [join(folder, 'elsewhere.mjs')],
  });
  assert.notEqual(registry(sources).find('sound'), undefined);
});

test('a file or folder that others may write is refused by name', async () => {
  for (const mode of [0o620, 0o602, 0o666]) {
    const folder = folderWith({ 'open.mjs': SOUND }, mode);
    await assert.rejects(loadActionModules({ folder, paths: [] }), /open\.mjs.*chmod go-w/);
  }
  const folder = folderWith({ 'fine.mjs': SOUND });
  chmodSync(folder, 0o770);
  await assert.rejects(loadActionModules({ folder, paths: [] }), /chmod go-w/);
});

test('a file that the settings name is held to the same rule', async () => {
  for (const mode of [0o620, 0o602, 0o666]) {
    const folder = folderWith({ 'open.mjs': SOUND }, mode);
    // What a link leads to is what would run.
    symlinkSync('open.mjs', join(folder, 'link.mjs'));
    for (const name of ['open.mjs', 'link.mjs']) {
      const loading = loadActionModules({
        folder: join(root, 'missing'), paths: [join(folder, name)],
      });
      await assert.rejects(loading, /open\.mjs: is writable by group or others.*chmod go-w/);
    }
  }
});

test('a pipe among the modules is refused, and not waited for', async () => {
  const folder = folderWith({});
  assert.equal(spawnSync('mkfifo', ['-m', '600', join(folder, 'pipe.mjs')]).status, 0);
  const places = [
    { folder, paths: [] }, { folder: join(root, 'missing'), paths: [join(folder, 'pipe.mjs')] },
  ];
  for (const place of places) {
    await assert.rejects(loadActionModules(place), /pipe\.mjs: is not a regular file/);
  }
});

const UNSOUND: readonly [string, string, RegExp][] = [
  ['no class', 'export default 1;', /must have a class .* as its default export/],
  ['nothing', 'export const a = 1;', /must have a class .* as its default export/],
  ['no execute', 'export default class { static identifier() { return "a"; } '
    + 'static label() { return "A"; } }', /must have a class .* as its default export/],
  ['a bad identifier', SOUND.replace("'sound'", "'not sound'"), /identifier\(\)/],
  ['a broken constructor', SOUND.replace('count = 0;', 'count = nope();'), /nope/],
];

for (const [name, text, message] of UNSOUND) {
  test(`a module that has ${name} stops the start, named`, async () => {
    const folder = folderWith({ 'bad.mjs': text });
    await assert.rejects(loadActionModules({ folder, paths: [] }), (error: Error) =>
      message.test(error.message) && error.message.includes('bad.mjs'));
  });
}

test('a module that cannot be parsed stops the start, with the command that shows the line',
  async () => {
    for (const [name, hint] of [
      ['broken.mjs', /broken\.mjs: Unexpected .* \(`node --check \S+broken\.mjs` shows the line\)/],
      ['broken.js', /shows the line; an ES module .* must end in \.mjs\)/],
    ] as const) {
      const folder = folderWith({ [name]: 'export default class {' });
      await assert.rejects(loadActionModules({ folder, paths: [] }), hint);
    }
  });

test('a module that cannot be loaded stops the start, named', async () => {
  for (const text of ['export default class {', "import 'nowhere-at-all';", 'throw new Error()']) {
    const folder = folderWith({ 'broken.mjs': text });
    await assert.rejects(loadActionModules({ folder, paths: [] }), /broken\.mjs/);
  }
});

test('two actions of one identifier are refused', async () => {
  const folder = folderWith({ 'a.mjs': SOUND, 'b.mjs': SOUND });
  const sources = await loadActionModules({ folder, paths: [] });
  assert.throws(() => registry(sources), /b\.mjs: there is an action "sound" already/);
});

const UNCHECKED = /could not be checked/;
const ANSWERS: readonly [() => unknown, RegExp | null][] = [
  [() => undefined, null], [() => null, null], [() => [], null], [() => ['a'], /^a$/],
  [() => 'no list', UNCHECKED], [() => false, UNCHECKED], [async () => [], UNCHECKED],
  [async () => { throw new Error('late'); }, UNCHECKED],
];

test('options are taken when their check gives no problem, and never without a list', async () => {
  for (const [given, expected] of ANSWERS) {
    class Checked {
      static identifier(): string { return 'checked'; }
      static label(): string { return 'Checked'; }
      static validateOptions(): unknown { return given(); }
      execute(): ActionResult { return ActionResult.ok(); }
    }
    const action = registry([{ actionClass: Checked, origin: 'a test' }]).find('checked');
    const [problem = null, ...more] = await action?.validateOptions({}) ?? [];
    assert.deepEqual(more, []);
    if (expected === null) assert.equal(problem, null);
    else assert.match(String(problem), expected);
  }
});

test('an action sees the payload however it takes its arguments', () => {
  const payload = { word: 'p' };
  const seen: unknown[] = [];
  const see = (value: unknown): ActionResult => {
    seen.push(value);
    return ActionResult.ok();
  };
  const names = { identifier: () => 'seeing', label: () => 'Seeing' };
  const classes = [
    Object.assign(class { execute(...all: unknown[]) { return see(all[0]); } }, names),
    Object.assign(class { execute(given: unknown = null) { return see(given); } }, names),
    Object.assign(class { execute() { return see(arguments[0]); } }, names),
  ];
  for (const actionClass of classes) {
    registry([{ actionClass, origin: 'test' }]).find('seeing')?.run(createCall(payload));
  }
  assert.deepEqual(seen, [payload, payload, payload]);
});
