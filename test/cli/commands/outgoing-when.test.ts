import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inPlace } from '../place.ts';

test('a condition is given, replaced as a whole, and taken away', () =>
  inPlace('through a server', async (place) => {
    const first = { all: [{ path: 'payload.a', op: 'gt', value: 1 }] };
    const file = join(place.folder, 'when.json');
    writeFileSync(file, JSON.stringify(first));
    const made = await place.json(['outgoingwebhook:create', '--target-url', 'http://127.0.0.1:1/',
      '--trigger-event', 'a', '--when', `@${file}`, '--generate-secret']);
    assert.deepEqual(made['when'], first);
    const update = ['outgoingwebhook:update', String(made['identifier'])];
    const second = { not: { path: 'payload.gone', op: 'eq', value: null } };
    const changed = await place.json([...update, '--when', JSON.stringify(second)]);
    assert.deepEqual([changed['when'], changed['triggerEvent'], changed['hasSecret']],
      [second, 'a', true]);
    assert.deepEqual((await place.json([...update, '--unset', 'when']))['when'], undefined);
    const wrong = await place.run([...update, '--when', '{"path":"method","op":"exists"}']);
    assert.deepEqual([wrong.code, /\/when\/path: must begin with payload or/.test(wrong.stderr)],
      [1, true], wrong.stderr);
    assert.equal((await place.run([...update, '--when', '[]'])).code, 2);
  }));
