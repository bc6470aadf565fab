// Makes dist/console.html, the whole console in one file, of src/console: the compiled modules stand
// one after another, what a module needs before it, each in a function that returns what it exports.
// That needs no bundler, as the modules hold to four rules, which are checked here: they import each
// other by plain names, never in a circle, no two export the same name, and no template spans lines,
// so that indentation can go.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const compiled = resolve('dist/console');
const modules = new Map();
const exporters = new Map();
const LITERALS = new RegExp([
  /'(?:[^'\\]|\\.)*'/, /"(?:[^"\\]|\\.)*"/, /`.*`/,
  // A slash after what ends no value.
  /(?<=(?:[=>(,:!&|?[]|return)\s*)\/(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+\//,
].map(({ source }) => source).join('|'), 'g');

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
    if (line.startsWith('import')) {
      addImported(line, path, [...above, path]);
      return [];
    }
    if (/^export \{\s*\};?$/.test(line)) return [];
    const name = /^export (?:async )?(?:function\*?|class|const|let) (\w+)/.exec(line)?.[1];
    if (name === undefined && line.startsWith('export')) fail(`${path}: ${line}`);
    if (name !== undefined) exported.push(name);
    if ((line.match(/`/g)?.length ?? 0) % 2 === 1) fail(`${path}: a template spans lines: ${line}`);
    return [tightened(line.replace(/^export /, '').trim())];
  });
  for (const name of exported) {
    if (exporters.has(name)) fail(`${path} and ${exporters.get(name)} both export ${name}`);
    exporters.set(name, path);
  }
  modules.set(path, `const{${exported}}=(()=>{${joined(lines)}return{${exported}}})();`);
}

function addImported(line, path, above) {
  const [, from] = /^import \{ \w+(?:, \w+)* \} from '(\.[^']+)';$/.exec(line) ?? [];
  if (from === undefined) fail(`${path}: only \`import { name } from './module.ts'\`: ${line}`);
  add(join(dirname(path), from), above);
}

// A line needs no end of its own after what cannot end a statement.
function joined(lines) {
  return lines.filter((line) => line !== '').reduce((text, line) => {
    if (line.startsWith('}') && text.endsWith(';')) return text.slice(0, -1) + line;
    return text === '' || /[;{,([]$/.test(text) ? text + line : `${text}\n${line}`;
  }, '');
}

// Spaces around what separates; not within strings, templates and regular expressions.
function tightened(line) {
  const kept = line.match(LITERALS) ?? [];
  return line.split(LITERALS).map((part, index) =>
    part.replace(/ *([=<>?:,;{}()|&[\]*!]+) */g, '$1') + (kept[index] ?? '')).join('');
}

function minified(style) {
  return style.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1').trim();
}

function fail(message) {
  process.stderr.write(`hookshelf: the console cannot be built: ${message}\n`);
  process.exit(1);
}
