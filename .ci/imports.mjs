// Which modules a module of ours imports, and all those that it reaches.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

// Of types too: a test that names the types of a module mostly is about it.
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;
const modules = new Map();

/** The text of a module and the paths of those that it imports, read once. */
export function readModule(path) {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  const imports = [...text.matchAll(IMPORT)].map(([, name]) => resolve(dirname(path), name))
    .filter((imported) => existsSync(imported));
  modules.set(path, { text, imports });
  return modules.get(path);
}

/** The modules that are reached from a module, each with the number of steps to it: a Map. */
export function reachedFrom(path, isFollowed = () => true) {
  const steps = new Map([[path, 0]]);
  for (const [module, count] of steps) {
    if (!/\.m?[jt]s$/.test(module)) continue;
    for (const imported of readModule(module).imports.filter(isFollowed)) {
      if (!steps.has(imported)) steps.set(imported, count + 1);
    }
  }
  return steps;
}
