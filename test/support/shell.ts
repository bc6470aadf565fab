/** Scripts that a person would paste into a shell, and whether their programs are installed. */
import { spawn, spawnSync } from 'node:child_process';
import { endOf, type Ended } from '../e2e/processes.ts';
import { owned } from './children.ts';

/** Runs a script by `sh` to its end, with the secret of a webhook in its environment, if any. */
export function runShell(script: string, secret?: string): Promise<Ended> {
  const environment = secret === undefined ? {} : { WEBHOOK_SECRET: secret };
  return endOf(owned(spawn('sh', ['-c', script], { env: { ...process.env, ...environment } })));
}

export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** False, or why tests of scripts that call with curl and sign with openssl are left out. */
export const curlMissing =
  (!hasProgram('curl') || !hasProgram('openssl')) && 'curl and openssl are needed';
