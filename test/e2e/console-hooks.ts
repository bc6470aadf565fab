/** A server with a token, and a person at its console in a real browser; for tests of webhooks. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';
import type { Running } from './processes.ts';

type Scope = 'read' | 'write' | 'admin';
type Answer = Readonly<Record<string, unknown>>;

export class ConsoleAtWork {
  readonly person: Person;
  readonly browser: Browser;
  readonly #directory: string;
  readonly #server: Running;
  readonly #tokens: Readonly<Record<Scope, string>>;

  private constructor(
    directory: string, server: Running, browser: Browser,
    tokens: Readonly<Record<Scope, string>>,
  ) {
    this.#directory = directory;
    this.#server = server;
    this.#tokens = tokens;
    this.browser = browser;
    this.person = new Person(browser);
  }

  static async begin(): Promise<ConsoleAtWork> {
    const directory = mkdtempSync(join(tmpdir(), 'hookshelf-console-'));
    const makeToken = async (scope: string): Promise<string> => {
      const { stdout } = await hookshelf(
        ['token:create', '--name', scope, '--scope', scope, '--json', '--data', directory]);
      return String(JSON.parse(stdout).token);
    };
    const tokens = {
      read: await makeToken('read'), write: await makeToken('write'),
      admin: await makeToken('admin'),
    };
    const server = await startServer(['--data', directory]);
    const browser = await Browser.open();
    await browser.look(1280, 900, 'light');
    return new ConsoleAtWork(directory, server, browser, tokens);
  }

  get url(): string {
    return this.#server.url;
  }

  async end(): Promise<void> {
    await this.browser.close();
    await this.#server.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Opens a screen anew, as somebody who may do that. */
  async open(hash: string, scope: Scope = 'admin'): Promise<void> {
    const token = this.#tokens[scope];
    await this.#visit(hash);
    const known = await this.browser.evaluate("return sessionStorage.getItem('hookshelf-token');");
    if (known === token) return;
    await this.browser.evaluate(`sessionStorage.setItem('hookshelf-token', '${token}');`);
    await this.#visit(hash);
  }

  async #visit(hash: string): Promise<void> {
    await this.browser.complaints();
    await this.browser.visitAnew(`${this.url}/console${hash}`);
  }

  /** Nothing but this server was asked, and the browser has nothing to say against the page. */
  async isClean(): Promise<void> {
    const loaded = await this.browser.evaluate(
      "return performance.getEntriesByType('resource').map(({ name }) => name);");
    assert.ok(Array.isArray(loaded));
    assert.deepEqual(loaded.filter((name) => !String(name).startsWith(this.url)), []);
    const complaints = await this.browser.complaints();
    // That a request was refused is what the page itself tells of.
    assert.deepEqual(complaints.filter((one) =>
      one.includes('"SEVERE"') && !one.includes('"source":"network"')), []);
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { status, text } = await ask(this.url + path, {
      method, headers: { authorization: `Bearer ${this.#tokens.admin}` },
      ...body === undefined ? {} : { body },
    });
    assert.ok(status < 300, `${status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  async make(path: string, body: object): Promise<string> {
    return String((await this.call('POST', path, body))['identifier']);
  }
}
