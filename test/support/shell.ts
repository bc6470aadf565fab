/** Scripts that a person would paste into a shell, and whether their programs are installed. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { endOf, owned, type Ended } from './children.ts';

export type ScriptOptions = {
  /** What reads the script from its standard input; `sh` when not given. */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

/**
 * Runs a script to its end. Its environment is PATH and what is named: our program, which it may
 * start, refuses the variables that are for its tests.
 */
export function runScript(script: string, options: ScriptOptions = {}): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', ...options.environment };
  const child = owned(spawn(options.program ?? 'sh', { env, stdio: 'pipe' }));
  child.stdin.on('error', () => {});
  child.stdin.end(`${script}\n`);
  return endOf(child);
}

/** Runs a script by `sh`, with the secret of a webhook if there is one. */
export function runShell(script: string, secret: string | null = null): Promise<Ended> {
  return runScript(script, { environment: secret === null ? {} : { WEBHOOK_SECRET: secret } });
}

/** The path of a program, or null when PATH leads to none. */
export function findProgram(name: string): string | null {
  const paths = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, name));
  return paths.find(isExecutable) ?? null;
}

export function hasProgram(name: string): boolean {
  return findProgram(name) !== null;
}

/** False, or why tests of scripts that call with curl and sign with openssl are left out. */
export const curlMissing =
  (!hasProgram('curl') || !hasProgram('openssl')) && 'curl and openssl are needed';

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
