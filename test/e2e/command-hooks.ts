/** A server whose hooks run scripts of a folder of commands, as a process of its own. */
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { ask, type Question, type Reply } from './ask.ts';
import { startServer, type Running } from './processes.ts';

type Answer = {
  readonly status: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
};

type StoredRequest = {
  readonly id: string;
  readonly status: string;
  readonly routes: readonly {
    readonly status: string;
    readonly attempts: readonly {
      readonly success: boolean; readonly message: string | null; readonly data: unknown;
    }[];
  }[];
};

export class CommandHooks {
  readonly folder = createTemporaryFolder();
  readonly path = join(this.folder, 'hooks');
  readonly data = join(this.folder, 'data');
  readonly #environment: Readonly<Record<string, string>>;
  #server: Running | null = null;

  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment;
    mkdirSync(this.path, { mode: 0o755 });
    // Others may look at what the folder holds, as other users' servers do.
    chmodSync(this.folder, 0o755);
  }

  get server(): Running {
    if (this.#server === null) throw new Error('the server is not started');
    return this.#server;
  }

  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#server = await startServer(['--data', this.data], {
      environment: {
        HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: this.path, ...this.#environment, ...environment,
      },
    });
  }

  add(name: string, script: string): string {
    const path = join(this.path, name);
    writeFileSync(path, `#!/bin/bash\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  /** Makes a webhook of that name whose requests run a command with these options. */
  async hook(name: string, options: object, hook: object = {}): Promise<void> {
    const records: readonly (readonly [path: string, body: object])[] = [
      ['action-configurations', { identifier: name, actionType: 'run-command', options }],
      ['incoming-webhooks', { pathSegment: name, actionConfiguration: name, ...hook }],
    ];
    for (const [path, body] of records) {
      const { status, text } = await this.ask(`/api/${path}`, { method: 'POST', body });
      if (status !== 201) throw new Error(`${path}: ${text}`);
    }
  }

  ask(path: string, question?: Question): Promise<Reply> {
    return ask(this.server.url + path, question);
  }

  async call(name: string, question: Question = {}): Promise<Answer> {
    const reply = await this.ask(`/webhook/in/${name}`, { method: 'POST', body: {}, ...question });
    const { message = '', data = {} } = JSON.parse(reply.text);
    return { status: reply.status, message, data };
  }

  /** What is in the inbox, the oldest first. */
  async requests(): Promise<readonly StoredRequest[]> {
    return JSON.parse((await this.ask('/api/requests')).text).reverse();
  }

  /** The folders of commands that run, or have been left. */
  runFolders(): readonly string[] {
    const folder = join(this.data, 'command-runs');
    return existsSync(folder)
      ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'run.json'))) : [];
  }
}
