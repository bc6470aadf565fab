/** Scripts that a person would paste into a shell, and whether their programs are installed. */
import { spawn, spawnSync } from 'node:child_process';
import { endOf, type Ended } from '../e2e/processes.ts';
import { owned } from './children.ts';

/**
 * Runs a script by `sh` to its end. Its environment is PATH and, if any, the secret of a webhook:
 * our program, which it may start, refuses the variables that are for its tests.
 */
export function runShell(script: string, secret?: string): Promise<Ended> {
  const environment = secret === undefined ? {} : { WEBHOOK_SECRET: secret };
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  return endOf(owned(spawn('sh', ['-c', script], { env })));
}

export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** False, or why tests of scripts that call with curl and sign with openssl are left out. */
export const curlMissing =
  (!hasProgram('curl') || !hasProgram('openssl')) && 'curl and openssl are needed';
