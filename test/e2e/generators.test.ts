/**
 * Clients that generators make from /openapi.json: they compile under strict and manage everything.
 * The generators are no dependency of ours: `node .ci/generators.mjs` installs them aside and names
 * their folder. What they need of the document is held by test/openapi-clients.test.ts.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { endOf, owned } from '../support/children.ts';
import { CLIENT_PROGRAMS, CLIENT_RESULT } from '../support/client-programs.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { startServer } from './processes.ts';

const FOLDER = process.env['GENERATORS_FOLDER'];
const TSC = resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
const TSX = import.meta.resolve('tsx');
// As a bundler resolves modules: what one of them makes has no file extensions.
const CONFIG = {
  compilerOptions: {
    target: 'es2023', module: 'preserve', moduleResolution: 'bundler', strict: true, noEmit: true,
    lib: ['es2023', 'dom', 'dom.iterable'], types: ['node'], skipLibCheck: true,
  },
  include: ['program.ts', 'api'],
};

for (const { generator, command, files } of CLIENT_PROGRAMS) {
  test(`a client of ${generator} type-checks and does everything`, {
    skip: FOLDER === undefined && 'run `node .ci/generators.mjs`',
  }, () => inFolder(async (folder) => {
    const modules = join(FOLDER ?? '', 'node_modules');
    symlinkSync(modules, join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    mkdirSync(join(folder, 'data'));
    const server = await startServer(['--data', join(folder, 'data')]);
    try {
      const { text } = await ask(`${server.url}/openapi.json`);
      writeFileSync(join(folder, 'openapi.json'), text);
      const [program, ...words] = command;
      await run(folder, join(modules, program), ...words);
      await run(folder, TSC, '-p', '.');
      const printed = await run(folder, '--import', TSX, 'program.ts', server.url);
      assert.deepEqual(JSON.parse(printed), CLIENT_RESULT);
    } finally {
      await server.stop();
    }
  }));
}

async function run(cwd: string, ...words: readonly string[]): Promise<string> {
  const ended = await endOf(owned(spawn(process.execPath, words, { cwd })));
  assert.equal(ended.code, 0, `${words.join(' ')}: ${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}
