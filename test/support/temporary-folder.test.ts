/** Temporary folders are gone with the process that made them, also when the runner ends it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { owned } from './children.ts';
import { compile } from './compile.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

for (const signal of [null, 'SIGTERM'] as const) {
  test(`temporary folders go with their process, which ends by ${signal ?? 'itself'}`, async () => {
    const module = compile(new URL('temporary-folder.ts', import.meta.url).pathname,
      createTemporaryFolder());
    const child = owned(spawn(process.execPath, ['--input-type=module', '-e', `
      import { writeFileSync } from 'node:fs';
      import { createTemporaryFolder } from ${JSON.stringify(module)};
      const folder = createTemporaryFolder();
      writeFileSync(folder + '/file', '');
      console.log(folder);
      ${signal === null ? '' : 'setInterval(() => {}, 1000);'}
    `], { stdio: ['ignore', 'pipe', 'inherit'] }));
    const [chunk] = await once(child.stdout, 'data');
    const folder = String(chunk).trim();
    if (signal !== null) {
      assert.ok(existsSync(folder));
      child.kill(signal);
    }
    await once(child, 'exit');
    assert.equal(existsSync(folder), false, folder);
  });
}
