/** A folder of commands for tests, with scripts in it. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  CommandDirectory,
} from '../../../../src/webhooks/actions/commands/command-directory.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';

/** Prints the number of its arguments and each of them, with a NUL behind each. */
export const PRINT_ARGUMENTS = '#!/bin/bash\nprintf "%s\\0" "$#" "$@"\n';

export class CommandPlace {
  /** Ours alone; the folder of commands is below it. */
  readonly folder: string;
  readonly path: string;
  readonly directory: CommandDirectory;

  constructor(workingDirectories: readonly string[] = []) {
    this.folder = createTemporaryFolder();
    this.path = join(this.folder, 'hooks');
    mkdirSync(this.path, { mode: 0o755 });
    this.directory = { path: this.path, workingDirectories };
  }

  /** Writes a script; its path. */
  add(name: string, text = '#!/bin/sh\n', mode = 0o755): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }
}
