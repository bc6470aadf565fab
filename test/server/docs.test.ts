import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderDocs } from '../../src/server/docs.ts';

const DOCUMENT = {
  info: { title: 'shelf <&> hooks', version: '1.2.3' },
  paths: {
    '/api/books': {
      post: {
        summary: 'Adds a book',
        requestBody: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Book' } } },
        },
        responses: { 201: { description: 'The stored book' } },
        security: [{ bearer: [] }],
      },
    },
    '/api/books/{id}': { get: { summary: 'One book', responses: {} } },
  },
  components: {
    schemas: {
      Book: {
        type: 'object',
        required: ['title', 'format'],
        properties: {
          title: { type: 'string', maxLength: 1000, description: '<script>alert(1)</script>' },
          format: { type: 'string', enum: ['it\'s paper', 'EBook'] },
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

test('the example body holds the required members, quoted for a shell', () => {
  assert.ok(page.includes('{&quot;title&quot;:&quot;text&quot;,&quot;format&quot;'));
  assert.ok(page.includes(`it'\\''s paper`));
});

test('what the document holds is escaped', () => {
  assert.ok(!page.includes('<script'));
  assert.ok(page.includes('shelf &lt;&amp;&gt; hooks'));
});

test('the page loads nothing from anywhere', () => {
  assert.ok(!/\s(src|href)="(https?:)?\/\//.test(page));
  assert.ok(!/@import|url\(/.test(page));
});
