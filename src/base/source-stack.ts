/**
 * Makes stack traces name lines of the sources. The program runs as bundles whose functions have
 * short names of their own, and Node names places in those, unless it is started with
 * --enable-source-maps: then it reads all maps at the start, which doubles the time to the first
 * response. Here a map is read when an error is logged.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSea } from './node-modules.ts';

/** The end of a line of a stack trace: a line number and a column, each from 1 on. */
const POSITION = /:(\d+):(\d+)\)?$/;
/** The beginning of such a line, without the function's name, which bundles do not keep. */
const BEGINNING = /^\s*at /;
/** Paths of sources are shown from this folder on. */
const SOURCES = 'src/';

const maps = new Map<string, SourceMap | null>();

/** The stack trace, with lines of the sources in place of functions and lines of our bundles. */
export function sourceStack(stack: string): string {
  return stack.split('\n').map(sourceLine).join('\n');
}

function sourceLine(text: string): string {
  const start = text.lastIndexOf(bundleFolder());
  const position = POSITION.exec(text);
  if (start < 0 || position === null) return text;
  const [, line, column] = position;
  const url = text.slice(start, position.index);
  const entry = loadMap(url)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) return text;
  const source = entry.originalSource.slice(entry.originalSource.lastIndexOf(SOURCES));
  return `${BEGINNING.exec(text)?.[0] ?? ''}${source}:${entry.originalLine + 1}`;
}

function bundleFolder(): string {
  return import.meta.url.slice(0, import.meta.url.lastIndexOf('/') + 1);
}

/** The source map of a bundle; null when there is none, or none that we may read. */
function loadMap(url: string): SourceMap | null {
  const cachedMap = maps.get(url);
  if (cachedMap !== undefined) return cachedMap;
  let map: SourceMap | null = null;
  try {
    map = new SourceMap(JSON.parse(readMap(url)));
  } catch {
    // Without a map the trace names the place in the bundle.
  }
  maps.set(url, map);
  return map;
}

function readMap(url: string): string {
  const { getAsset, isSea } = loadSea();
  // In the single binary a stack trace names the bundle by the path at which it was made.
  return isSea()
    ? getAsset(`${basename(url)}.map`, 'utf8') : readFileSync(`${fileURLToPath(url)}.map`, 'utf8');
}
