import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from './browser.ts';
import { answer, startServer, type ScriptedServer } from './servers.ts';

const browser = Browser.forTests();
const FETCH = "return fetch('/').then(() => 'answered', () => 'refused');";

test('what a page asks of its ended server is no complaint about the next page',
  { skip: lacksBrowser }, async () => {
    const [ended, next] = [await startPage(), await startPage()];
    try {
      await browser.visit(ended.url());
      await ended.close();
      assert.equal(await browser.evaluate(FETCH), 'refused');
      await browser.visit(next.url());
      assert.deepEqual(await browser.complaints(), []);
      await next.close();
      assert.equal(await browser.evaluate(FETCH), 'refused');
      assert.match((await browser.complaints()).join(), /ERR_CONNECTION_REFUSED/);
    } finally {
      await ended.close();
      await next.close();
    }
  });

function startPage(): Promise<ScriptedServer> {
  return startServer({ onRequest: ({ socket }) => socket.write(
    answer(200, '<link rel="icon" href="data:,">', ['content-type: text/html'])) });
}
