import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { compile } from '../../support/compile.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

test('a query without such script never makes a segmenter', async (context) => {
  const made = context.mock.method(Intl, 'Segmenter', () => {
    throw new Error('made');
  });
  // A copy of its own, which has made none yet.
  const folder = createTemporaryFolder();
  const source = resolve(import.meta.dirname, '../../../src/books/query/words.ts');
  const words = await import(pathToFileURL(compile(source, folder)).href);
  for (const text of ['plain words', 'Les Misérables', 'Война и мир', '한국의 역사', '978-0-441']) {
    assert.equal(words.parseClauses(text, 'q').length > 0, true);
  }
  assert.equal(made.mock.callCount(), 0);
  assert.throws(() => words.parseClauses('東京', 'q'), /made/);
});
