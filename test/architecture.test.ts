import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '..');
const COLUMNS_MAX = 100;
const FUNCTION_LINES_MAX = 70;
/** The types that callers of the library see. */
const LIBRARY = 'src/app/api-types.ts';

/** What each room may import besides itself: the arrows of the manual's chapter on architecture. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  store: ['base'],
  client: ['base'],
  server: ['base'],
  resources: ['server', 'store', 'base'],
  access: ['resources', 'server', 'store', 'base'],
  maintenance: ['resources', 'server', 'store', 'base'],
  nodes: ['resources', 'server', 'store', 'base'],
  stream: ['server', 'store', 'base'],
  followers: ['resources', 'server', 'store', 'base'],
  monitoring: ['resources', 'server', 'store', 'base'],
  // Types alone: see the test of that.
  console: ['app', 'books', 'monitoring', 'nodes', 'settings', 'webhooks', 'base'],
  books: ['resources', 'server', 'client', 'store', 'base'],
  webhooks: ['resources', 'server', 'client', 'store', 'base'],
  settings: ['base'],
  manual: ['base'],
  mcp: ['server', 'base'],
  app: [
    'settings', 'manual', 'books', 'webhooks', 'access', 'maintenance', 'monitoring', 'nodes',
    'stream', 'followers', 'mcp', 'resources', 'server', 'client', 'store', 'base',
  ],
  index: ['app', 'settings', 'books', 'webhooks', 'monitoring', 'resources', 'server', 'client',
    'store', 'base'],
  cli: [
    'app', 'settings', 'manual', 'books', 'webhooks', 'access', 'monitoring', 'nodes', 'followers',
    'mcp', 'resources', 'server', 'client', 'store', 'base',
  ],
  main: ['cli', 'base'],
};

/**
 * The folders within a room, from the top down: each may import those that stand after it. The
 * files beside them are not bound, but no two of them may import each other in a circle either.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  base: ['files', 'json', 'text', 'network', 'structures'],
  books: ['transfer', 'aggregates', 'list', 'index', 'engine', 'query'],
  cli: ['commands', 'api-client', 'terminal', 'process', 'arguments'],
  client: ['connection', 'policy'],
  'cli/commands/webhooks': ['watch'],
  'cli/commands/configuration': ['adnanh'],
  console: ['screens', 'parts', 'base'],
  'console/parts': ['lists', 'forms'],
  'console/screens': [
    'actions', 'books', 'configuration', 'deliveries', 'events', 'incoming', 'outgoing', 'requests',
  ],
  'cli/commands': ['serve', 'configuration', 'webhooks', 'operation', 'books', 'completion'],
  server: ['local', 'listening', 'routing', 'exchange', 'documents', 'metrics'],
  'server/documents': ['page'],
  'books/transfer': ['sources', 'matching', 'grammars', 'mapping'],
  store: ['copy', 'moving', 'replication', 'backup', 'generations', 'engines', 'transactions',
    'journal', 'records', 'lock', 'disk'],
  'store/engines': ['etcd', 'postgres'],
  'store/replication': ['appending'],
  'webhooks/actions': ['modules', 'commands'],
  'webhooks/deliveries': ['sending'],
  'webhooks/inbox': ['runs', 'intake'],
  'webhooks/incoming': ['receiving'],
  'webhooks/members': ['templates', 'filters'],
  'webhooks/senders': ['diagnosis', 'signing', 'presets', 'verification', 'request', 'scheme'],
  webhooks: [
    'configuration', 'bulk', 'diagnostics', 'inbox', 'incoming', 'events', 'deliveries', 'outgoing',
    'actions', 'work', 'records', 'health', 'senders', 'members',
  ],
};

type Import = { readonly specifier: string; readonly target: string | null };

test('imports follow the arrows of the architecture', () => {
  const wrong = sources('src').flatMap((file) => importsOf(file)
    .filter(({ target }) => target !== null && target !== '')
    .filter(({ target }) => {
      const from = roomOf(file);
      const to = roomOf(target ?? '');
      return from !== to && ALLOWED[from]?.includes(to) !== true;
    })
    .map(({ specifier }) => `${file} imports ${specifier}`));
  assert.deepEqual(wrong, []);
});

test('folders of a room form layers: each imports only those below it', () => {
  const wrong = sources('src').flatMap((file) => importsOf(file).flatMap(({ target }) => {
    const [from, to] = siblings(file, target ?? '');
    if (from === null || to === null) return [];
    const folder = dirname(from);
    const order = FOLDERS[relative('src', folder)] ?? [];
    const isBelow = order.indexOf(basename(to)) > order.indexOf(basename(from));
    return isBelow ? [] : [`${from} imports ${to}`];
  }));
  assert.deepEqual([...new Set(wrong)], [], 'a folder imports those after it in FOLDERS');
});

test('every folder within a room has its place in the order', () => {
  const nested = folders().filter((folder) => folder.split('/').length > 2);
  const unknown = nested.filter((folder) =>
    FOLDERS[relative('src', dirname(folder))]?.includes(basename(folder)) !== true);
  assert.deepEqual(unknown, []);
});

// Of what is kept: who took the manual's tours in a clone has files of their own there.
const tracked = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });

test('the top folder holds only what belongs there', {
  skip: tracked.status !== 0 && 'is no clone',
}, () => {
  const names = new Set(tracked.stdout.split('\0').map((path) => path.split('/')[0] ?? ''));
  const found = [...names].filter((name) => name !== '' && !name.startsWith('.')).sort();
  assert.deepEqual(found, [
    'README.md', 'data', 'package-lock.json', 'package.json', 'src', 'test', 'tsconfig.json',
  ]);
});

/** Files that import one another alone, so that the scripts have them and no more. */
const FILES_OF_CONSOLE = [
  'src/books/date-order.ts', 'src/books/transfer/format-list.ts', 'src/books/merge-choice.ts',
  'src/webhooks/deliveries/attempt-answer.ts', 'src/webhooks/outgoing/envelope.ts',
];
/** The build puts the data that it computes in its place. */
const COMPUTED_OF_CONSOLE = [
  'src/console/base/book-labels.ts', 'src/console/screens/books/book-choices.ts',
];

test('the console takes types alone from the program, and five files', () => {
  assert.deepEqual(FILES_OF_CONSOLE.flatMap(importsOf)
    .filter(({ target }) => !FILES_OF_CONSOLE.includes(target ?? '')), []);
  const files = sources('src/console').filter((file) => !COMPUTED_OF_CONSOLE.includes(file));
  const wrong = files.flatMap((file) => read(file).split('\n')
    .filter((line) => /from '(\.\.\/)+(?!base|parts|screens)[a-z]+\//.test(line)
      && !line.startsWith('import type ') && !/^} from/.test(line)
      && !FILES_OF_CONSOLE.some((shared) => line.includes(shared.slice('src'.length))))
    .map((line) => `${file}: ${line}`));
  assert.deepEqual(wrong, []);
});

test('every room is on the map', () => {
  const unknown = sources('src').map(roomOf).filter((room) => !Object.hasOwn(ALLOWED, room));
  assert.deepEqual([...new Set(unknown)], []);
});

/** The one file that imports a package, when a database of its kind is named. */
const DRIVER = 'src/store/engines/postgres/driver.ts';

test('only node: modules and relative files are imported, and one package by one file', () => {
  const foreign = sources('src').flatMap((file) => importsOf(file)
    .filter(({ specifier }) => !/^(node:|\.\.?\/)/.test(specifier)
      && !(file === DRIVER && specifier === 'postgres'))
    .map(({ specifier }) => `${file} imports ${specifier}`));
  assert.deepEqual(foreign, []);
});

// The console runs in a browser, which has its own.
test('no network stack but our own is used', () => {
  const wrong = sources('src').filter((file) => roomOf(file) !== 'console' &&
    /\bfetch\(|\bundici\b/.test(withoutComments(read(file))));
  assert.deepEqual(wrong, []);
});

test('no value is told by a built-in class, which another realm has its own of', () => {
  const builtIn = /instanceof (\w*Error|Date|Promise|Object|Map|Set|RegExp|\w*Array|Buffer)\b/;
  const own =
    /instanceof (App|Network|Assertion|JsonSyntax|SwitchedOff|NeverFits|ProgramReplaced)Error\b/g;
  const wrong = sources('src').filter((file) =>
    // `isError` is the one place that asks, and asks for more.
    file !== 'src/base/errors.ts' && roomOf(file) !== 'console'
      && builtIn.test(read(file).replace(own, '')));
  assert.deepEqual(wrong, []);
});

test('modules have no import cycles', () => {
  const graph = new Map(sources('src').map((file) =>
    [file, importsOf(file).flatMap(({ target }) => target === null ? [] : [target])]));
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const cycle = path.includes(file) ? [...path.slice(path.indexOf(file)), file] : [];
    assert.equal(cycle.join(' -> '), '');
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  assert.ok(done.size > 0);
});

test('lines have at most 100 columns', () => {
  const wrong = [...sources('src'), ...sources('test')].flatMap((file) => {
    const long = read(file).split('\n').findIndex((line) => line.length > COLUMNS_MAX);
    return long >= 0 ? [`${file}:${long + 1}`] : [];
  });
  assert.deepEqual(wrong, []);
});

test('functions have at most 70 lines', () => {
  const long = sources('src').flatMap((file) => listFunctions(read(file))
    .filter(({ first, last }) => last - first + 1 > FUNCTION_LINES_MAX)
    .map(({ first, last }) => `${file}:${first}: ${last - first + 1} lines`));
  assert.deepEqual(long, []);
});

test('the lines of a function are counted from its signature to its last brace', () => {
  const text = [
    'function short(', '  name: string,', '): void {', '  if (name) {', '    call(() => {',
    '    });', '  }', '}', 'class Example {', '  run(): void {', '    go();', '  }', '}',
  ].join('\n');
  assert.deepEqual(listFunctions(text), [
    { first: 1, last: 8 }, { first: 5, last: 6 }, { first: 10, last: 12 },
  ]);
});

test('source holds no default exports, enums, any, or promises of later work', () => {
  const banned = [
    /^export default/m, /^\s*(export )?(const )?enum /m, /: any\b|as any\b|<any>/,
    /\bTODO\b|\bFIXME\b/,
  ];
  const wrong = sources('src').filter((file) => banned.some((pattern) => pattern.test(read(file))));
  assert.deepEqual(wrong, []);
});

// What only tests use is no part of the program. What its own file uses may be exported for a test
// of that file, where it is clearest to try by itself.
test('no value is exported that nothing else in the program uses', () => {
  const files = [...sources('src'), ...sources('test')].map((file) => {
    const targets = new Set(importsOf(file).map(({ target }) => target));
    return { file, targets, text: withoutComments(read(file)) };
  });
  const own = files.filter(({ file }) => file.startsWith('src/') && roomOf(file) !== 'index');
  const unused = own.flatMap(({ file, text }) => {
    const users = files.filter(({ targets }) => targets.has(file));
    const folder = dirname(file).replace('src', 'test');
    return [...text.matchAll(EXPORTED_VALUE)].map(([, name = '']) => name)
      .filter((name) => !users.some((user) => isNamedIn(name, user.text)
        && (user.file.startsWith('src/')
          || (dirname(user.file) === folder && isUsedIn(name, text)))))
      .map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(unused, []);
});

test('no type is exported that no other file names', () => {
  const users = [...sources('src'), ...sources('test')].map((file) =>
    ({ targets: new Set(importsOf(file).map(({ target }) => target)), text: read(file) }));
  // Those of the library are for its callers.
  const own = sources('src').filter((file) => roomOf(file) !== 'index' && file !== LIBRARY);
  const unused = own.flatMap((file) => [...read(file).matchAll(EXPORTED_TYPE)]
    .map(([, name = '']) => name)
    .filter((name) => !users.some(({ targets, text }) =>
      targets.has(file) && isNamedIn(name, text)))
    .map((name) => `${file}: ${name}`));
  assert.deepEqual(unused, []);
});

test('an exported type name means one thing', () => {
  const files = new Map<string, string[]>();
  // The types of the library are the models as its callers see them, and have their names.
  for (const file of sources('src').filter((name) => name !== LIBRARY)) {
    for (const [, name = ''] of read(file).matchAll(EXPORTED_TYPE)) {
      files.set(name, [...files.get(name) ?? [], file]);
    }
  }
  const twice = [...files].filter(([, places]) => places.length > 1);
  assert.deepEqual(twice.map(([name, places]) => `${name}: ${places.join(', ')}`), []);
});

/** By itself, or put together: `${verb}Incoming` names `enableIncoming`. */
function isNamedIn(name: string, text: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(text)
    || [...text.matchAll(/\$\{\w+\}(\w+)`\]/g)].some(([, end = '']) => name.endsWith(end));
}

/** Whether a file that declares the name uses it as well. */
function isUsedIn(name: string, text: string): boolean {
  return [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length > 1;
}

const EXPORTED_TYPE = /^export (?:type|interface|class) (\w+)/gm;
const EXPORTED_VALUE = /^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm;

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts')).map((name) => join(folder, name)).sort();
}

/** Every folder below `src` that holds a source file. */
function folders(): string[] {
  return [...new Set(sources('src').map((file) => dirname(file)))];
}

/** The two folders in which the ways to the files part; null for a file that lies there itself. */
function siblings(file: string, target: string): readonly [string | null, string | null] {
  const [from, to] = [file.split('/'), target.split('/')];
  let depth = 0;
  while (from[depth] === to[depth] && depth < from.length) depth += 1;
  const folderOf = (steps: readonly string[]): string | null =>
    depth > 1 && steps.length > depth + 1 ? steps.slice(0, depth + 1).join('/') : null;
  return [folderOf(from), folderOf(to)];
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The first folder below `src`, or the name of a file at the top level. */
function roomOf(file: string): string {
  return relative('src', file).split('/')[0]?.replace(/\.ts$/, '') ?? '';
}

function importsOf(file: string): Import[] {
  const text = withoutComments(read(file));
  const patterns = [
    /^\s*(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'/gm,
    /\bimport\s*\(\s*'([^']+)'/g,
    /^import\s+'([^']+)'/gm,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)]).map((match) => {
    const specifier = match[1] ?? '';
    const target = specifier.startsWith('.')
      ? relative(root, resolve(root, file, '..', specifier)) : null;
    return { specifier, target };
  });
}

/** What begins a block, at the end of a line, that is a function's. */
const FUNCTION_START = /(?:\)|\): .+|=>) \{$/;
const CONTROL_STATEMENT = /^\s*(?:\} )?(?:else )?(?:if|for|while|switch|catch|do)\b/;

/**
 * The first and last line, from 1 on, of every function, method and arrow function that is a block.
 * They are found by their indentation, which is the same for signature and closing brace.
 */
function listFunctions(text: string): readonly { readonly first: number; readonly last: number }[] {
  const lines = text.split('\n');
  const indent = (line = ''): number => line.length - line.trimStart().length;
  return lines.flatMap((line, index) => {
    if (!FUNCTION_START.test(line)) return [];
    let first = index;
    // The last line of a long signature begins with its bracket.
    if (/^\s*[)}]/.test(line)) {
      do first -= 1;
      while (first > 0 && (lines[first] === '' || indent(lines[first]) > indent(line)));
    }
    if (CONTROL_STATEMENT.test(lines[first] ?? '')) return [];
    const isEnd = (one: string): boolean => one !== '' && indent(one) <= indent(line);
    const length = lines.slice(index + 1).findIndex(isEnd);
    return [{ first: first + 1, last: index + length + 2 }];
  });
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
