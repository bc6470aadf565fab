// Makes dist/console.html, the whole console in one file, of src/console: the compiled modules stand
// one after another, what a module needs before it, each in a function that returns what it exports.
// That needs no bundler, as the modules hold to three rules, which are checked here: they import each
// other by plain names, never in a circle, and no template spans lines, so that indentation can go.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const compiled = resolve('dist/console');
const modules = new Map();
const variables = new Map();

// Beside it lie the modules of the server that types were taken from.
add(join(compiled, 'console/main.js'), []);
const script = [...modules.values()].join('\n');
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
  const lines = readFileSync(path, 'utf8').split('\n').flatMap((line) => {
    if (line.startsWith('import')) return [imported(line, path, [...above, path])];
    if (/^export \{\s*\};?$/.test(line)) return [];
    const name = /^export (?:async )?(?:function\*?|class|const|let) (\w+)/.exec(line)?.[1];
    if (name === undefined && line.startsWith('export')) fail(`${path}: ${line}`);
    if (name !== undefined) exported.push(name);
    if ((line.match(/`/g)?.length ?? 0) % 2 === 1) fail(`${path}: a template spans lines: ${line}`);
    return [tightened(line.replace(/^export /, '').trim())];
  });
  modules.set(path, `const ${variable(path)} = (() => {\n${lines.join('\n')}`
    + `return { ${exported.join(', ')} };\n})();`);
}

function imported(line, path, above) {
  const [, names, from] = /^import \{ (\w+(?:, \w+)*) \} from '(\.[^']+)';$/.exec(line) ?? [];
  if (from === undefined) fail(`${path}: only \`import { name } from './module.ts'\`: ${line}`);
  const target = join(dirname(path), from);
  add(target, above);
  return `const { ${names} } = ${variable(target)};`;
}

// Spaces around what separates. Where a line holds a slash or a template it may hold an expression or
// a text that spaces belong to; of strings only what is between them is touched.
function tightened(line) {
  if (/[`/]|"/.test(line)) return line;
  return line.split(/('(?:[^'\\]|\\.)*')/).map((part, index) =>
    index % 2 === 1 ? part : part.replace(/ *([=<>?:,;{}()|&[\]]+) */g, '$1')).join('');
}

// Short, as each module is named by all that import it.
function variable(path) {
  if (!variables.has(path)) variables.set(path, `m${variables.size}`);
  return variables.get(path);
}

function minified(style) {
  return style.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1').trim();
}

function fail(message) {
  process.stderr.write(`hookshelf: the console cannot be built: ${message}\n`);
  process.exit(1);
}
