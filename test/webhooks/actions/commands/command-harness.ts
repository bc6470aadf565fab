/** A command runner over a directory of its own, and shell scripts to run with it. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import type { LogFields, Logger } from '../../../../src/base/log.ts';
import {
  CommandRunner, type HookCommandEnd, type HookCommandRun,
} from '../../../../src/webhooks/actions/commands/command-runner.ts';
import { compile } from '../../../support/compile.ts';
import { isRunning } from '../../../support/is-running.ts';
import { until } from '../../../support/until.ts';

type LoggedLine = {
  readonly level: string; readonly message: string; readonly fields: LogFields;
};

/** Compiles command-server.ts into a folder. Returns the path of the program. */
export function compileCommandServer(folder: string): string {
  return compile(join(import.meta.dirname, 'command-server.ts'), folder);
}

export class CommandHarness {
  readonly directory: string;
  readonly runsFolder: string;
  readonly runner: CommandRunner;
  readonly lines: LoggedLine[] = [];
  readonly log: Logger;

  constructor(context: TestContext) {
    this.directory = mkdtempSync(join(tmpdir(), 'command-'));
    this.runsFolder = join(this.directory, 'command-runs');
    const at = (level: string) => (message: string, fields: LogFields = {}): void => {
      this.lines.push({ level, message, fields });
    };
    this.log = { debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error') };
    this.runner = new CommandRunner({ clock: systemClock, log: this.log }, this.runsFolder);
    context.after(async () => {
      await this.runner.close();
      rmSync(this.directory, { recursive: true, force: true });
    });
  }

  /** Runs a script of bash. */
  run(script: string, members: Partial<HookCommandRun> = {}): Promise<HookCommandEnd> {
    return this.runner.run({
      file: '/bin/bash', arguments: ['-c', script, 'script'],
      environment: { PATH: process.env['PATH'] ?? '' }, stdin: null, files: [],
      workingDirectory: null, timeoutMs: 60_000, outputBytesMax: 65_536,
      mergesErrors: false, log: this.log, ...members,
    });
  }

  /** The standard output of a script. */
  async read(script: string, members: Partial<HookCommandRun> = {}): Promise<string> {
    return String((await this.run(script, members)).output);
  }

  listFolders(): string[] {
    return readdirSync(this.runsFolder);
  }
}

/** Fails when one of the processes whose ids are in a text still runs. Returns their number. */
export function assertEnded(text: Buffer | string): number {
  const pids = String(text).match(/\d+/g) ?? [];
  assert.ok(pids.length > 0);
  assert.deepEqual(pids.filter((pid) => isRunning(Number(pid))), []);
  return pids.length;
}

/** Resolves when a file is there; fails when it does not come. */
export async function waitForFile(path: string): Promise<void> {
  await until(`${path} comes`, () => existsSync(path));
}
