import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../cli/io.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { ETCD, POSTGRES } from './support/started-engine.ts';

test('records move from files to PostgreSQL, to etcd, and into a directory again', {
  skip: POSTGRES.missing || ETCD.missing,
}, async (context) => {
  const folder = createTemporaryFolder();
  const urls: string[] = [];
  for (const { start } of [POSTGRES, ETCD]) {
    const engine = await start();
    context.after(() => engine.close());
    urls.push(engine.newLog());
  }
  const data = join(folder, 'data');
  const run = async (url: string | null, ...words: string[]): Promise<string> => {
    const environment: Record<string, string> = url === null ? {} : { HOOKSHELF_STORE_URL: url };
    const { code, stdout, stderr } = await runCommand([...words, '--data', data], { environment });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const books = join(folder, 'books.jsonl');
  writeFileSync(books, Array.from({ length: 2000 }, (_, index) =>
    `${JSON.stringify({ title: `Book ${index}`, description: 'ü€𝄞'.repeat(index % 200) })}\n`)
    .join(''));
  await run(null, 'book:import', '--file', books);
  const before = await run(null, 'book:list', '--json');

  let source: string | null = null;
  for (const url of urls) {
    assert.match(await run(source, 'data:move', '--to', url), /moved .*2000 books/);
    assert.match(await run(url, 'data:verify'), /with .*2000 books.*; nothing is damaged/);
    assert.equal(await run(url, 'book:list', '--json'), before);
    source = url;
  }
  await run(source, 'data:move', '--to', join(folder, 'back'));
  const back = await runCommand(['book:list', '--json', '--data', join(folder, 'back')]);
  assert.equal(back.stdout, before);
});
