/** TypeScript for a process that runs it as it is: tsx takes a second of processor time of each. */
import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';

/** The path of a module in that folder that holds this one and what it imports. */
export function compile(path: string, folder: string): string {
  const outfile = join(folder, basename(path).replace(/ts$/, 'mjs'));
  buildSync({
    entryPoints: [path], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20',
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return outfile;
}
