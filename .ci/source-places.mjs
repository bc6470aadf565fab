// Places in bundles of tests (see bundle.mjs) as places in the files that those were made of.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';

const PLACE = /(?:file:\/\/)?([^\s(]*\/hookshelf\/tests-\w+\/[\w.-]+\.mjs):(\d+):(\d+)/g;
const maps = new Map();

/** Gives every place in a text, such as the stack of an error, as that in the source. */
export function withSourcePlaces(text) {
  return text.replace(PLACE, (place, file, line, column) => {
    const { originalSource, originalLine, originalColumn } =
      mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1) ?? {};
    // What the bundler has added has no source.
    if (originalSource === undefined) return place;
    const source = resolve(dirname(file), originalSource);
    return `${source}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

/** The map of a bundle; null where there is none, as when a test prints a place of its own. */
function mapOf(file) {
  const known = maps.get(file);
  if (known !== undefined) return known;
  const name = `${file}.map`;
  const map = existsSync(name) ? new SourceMap(JSON.parse(readFileSync(name, 'utf8'))) : null;
  maps.set(file, map);
  return map;
}
