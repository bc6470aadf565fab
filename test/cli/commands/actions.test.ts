import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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
    assert.match((await place.run(['actionconfig:actions'])).stdout, /^shout +Shout/m);
    const create = ['actionconfig:create', '--action', 'shout', '--options'];
    const refused = await place.run([...create, '{}']);
    assert.deepEqual([refused.code, /word is missing/.test(refused.stderr)], [1, true]);
    const made = await place.run([...create, '{"word":"hey"}']);
    assert.equal(made.code, 0, made.stderr);
  }));

test('an action that cannot be loaded stops those commands with its file name, and no other', () =>
  inPlace('without a server', async (place) => {
    writeAction(place, 'broken.mjs', 'export default 7;');
    const { code, stderr } = await place.run(['actionconfig:actions']);
    assert.equal(code, 2);
    assert.match(stderr, /^hookshelf: [^\n]*broken\.mjs[^\n]*\n$/);
    assert.equal((await place.run(['book:list'])).code, 0);
    assert.equal((await place.run(['actionconfig:list'])).code, 0);
  }));
