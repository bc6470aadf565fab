/**
 * A page in a real browser, through the Chrome DevTools Protocol; for tests where Chromium is
 * installed. In a run of all tests they share a Chromium (.ci/browser.mjs), each with its own page.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { resolve as resolvePath } from 'node:path';
import { aroundTests } from './around-tests.ts';
import { hasProgram } from './shell.ts';

const HOST = resolvePath(import.meta.dirname, '../../.ci/browser.mjs');
/** The first answer waits for Chromium, whose start took over a minute of a busy machine. */
const ANSWER_MS_MAX = 180_000;
/** What a page that goes says of a script that ran in it. */
const GONE = /context|navigated|collected/;
const LOADED = `return document.readyState === 'complete'
  || new Promise((resolve) => addEventListener('load', () => resolve(true)));`;

export const hasBrowser = hasProgram('chromium');
/** For `skip` of a test. */
export const lacksBrowser = !hasBrowser && 'chromium is needed';

type Answer = {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
};
type Message = Answer & {
  readonly id?: number; readonly method?: string; readonly params?: Complaint;
};
/** The events of which one of these is a member, as the protocol names them. */
type Complaint = {
  readonly entry?: {
    readonly source: string; readonly level: string; readonly text: string; readonly url?: string;
  };
  readonly type?: string;
  readonly args?: unknown;
  readonly exceptionDetails?: unknown;
};

export class Browser {
  /** Of a file that runs alone. */
  #host: ChildProcess | null = null;
  #socket: Socket | null = null;
  #asked = 0;
  #questions = 0;
  #loads = 0;
  /** Of the page that was visited last. */
  #origin = '';
  #begun: Promise<void> = Promise.resolve();
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  /** With the address of which the loading failed, if it is about that. */
  readonly #complaints: { readonly text: string; readonly asked?: string | undefined }[] = [];

  private constructor() {}

  static async open(): Promise<Browser> {
    const browser = new Browser();
    browser.#begun = browser.#begin();
    try {
      await browser.#begun;
    } catch (error) {
      await browser.close();
      throw error;
    }
    return browser;
  }

  /**
   * One for all tests of a file, which is there from before them until after them. Whatever uses it
   * waits for it by itself.
   */
  static forTests(): Browser {
    const browser = new Browser();
    aroundTests(() => {
      if (hasBrowser) browser.#begun = browser.#begin();
      return browser.#begun;
    }, () => browser.close());
    return browser;
  }

  async #begin(): Promise<void> {
    const socket = connect(process.env['TEST_BROWSER'] ?? await this.#startHost());
    this.#socket = socket;
    socket.on('error', () => {}).on('close', () => {
      for (const answer of this.#waiting.values()) answer({ error: { message: 'no browser' } });
      this.#waiting.clear();
    });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const messages = (text + chunk).split('\0');
      text = messages.pop() ?? '';
      for (const message of messages) this.#take(JSON.parse(message));
    });
    await this.#ask('Emulation.setFocusEmulationEnabled', { enabled: true });
    for (const domain of ['Page', 'Runtime', 'Log']) await this.#ask(`${domain}.enable`, {});
  }

  async #startHost(): Promise<string> {
    this.#host = spawn(process.execPath, [HOST], { stdio: ['pipe', 'pipe', 'inherit'] });
    assert.ok(this.#host.stdout !== null);
    const [line] = await once(this.#host.stdout, 'data',
      { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return String(line).trim();
  }

  /** Opens that address, and waits until the whole page is there. */
  async visit(url: string): Promise<void> {
    this.#origin = new URL(url).origin;
    const { errorText } = Object(await this.command('Page.navigate', { url }));
    assert.equal(errorText, undefined, url);
    await this.evaluate(LOADED);
  }

  /**
   * Opens that address as a page of its own, whatever of it is open. A query tells its loads apart:
   * another page between them is another process, and twice the processor time of an opening.
   */
  async visitAnew(url: string): Promise<void> {
    const [page, ...hash] = url.split('#');
    this.#loads += 1;
    await this.visit([`${page}?load=${this.#loads}`, ...hash].join('#'));
  }

  /**
   * Runs the body of a function in the page, and gives what it returns or resolves with. Runs it in
   * the next page when the page goes meanwhile.
   */
  async evaluate(script: string): Promise<unknown> {
    const params = {
      expression: `(() => {${script}\n})()`, awaitPromise: true, returnByValue: true,
      userGesture: true,
    };
    const endMs = performance.now() + ANSWER_MS_MAX;
    for (;;) {
      const { result, error } = await this.#answer('Runtime.evaluate', params);
      if (result !== undefined) {
        assert.equal(result['exceptionDetails'], undefined,
          `${script}: ${JSON.stringify(result['exceptionDetails'])}`);
        return Object(result['result']).value ?? null;
      }
      const message = String(error?.message);
      assert.ok(GONE.test(message) && performance.now() < endMs, `${script}: ${message}`);
    }
  }

  /** A command of the Chrome DevTools Protocol to the page. */
  async command(method: string, params: object): Promise<unknown> {
    await this.#begun;
    return this.#ask(method, params);
  }

  /** As on a screen of that size, which prefers that scheme. */
  async look(width: number, height: number, scheme: 'light' | 'dark'): Promise<void> {
    await this.command('Emulation.setDeviceMetricsOverride',
      { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await this.command('Emulation.setEmulatedMedia',
      { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  /** A PNG of what is on the screen. */
  async screenshot(): Promise<Buffer> {
    const { data } = Object(await this.command('Page.captureScreenshot', { format: 'png' }));
    return Buffer.from(String(data), 'base64');
  }

  /**
   * What the browser complained about since it was last asked; not that a page which was left
   * before asked its own server in vain, as that may have ended before the page.
   */
  async complaints(): Promise<readonly string[]> {
    await this.#begun;
    return this.#complaints.splice(0)
      .filter(({ asked }) => asked?.startsWith(this.#origin) ?? true)
      .map(({ text }) => text);
  }

  /** How often the browser itself has asked whether to leave a page; the answer was always yes. */
  get questions(): number {
    return this.#questions;
  }

  async close(): Promise<void> {
    this.#socket?.destroy();
    this.#socket = null;
    if (this.#host === null) return;
    const ended = this.#host.exitCode === null ? once(this.#host, 'exit') : null;
    this.#host.stdin?.end();
    await ended;
    this.#host = null;
  }

  async #ask(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    const { result, error } = await this.#answer(method, params);
    assert.ok(result !== undefined, `${method}: ${error?.message}`);
    return result;
  }

  #answer(method: string, params: object): Promise<Answer> {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      const socket = this.#socket;
      if (socket === null || socket.destroyed) return reject(new Error(`${method}: no browser`));
      const late = setTimeout(() => reject(new Error(`${method}: no answer`)), ANSWER_MS_MAX);
      this.#waiting.set(id, (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      socket.write(`${JSON.stringify({ id, method, params })}\0`);
    });
  }

  #take({ id, method, params, ...answer }: Message): void {
    if (id !== undefined) {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    } else if (method === 'Page.javascriptDialogOpening') {
      this.#questions += 1;
      void this.#answer('Page.handleJavaScriptDialog', { accept: true });
    } else if (method === 'Log.entryAdded') {
      const { source, url } = params?.entry ?? {};
      this.#complaints.push({
        text: JSON.stringify(params?.entry), asked: source === 'network' ? url : undefined,
      });
    } else if (method === 'Runtime.consoleAPICalled') {
      this.#complaints.push({ text: JSON.stringify({ level: params?.type, args: params?.args }) });
    } else if (method === 'Runtime.exceptionThrown') {
      this.#complaints.push({ text: JSON.stringify({ level: 'error', ...params }) });
    }
  }
}
