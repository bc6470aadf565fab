/** A server with a token, and a person at its console in a real browser; for tests of webhooks. */
import assert from 'node:assert/strict';
import { aroundTests } from '../support/around-tests.ts';
import { Browser, hasBrowser } from '../support/browser.ts';
import { makeToken } from '../support/make-token.ts';
import { Person } from '../support/person.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import { readLook } from './console-look.ts';
import { startServer } from './processes.ts';
import type { Running } from './processes.ts';

/** Requests to the API wait until they are released. */
export const HOLD_REQUESTS = `const send = window.fetch;
  window.held = [];
  window.answered = 0;
  window.fetch = async (...given) => {
    if (String(given[0]).startsWith('/console/')) return send(...given);
    await new Promise((release) =>
      window.held.push(Object.assign(release, { path: given[0] })));
    return send(...given).finally(() => window.answered += 1);
  };`;
export const RELEASE = 'held.splice(0).forEach((release) => release());';

type Scope = 'read' | 'write' | 'admin';
type Answer = Readonly<Record<string, unknown>>;

export class ConsoleAtWork {
  readonly browser = Browser.forTests();
  readonly person = new Person(this.browser);
  readonly #directory = createTemporaryFolder();
  #server: Running | null = null;
  readonly #tokens: Record<Scope, string> = { read: '', write: '', admin: '' };
  readonly #environment: Readonly<Record<string, string>>;

  /** For all tests of a file: there from before them until after them. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment;
    aroundTests(async () => {
      if (hasBrowser) await this.#begin();
    }, async () => {
      await this.#server?.stop();
    });
  }

  async #begin(): Promise<void> {
    const directory = this.#directory;
    for (const scope of ['read', 'write', 'admin'] as const) {
      this.#tokens[scope] = (await makeToken(directory, scope)).token;
    }
    this.#server = await startServer(['--data', directory], { environment: this.#environment });
    await this.browser.look(1280, 900, 'light');
  }

  get url(): string {
    assert.ok(this.#server !== null);
    return this.#server.url;
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
      one.includes('"level":"error"') && !one.includes('"source":"network"')), []);
  }

  /** Nothing of the screen is cut off, pale or too small, on a narrow page and on a wide one. */
  async looksGood(): Promise<void> {
    for (const [width, scheme] of [[320, 'dark'], [1280, 'light']] as const) {
      await this.browser.look(width, 900, scheme);
      const { overflow, small, broken, pale, failures } = await readLook(this.browser);
      assert.deepEqual([overflow, small, broken, pale, failures], [0, [], [], [], []],
        `${width} ${scheme}`);
    }
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { status, text } = await ask(this.url + path, {
      method, headers: { authorization: `Bearer ${this.#tokens.admin}` },
      ...body === undefined ? {} : { body },
    });
    assert.ok(status < 300, `${status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  make(path: string, body: object): Promise<string> {
    return addRecord(this.url + path, body, { authorization: `Bearer ${this.#tokens.admin}` });
  }

  /** A webhook that logs and keeps every request; its identifier. */
  async makeIncoming(pathSegment: string, level = 'info'): Promise<string> {
    const actionConfiguration = await this.make('/api/action-configurations',
      { actionType: 'log', options: { level } });
    return this.make('/api/incoming-webhooks', { pathSegment, actionConfiguration, inbox: 'all' });
  }
}
