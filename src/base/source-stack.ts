/**
 * Stack traces that name lines of the sources. The program runs as bundles: Node knows their places
 * alone, unless it is started with --enable-source-maps, for which it reads all maps at the start
 * (it doubles the time to the first answer). Here a map is read when an error is told.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSea } from './node-modules.ts';

/** What a line of a stack trace ends with: the line and the column, each from 1 on. */
const POSITION = /:(\d+):(\d+)\)?$/;
/** Sources are named from here on, whatever lies above. */
const SOURCES = 'src/';

const maps = new Map<string, SourceMap | null>();

/** The stack trace, with lines of the sources in place of those of our bundles. */
export function sourceStack(stack: string): string {
  return stack.split('\n').map(sourceLine).join('\n');
}

function sourceLine(text: string): string {
  const start = text.lastIndexOf(bundleFolder());
  const position = POSITION.exec(text);
  if (start < 0 || position === null) return text;
  const [end, line, column] = position;
  const url = text.slice(start, position.index);
  const entry = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) return text;
  const source = entry.originalSource.slice(entry.originalSource.lastIndexOf(SOURCES));
  const bracket = end.endsWith(')') ? ')' : '';
  return `${text.slice(0, start)}${source}:${entry.originalLine + 1}${bracket}`;
}

function bundleFolder(): string {
  return import.meta.url.slice(0, import.meta.url.lastIndexOf('/') + 1);
}

/** Null where there is none, or none that we may read. */
function mapOf(url: string): SourceMap | null {
  const known = maps.get(url);
  if (known !== undefined) return known;
  let map: SourceMap | null = null;
  try {
    map = new SourceMap(JSON.parse(readMap(url)));
  } catch {
    // The place in the bundle is better than none.
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
