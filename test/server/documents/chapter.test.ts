import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { chapterRoute } from '../../../src/server/documents/docs-routes.ts';
import { renderDocs } from '../../../src/server/documents/page/docs-page.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { startServer } from '../../support/test-server.ts';

const CHAPTERS = [
  { name: 'first', title: 'First & foremost', summary: 'what <matters>' },
  { name: 'second', title: 'Second', summary: 'what comes then' },
];
const TEXT = '# First & foremost\n\n<script>alert(1)</script>\n';

test('a chapter is a page with its text, escaped, read when it is first asked for', async () => {
  let readings = 0;
  await using server = await startServer([chapterRoute({
    chapters: CHAPTERS,
    get: (name) => {
      const chapter = CHAPTERS.find((one) => one.name === name);
      if (chapter === undefined) throw new AppError('not_found', `no ${name}`);
      return chapter;
    },
    read: () => {
      readings += 1;
      return TEXT;
    },
  })]);
  assert.equal(readings, 0);
  for (let turn = 0; turn < 3; turn += 1) {
    const { status, headers, body } = await rawRequest(server, 'GET', '/docs/first');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    assert.ok(body.includes('<title>First &amp; foremost</title>'));
    assert.ok(body.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
    assert.ok(!body.includes('<script>'));
    assert.ok(body.includes('<a href="second">Second</a>'));
  }
  assert.equal(readings, 1);
  assert.equal((await rawRequest(server, 'GET', '/docs/third')).status, 404);
});

test('the docs page links to every chapter, also below a path', () => {
  for (const base of ['', '/shelf']) {
    const page = renderDocs({ paths: {} }, 'http://127.0.0.1:8000', base, CHAPTERS);
    assert.ok(page.includes(`<a href="${base}/docs/first">First &amp; foremost</a>`));
    assert.ok(page.includes('what &lt;matters&gt;'));
    assert.ok(page.includes(`<a href="${base}/docs/second">`));
  }
});
