// Makes dist/main.js, the program as it is started, of the modules that the compiler has put into
// dist. Node takes 0.6 ms to find, read and link a module of its own kind, and a command needs
// hundreds. So each becomes a script of its own in dist/program, line by line the same, which ends
// with `return { what it exports }`; dist/load.js runs it as a function when it is first needed.
// Those in dist stay for who imports the package. What has no source any more is removed.
//
// It relies on how the compiler writes modules, and on how ours are: an import is one line and
// names what it takes, or all of a node: module; only classes, functions and constants are
// exported, where they are declared, or what another module exports; `import()` is given a string
// or follows `await` or `return`; none imports another in a circle; and no text has a line or a
// call of these forms.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { compileFunction } from 'node:vm';

const LOADER = `import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

const folder = import.meta.dirname;
const given = {
  $use: use,
  $load: async (name) => use(name),
  $import: (specifier) => import(specifier),
  $require: createRequire(import.meta.url),
  $dist: folder,
};
const loaded = new Map();

/** What a module exports. Runs it when it is asked for the first time. */
export function use(name) {
  let exported = loaded.get(name);
  if (exported === undefined) {
    const filename = \`\${folder}/program/\${name}.js\`;
    const text = readFileSync(filename, 'utf8');
    exported = compileFunction(text, Object.keys(given), { filename })(...Object.values(given));
    loaded.set(name, exported);
  }
  return exported;
}
`;

const IMPORT = /^import (?:(\{ .* \}|\* as \w+) from )?'(\.[^']+|node:[^']+)';$/;
const PASSED_ON = /^export \{ (\w+(?:, \w+)*) \} from '(\.[^']+)';$/;
const DECLARED = /^export (?:async )?(?:function\*?|class|const) (\w+)/;

const written = new Set();
// The compiler leaves it to us, and it has no types.
add('main', readFileSync('src/main.ts', 'utf8').replaceAll(".ts'", ".js'"));
write('dist/load.js', LOADER);
write('dist/main.js', "#!/usr/bin/env node\nimport { use } from './load.js';\n\nuse('main');\n");
removeOthers();

/** Writes the script of a module, and of all that it imports. */
function add(name, text) {
  const path = `dist/program/${name}.js`;
  if (written.has(path)) return;
  written.add(path);
  const imported = [];
  const exported = [];
  const nameOf = (specifier) => {
    const other = posix.join(dirname(name), specifier).replace(/\.js$/, '');
    imported.push(other);
    return `'${other}'`;
  };
  const from = (specifier) =>
    specifier.startsWith('.') ? `$use(${nameOf(specifier)})` : `$require('${specifier}')`;
  const lines = text.replace(/^#!.*/, '').split('\n').map((line) => {
    const [, names, module] = IMPORT.exec(line) ?? [];
    if (module !== undefined) {
      if (/\bdefault\b/.test(names)) fail(`${name}: ${line}`);
      if (names === undefined) return `${from(module)};`;
      return `const ${names.replace(/^\* as /, '').replaceAll(' as ', ': ')} = ${from(module)};`;
    }
    const [, passed, source] = PASSED_ON.exec(line) ?? [];
    if (source !== undefined) {
      exported.push(...passed.split(', ').map((one) => `${one}: ${from(source)}.${one}`));
      return '';
    }
    if (line === 'export {};') return '';
    const declared = DECLARED.exec(line)?.[1];
    if (declared !== undefined) exported.push(declared);
    else if (/^(?:import|export)\b/.test(line)) fail(`${name}: ${line}`);
    return line.replace(/^export /, '');
  });
  const script = lines.join('\n')
    .replace(/\bimport\('(\.[^']+)'\)/g, (_, specifier) => `$load(${nameOf(specifier)})`)
    .replace(/\b(await|return) import\(/g, '$1 $import(')
    .replaceAll('import.meta.dirname', `\`\${$dist}/${dirname(name)}\``);
  check(name, script);
  write(path, `'use strict'; ${script}return { ${exported.join(', ')} };\n`);
  for (const other of imported) add(other, readFileSync(`dist/${other}.js`, 'utf8'));
}

/** A running server may be about to load it, so it is written only when it has changed. */
function write(path, text) {
  written.add(path);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What no source stands behind any more: a package made here would carry it. */
function removeOthers() {
  for (const name of readdirSync('dist', { recursive: true })) {
    const source = /^(?!bin\/|binary\/)(.+?)(\.d\.ts|\.js)$/.exec(name)?.[1];
    if (source === undefined || written.has(join('dist', name))) continue;
    const isModule = source !== 'main' && !name.startsWith('program/');
    if (!isModule || !existsSync(`src/${source}.ts`)) rmSync(join('dist', name), { force: true });
  }
}

/** What would fail only when it is loaded. */
function check(name, script) {
  // Not in a comment or a string.
  const left = /^(?!\s*(?:\/\/|\*))[^'"`\n]*(?<![$.\w])import\(.*/m.exec(script)?.[0];
  if (left !== undefined) fail(`${name}: ${left.trim()}`);
  try {
    compileFunction(script);
  } catch (error) {
    fail(`${name}: ${error.message}`);
  }
}

function fail(message) {
  process.stderr.write(`hookshelf: the program cannot be built: ${message}\n`);
  process.exit(1);
}
