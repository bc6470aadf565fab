import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../io.ts';
import { inPlace } from '../place.ts';
import type { Place } from '../place.ts';

const SHOUT = `
export default class Shout {
  static identifier() { return 'shout'; }
  static label() { return 'Shout'; }
  static validateOptions(options) { return 'word' in options ? [] : ['word is missing']; }
  execute(payload, context, options) {
    return { success: true, message: '', data: { said: options.word.toUpperCase() } };
  }
}
`;

function writeAction(place: Place, name: string, text: string): void {
  const folder = join(place.data, 'actions');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, name), text, { mode: 0o600 });
}

test('custom actions are loaded by the commands that run or check them', () =>
  inPlace('without a server', async (place) => {
    writeAction(place, 'shout.mjs', SHOUT);
    const create = ['actionconfig:create', '--action', 'shout', '--options'];
    const refused = await place.run([...create, '{}']);
    assert.deepEqual([refused.code, /word is missing/.test(refused.stderr)], [1, true]);
    const made = await place.run([...create, '{"word":"hey"}']);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stderr, /no server runs, so this loads the action module .*shout\.mjs$/m);
  }));

test('a configuration saved without a server loads the module of its action alone', () =>
  inPlace('without a server', async (place) => {
    writeAction(place, 'loud.mjs', SHOUT);
    writeAction(place, 'spy.mjs', SHOUT.replaceAll('shout', 'spy'));
    const update = ['actionconfig:update', 'a'];
    const cases: readonly (readonly [words: readonly string[], module: string | null])[] = [
      [['actionconfig:create', '--identifier', 'a', '--action', 'shout', '--options',
        '{"word":"hey"}'], 'loud'],
      [[...update, '--options', '{"word":"ho"}'], 'loud'],
      [[...update, '--action', 'spy'], 'spy'],
      [[...update, '--action', 'log', '--options', '{}'], null],
      [[...update, '--description', 'b'], null],
    ];
    for (const [words, module] of cases) {
      const { code, stderr } = await place.run(words);
      assert.equal(code, 0, stderr);
      const loaded = /loads the action modules? (.*)/.exec(stderr)?.[1] ?? null;
      assert.equal(loaded, module && join(place.data, `actions/${module}.mjs`), words.join(' '));
    }
    const file = join(place.folder, 'set-up.json');
    writeFileSync(file, JSON.stringify({ actionConfigurations: [
      { identifier: 'b', actionType: 'spy', options: { word: 'hey' } }] }));
    const { stdout, stderr } = await place.run(['apply', '--file', file, '--dry-run']);
    assert.match(stdout, /^no server runs, so this loads the action modules .*loud.*spy/, stderr);
    assert.doesNotMatch(stderr, /loads/);
  }));

test('completion, doctor and lists run no action module, and doctor names one that cannot', () =>
  inPlace('without a server', async (place) => {
    const ran = join(place.folder, 'ran');
    writeAction(place, 'spy.mjs',
      `import { writeFileSync } from 'node:fs';\nwriteFileSync('${ran}', '');\n${SHOUT}`);
    const completed = ['completion:words', '--', ...place.location];
    const lists = [[...completed, 'actionconfig:create', '--action', ''],
      [...completed, 'incomingwebhook:create', '--preset', ''], ['actionconfig:actions'],
      ['actionconfig:list'], ['settings:show'], ['config:export']];
    for (const words of lists) {
      const { code, stderr } = words.includes('--') ? await runCommand(words)
        : await place.run(words);
      assert.deepEqual([code, existsSync(ran)], [0, false], `${words.join(' ')}: ${stderr}`);
    }
    assert.match((await place.run(['doctor'])).stdout, /^actions +hint +1 custom module, which/m);
    chmodSync(join(place.data, 'actions/spy.mjs'), 0o666);
    assert.match((await place.run(['doctor'])).stdout, /^actions +failed .*spy\.mjs/m);
    const missing = join(place.folder, 'missing.mjs');
    const { stdout } = await place.run(['doctor'], { environment: { HOOKSHELF_ACTIONS: missing } });
    assert.match(stdout, /^actions +failed/m);
    assert.ok(!existsSync(ran));
    const help = await runCommand(['help', 'incomingwebhook:test']);
    assert.match(help.stdout, /no server\s+runs, it loads the modules/);
  }));

test('an action that cannot be loaded stops those commands with its file name, and no other', () =>
  inPlace('without a server', async (place) => {
    writeAction(place, 'broken.mjs', 'export default 7;');
    const { code, stderr } = await place.run(['actionconfig:create', '--action', 'broken']);
    assert.equal(code, 2);
    assert.match(stderr, /^hookshelf: [^\n]*broken\.mjs: must have[^\n]*\n$/m);
    assert.equal((await place.run(['book:list'])).code, 0);
    assert.equal((await place.run(['actionconfig:list'])).code, 0);
  }));
