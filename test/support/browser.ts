/** A real browser, through WebDriver (W3C) over HTTP; for tests where Chromium is installed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

export class Browser {
  readonly #driver: ChildProcess;
  readonly #port: number;
  readonly #profile: string;
  #session = '';
  #loads = 0;

  private constructor(driver: ChildProcess, port: number, profile: string) {
    this.#driver = driver;
    this.#port = port;
    this.#profile = profile;
  }

  static async open(): Promise<Browser> {
    const driver = owned(spawn('chromedriver', ['--port=0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }));
    const port = await portOf(driver);
    const browser = new Browser(driver, port, mkdtempSync(join(tmpdir(), 'hookshelf-browser-')));
    await browser.#begin();
    return browser;
  }

  async #begin(): Promise<void> {
    const args = [...SWITCHES, `--user-data-dir=${this.#profile}`];
    const value = await this.#call('POST', '/session', {
      capabilities: { alwaysMatch: { 'goog:chromeOptions': { args }, 'goog:loggingPrefs': {
        browser: 'ALL',
      } } },
    });
    assert.ok(typeof value === 'object' && value !== null && 'sessionId' in value);
    this.#session = `/session/${String(value.sessionId)}`;
  }

  /** Opens that address, and waits until the whole page is there, not the one before it. */
  async visit(url: string): Promise<void> {
    await this.#call('POST', `${this.#session}/url`, { url });
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
    return this.#call('POST', `${this.#session}/execute/sync`, { script, args: [] });
  }

  /** A command of the Chrome DevTools protocol. */
  command(cmd: string, params: object): Promise<unknown> {
    return this.#call('POST', `${this.#session}/goog/cdp/execute`, { cmd, params });
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
    return Buffer.from(String(await this.#call('GET', `${this.#session}/screenshot`)), 'base64');
  }

  /** What the browser complained about since it was last asked. */
  async complaints(): Promise<readonly string[]> {
    const entries = await this.#call('POST', `${this.#session}/se/log`, { type: 'browser' });
    assert.ok(Array.isArray(entries));
    return entries.map((entry) => JSON.stringify(entry));
  }

  async close(): Promise<void> {
    if (this.#session !== '') await this.#call('DELETE', this.#session).catch(() => null);
    const ended = once(this.#driver, 'exit');
    this.#driver.kill();
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
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
