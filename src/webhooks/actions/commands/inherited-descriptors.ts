/**
 * Open files that who started us has left open: shells and supervisors do so. Node opens its own
 * files so that no child gets them, and closes to children what it inherited below 16; the others
 * would go on to every command.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { StdioOptions } from 'node:child_process';

const FIRST_DESCRIPTOR = 3;
/** The stdio of a child is a list up to the highest of them. */
const DESCRIPTOR_MAX = 1023;
/** O_CLOEXEC of Linux, as the octal flags of /proc show it. */
const CLOSE_ON_EXEC = 0o2000000;
const FOLDER = '/proc/self/fdinfo';

/** In order; none where there is no /proc. To be called early: it looks at every open file. */
export function findInheritedDescriptors(): number[] {
  try {
    return readdirSync(FOLDER).map(Number)
      .filter((descriptor) => descriptor >= FIRST_DESCRIPTOR && descriptor <= DESCRIPTOR_MAX)
      .filter(isPassedOn).sort((left, right) => left - right);
  } catch {
    return [];
  }
}

function isPassedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`${FOLDER}/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The one that listed the folder is closed again.
    return false;
  }
}

/** The stdio of a child that gets `empty`, a descriptor of /dev/null, in place of each of them. */
export function coverDescriptors(
  stdio: readonly (number | 'ignore' | 'pipe')[], inherited: readonly number[], empty: number,
): StdioOptions {
  const highest = inherited.at(-1) ?? -1;
  const covers = Array.from({ length: Math.max(highest + 1 - stdio.length, 0) }, (_, index) =>
    inherited.includes(index + stdio.length) ? empty : 'ignore' as const);
  return [...stdio, ...covers];
}
