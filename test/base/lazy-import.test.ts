import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ProgramReplacedError, findReplacement, lazyImport, loadLazyModules,
} from '../../src/base/lazy-import.ts';

test('loads a module at its first use, once, and has it at once from then on', async () => {
  let loads = 0;
  const withModule = lazyImport(async () => ({ number: loads += 1 }));
  assert.equal(loads, 0);
  const [first, second] = await Promise.all([
    withModule(({ number }) => number), withModule(({ number }) => number),
  ]);
  assert.equal(first, second);
  const third = withModule(({ number }) => number);
  assert.equal(third, first, 'no promise');
  assert.deepEqual(await withModule(), { number: 1 });
});

test('rejects with what keeps a module from loading, and tries again at the next use', async () => {
  let isReadable = false;
  const withModule = lazyImport(async () => {
    if (!isReadable) throw new Error('EACCES');
    return { name: 'read' };
  });
  await assert.rejects(async () => withModule(({ name }) => name), /EACCES/);
  isReadable = true;
  assert.equal(await withModule(({ name }) => name), 'read');
});

test('tells of a program that is gone from where it was started', async () => {
  const gone = new URL('gone.ts', import.meta.url);
  let file = gone.href;
  const withModule = lazyImport(() => import(file));
  await assert.rejects(async () => withModule(), ProgramReplacedError);
  file = 'node:fs';
  await withModule();
  assert.match(findReplacement(gone.pathname) ?? '', /restart it/);
  for (const present of [import.meta.filename, undefined]) {
    assert.equal(findReplacement(present), null);
  }
});

test('hands on what a use throws', async () => {
  const withModule = lazyImport(async () => ({}));
  const use = (): never => {
    throw new Error('of the use');
  };
  await assert.rejects(async () => withModule(use), /of the use/);
  assert.throws(() => withModule(use), /of the use/);
});

test('loads ahead all that is late, and what that has left for later in its turn', async () => {
  const loaded: string[] = [];
  lazyImport(async () => {
    loaded.push('outer');
    lazyImport(async () => {
      loaded.push('inner');
      return {};
    });
    return {};
  });
  await loadLazyModules();
  assert.deepEqual(loaded, ['outer', 'inner']);
});
