/** A real browser, through WebDriver (W3C) over HTTP; for tests where Chromium is installed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { owned } from './children.ts';

const START_MS_MAX = 60_000;
const LOAD_MS_MAX = 60_000;
const LOOK_MS = 20;
const SWITCHES = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--disable-dev-shm-usage', '--hide-scrollbars',
];

/** The address of the page, without what is after its `#`, once all of the page is there. */
const LOADED = "return document.readyState === 'complete' && location.href.split('#')[0];";

export const hasBrowser =
  ['chromium', 'chromedriver'].every((name) => spawnSync(name, ['--version']).status === 0);
/** For `skip` of a test. */
export const lacksBrowser = !hasBrowser && 'chromium and chromedriver are needed';

export class Browser {
  #driver: ChildProcess | null = null;
  #port = 0;
  #profile = '';
  #session = '';
  #loads = 0;
  #begun: Promise<void> = Promise.resolve();

  private constructor() {}

  static async open(): Promise<Browser> {
    const browser = new Browser();
    browser.#begun = browser.#begin();
    await browser.#begun;
    return browser;
  }

  /**
   * One for all tests of a file, which is there from before them until after them. Hooks that use
   * it wait for it by themselves: Node 20 begins all hooks of a file at once.
   */
  static forTests(): Browser {
    const browser = new Browser();
    before(() => {
      if (hasBrowser) browser.#begun = browser.#begin();
      return browser.#begun;
    });
    after(() => browser.close());
    return browser;
  }

  async #begin(): Promise<void> {
    this.#driver = owned(spawn('chromedriver', ['--port=0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }));
    this.#port = await portOf(this.#driver);
    this.#profile = mkdtempSync(join(tmpdir(), 'hookshelf-browser-'));
    const args = [...SWITCHES, `--user-data-dir=${this.#profile}`];
    const value = await this.#ask('POST', '/session', {
      capabilities: { alwaysMatch: { 'goog:chromeOptions': { args }, 'goog:loggingPrefs': {
        browser: 'ALL',
      } } },
    });
    assert.ok(typeof value === 'object' && value !== null && 'sessionId' in value);
    this.#session = `/session/${String(value.sessionId)}`;
  }

  /** Opens that address, and waits until the whole page is there, not the one before it. */
  async visit(url: string): Promise<void> {
    await this.#call('POST', '/url', { url });
    const endMs = performance.now() + LOAD_MS_MAX;
    const [page] = url.split('#');
    // The driver answers before that when a page before it has just ended to load.
    while (await this.evaluate(LOADED) !== page) {
      assert.ok(performance.now() < endMs, `${url} is not there`);
      await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
    }
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

  /** Runs the body of a function in the page and gives what it returns. */
  evaluate(script: string): Promise<unknown> {
    return this.#call('POST', '/execute/sync', { script, args: [] });
  }

  /** A command of the Chrome DevTools protocol. */
  command(cmd: string, params: object): Promise<unknown> {
    return this.#call('POST', '/goog/cdp/execute', { cmd, params });
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
    return Buffer.from(String(await this.#call('GET', '/screenshot')), 'base64');
  }

  /** What the browser complained about since it was last asked. */
  async complaints(): Promise<readonly string[]> {
    const entries = await this.#call('POST', '/se/log', { type: 'browser' });
    assert.ok(Array.isArray(entries));
    return entries.map((entry) => JSON.stringify(entry));
  }

  async close(): Promise<void> {
    if (this.#driver === null) return;
    if (this.#session !== '') await this.#call('DELETE', '').catch(() => null);
    const ended = once(this.#driver, 'exit');
    this.#driver.kill();
    await ended;
    this.#driver = null;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  /** A command of the session, once there is one. */
  async #call(method: string, path: string, body?: object): Promise<unknown> {
    await this.#begun;
    return this.#ask(method, this.#session + path, body);
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const sent = request({ host: '127.0.0.1', port: this.#port, method, path, agent: false });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    const { value } = JSON.parse(Buffer.concat(await response.toArray()).toString());
    assert.equal(response.statusCode, 200, JSON.stringify(value));
    return value;
  }
}

async function portOf(driver: ChildProcess): Promise<number> {
  assert.ok(driver.stdout !== null);
  const timeout = AbortSignal.timeout(START_MS_MAX);
  let text = '';
  for (;;) {
    const [chunk] = await once(driver.stdout, 'data', { signal: timeout });
    text += String(chunk);
    const port = /started successfully on port (\d+)/.exec(text)?.[1];
    if (port !== undefined) return Number(port);
  }
}
