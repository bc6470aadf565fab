import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { chapterRoute, docsRoute } from '../../../src/server/documents/docs-routes.ts';
import {
  createDocsPolicy, renderChapter, renderDocs,
} from '../../../src/server/documents/page/docs-page.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { startServer } from '../../support/test-server.ts';

const JSON_BODY = { 'application/json': { schema: { $ref: '#/components/schemas/BookBody' } } };
const LINES = { 'application/jsonl': { schema: { $ref: '#/components/schemas/BookBody' } } };
const BOOK = { 'application/json': { schema: { $ref: '#/components/schemas/Book' } } };
const BOOKS = {
  'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Book' } } },
};
const DOCUMENT = {
  info: { title: 'shelf <&> hooks', version: '1.2.3' },
  paths: {
    '/api/books': {
      get: {
        operationId: 'listBooks', summary: 'All books',
        parameters: [{
          name: 'sort', in: 'query', description: 'What to sort by',
          schema: { type: 'string', enum: ['title', '-title'] },
        }, { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 99 } }],
        responses: { 200: { description: 'The books', content: BOOKS } },
      },
      post: {
        operationId: 'addBook', summary: 'Adds a book',
        requestBody: { content: JSON_BODY },
        responses: {
          201: {
            description: 'The stored book', content: BOOK,
            headers: { Location: { description: 'Where it is' } },
          },
          422: { description: 'Unprocessable' },
        },
        security: [{ bearer: [] }],
      },
    },
    '/api/books/import': {
      post: { operationId: 'importBooks', requestBody: { content: LINES }, responses: {} },
    },
    '/webhook/in': {
      post: { requestBody: { content: { 'application/json': { schema: {} } } }, responses: {} },
    },
    '/api/books/{id}': { get: { operationId: 'getBook', summary: 'One book', responses: {} } },
  },
  components: {
    schemas: {
      Book: {
        type: 'object', required: ['id'],
        properties: { id: { type: 'string', readOnly: true }, note: {} },
      },
      BookBody: {
        type: 'object',
        required: ['title', 'format'],
        properties: {
          id: { readOnly: true },
          title: { type: 'string', maxLength: 1000, description: '<script>alert(1)</script>' },
          format: { type: 'string', enum: ['it\'s paper', 'EBook'] },
          keywords: {
            anyOf: [
              { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 7 },
              { type: 'null' },
            ],
          },
          first: { $ref: '#/components/schemas/Book' },
        },
      },
    },
  },
} as const;

const page = renderDocs(DOCUMENT, 'http://127.0.0.1:8000');

test('every operation stands on the page with a curl line for this server', () => {
  assert.ok(page.includes('http://127.0.0.1:8000/api/books/ID'));
  assert.ok(page.includes('-X POST'));
  assert.ok(page.includes('Authorization: Bearer $HOOKSHELF_API_TOKEN'));
  assert.ok(page.includes('The stored book'));
});

test('the example body holds the required members, one a line, quoted for a shell', () => {
  assert.ok(page.includes('-d \'{\n    &quot;title&quot;: &quot;text&quot;,\n    &quot;format'));
  assert.ok(page.includes(`it'\\''s paper`));
  assert.ok(page.includes('-d \'{}\''), 'anything is an object');
  // A line is a record there.
  assert.ok(page.includes('-d \'{&quot;title&quot;:&quot;text&quot;,&quot;format&quot;'));
});

test('bodies and answers show their shape, with links to the models they hold', () => {
  const link = '<a href="#schema-Book">Book</a>';
  assert.ok(page.includes('<h3>Body</h3><p><a href="#schema-BookBody">BookBody</a>'));
  assert.ok(page.includes('{\n  "title": string,\n  "format": <span class="value">'));
  assert.ok(page.includes('"keywords"?: string[] | null,'));
  assert.ok(page.includes(`"first"?: ${link},`));
  assert.ok(page.includes(`<h3>Answer 201</h3><p>${link}</p>`));
  assert.ok(page.includes('{\n  "id": string,\n  "note"?: any JSON,\n}'));
  assert.ok(page.includes(`<h3>Answer 200</h3><p>${link}[]</p>`));
  assert.ok(page.includes('[{\n  "id": string,'));
  assert.ok(page.includes('<code>Location</code>: Where it is'));
});

test('shows the values and limits of parameters and members', () => {
  const text = page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  assert.match(text, /sort query &quot;title&quot; \| &quot;-title&quot; What to sort by/);
  assert.match(text, /limit query integer 1–99/);
  assert.match(text, /title required string .* at most 1000 characters/);
  assert.match(text, /keywords string\[\] \| null at most 7 items, each not empty/);
});

test('every operation and model has an anchor, and every link within the page one to go to', () => {
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ['listBooks', 'addBook', 'getBook', 'schema-Book', 'models']) {
    assert.ok(ids.includes(id), id);
  }
  const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  assert.ok(links.length > 10);
  assert.deepEqual(links.filter((id) => !ids.includes(id)), []);
});

test('the policy lets the page\'s own script and style run, and nothing else', () => {
  const policy = createDocsPolicy();
  const chapter = renderChapter({ name: 'a', title: 'A', summary: '' }, '# A', []);
  for (const [html, element] of [
    [page, 'script'], [page, 'style'], [chapter, 'script'], [chapter, 'style'],
  ] as const) {
    const found = [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))];
    assert.equal(found.length, 1, element);
    const hash = createHash('sha256').update(found[0]?.[1] ?? '').digest('base64');
    assert.ok(policy.includes(`${element}-src 'sha256-${hash}';`), policy);
  }
  assert.match(policy, /^default-src 'none';/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(page, /\son\w+=|\sstyle=|javascript:/);
  assert.equal(page.match(/class="copy" hidden/g)?.length, page.match(/>curl /g)?.length);
});

test('escapes everything that comes from the document', () => {
  assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
  assert.ok(page.includes('shelf &lt;&amp;&gt; hooks'));
});

test('the page loads nothing from anywhere', () => {
  assert.ok(!/\s(src|href)="(https?:)?\/\//.test(page));
  assert.ok(!/@import|url\(/.test(page));
});

const CHAPTERS = [
  { name: 'first', title: 'First & foremost', summary: 'what <matters>' },
  { name: 'second', title: 'Second', summary: 'what comes then' },
];
const TEXT = '# First & foremost\n\n<script>alert(1)</script>\n\n## What `it` is\n';

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
    assert.ok(!body.includes('<script>alert'));
    assert.ok(body.includes('<a href="second">Second</a>'));
    assert.ok(body.includes('<li><a href="#what-it-is">What <code>it</code> is</a></li>'));
  }
  assert.equal(readings, 1);
  for (const [accept, mediaType] of [
    ['text/markdown', 'text/markdown'], ['text/html;q=0.5, text/markdown', 'text/markdown'],
    ['*/*', 'text/html'], ['text/html, */*;q=0.8', 'text/html'], ['image/png', 'text/html'],
  ] as const) {
    const { status, headers, body } =
      await rawRequest(server, 'GET', '/docs/first', { Accept: accept });
    assert.deepEqual([status, headers['content-type'], headers.vary],
      [200, `${mediaType}; charset=utf-8`, 'Accept'], accept);
    if (mediaType === 'text/markdown') assert.equal(body, TEXT);
  }
  assert.equal((await rawRequest(server, 'GET', '/docs/third')).status, 404);
});

test('a search lists the sections that the manual names, with links to them', async () => {
  const searches: string[] = [];
  await using server = await startServer([docsRoute(() => ({ paths: {} }), {
    chapters: CHAPTERS,
    search: (words) => {
      searches.push(words);
      return words === 'none' ? [] : [{ chapter: 'first', heading: 'A & b', anchor: 'a--b' }];
    },
  })]);
  const { status, body } = await rawRequest(server, 'GET', '/docs?q=%3Cb%3E+c');
  assert.equal(status, 200);
  assert.deepEqual(searches, ['<b> c']);
  assert.ok(body.includes('<a href="docs/first#a--b">First &amp; foremost: A &amp; b</a>'));
  assert.ok(body.includes(' value="&lt;b&gt; c"'));
  assert.ok(!body.includes('<b>'));
  assert.match((await rawRequest(server, 'GET', '/docs?q=none')).body, /No section has all/);
  assert.equal((await rawRequest(server, 'GET', '/docs?query=x')).status, 400);
});

test('the chapters stand above the interface', () => {
  const html = renderDocs(DOCUMENT, 'http://127.0.0.1:8000', '', CHAPTERS);
  assert.ok(html.indexOf('/docs/first"') < html.indexOf('>/api/books</h2>'));
});

test('the docs page links to every chapter, also below a path', () => {
  for (const base of ['', '/shelf']) {
    const page = renderDocs({ paths: {} }, 'http://127.0.0.1:8000', base, CHAPTERS);
    assert.ok(page.includes(`<a href="${base}/docs/first">First &amp; foremost</a>`));
    assert.ok(page.includes('what &lt;matters&gt;'));
    assert.ok(page.includes(`<a href="${base}/docs/second">`));
  }
});
