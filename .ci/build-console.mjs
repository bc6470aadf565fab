// Makes dist/console.html, the whole console in one file, of src/console: the compiled modules stand
// one after another, what a module needs before it, each in a function that returns what it exports.
// That needs no bundler, as the modules hold to four rules, which are checked here: they import each
// other by plain names, never in a circle, no two export the same name, and no template spans lines,
// so that lines can be read one by one.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { minify } from './minify.mjs';

const compiled = resolve('dist/console');
const modules = new Map();
const exporters = new Map();
// Beside it lie the modules of the server that types were taken from.
add(join(compiled, 'console/main.js'), []);
const { texts, nameOf } = minify([...modules.values()]);
const script = [...modules.values()].map(({ exported }, index) => {
  const names = exported.map(nameOf);
  return `const{${names}}=(()=>{${texts[index]}return{${names}}})();`;
}).join('\n');
if (/<\/script|<!--/i.test(script)) fail('the script would end within the page');
const page = readFileSync('src/console/page.html', 'utf8')
  .replace('/*style*/', () => minified(readFileSync('src/console/style.css', 'utf8')))
  .replace('/*script*/', () => script);
writeFileSync('dist/console.html', page);
rmSync(compiled, { recursive: true });

function add(path, above) {
  if (modules.has(path)) return;
  if (above.includes(path)) fail(`modules import each other: ${[...above, path].join(' ')}`);
  const exported = [];
  const known = [];
  const lines = readFileSync(path, 'utf8').split('\n').flatMap((line) => {
    if (line.startsWith('import')) {
      known.push(...addImported(line, path, [...above, path]));
      return [];
    }
    if (/^export \{\s*\};?$/.test(line)) return [];
    const name = /^export (?:async )?(?:function\*?|class|const|let) (\w+)/.exec(line)?.[1];
    if (name === undefined && line.startsWith('export')) fail(`${path}: ${line}`);
    if (name !== undefined) exported.push(name);
    if ((line.match(/`/g)?.length ?? 0) % 2 === 1) fail(`${path}: a template spans lines: ${line}`);
    return [line.replace(/^export /, '')];
  });
  for (const name of exported) {
    if (exporters.has(name)) fail(`${path} and ${exporters.get(name)} both export ${name}`);
    exporters.set(name, path);
  }
  modules.set(path, { text: lines.join('\n'), known, exported });
}

function addImported(line, path, above) {
  const [, names, from] = /^import \{ (\w+(?:, \w+)*),? \} from '(\.[^']+)';$/.exec(line) ?? [];
  if (from === undefined) fail(`${path}: only \`import { name } from './module.ts'\`: ${line}`);
  add(join(dirname(path), from), above);
  return names.split(', ');
}

function minified(style) {
  return style.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1').trim();
}

function fail(message) {
  process.stderr.write(`hookshelf: the console cannot be built: ${message}\n`);
  process.exit(1);
}
