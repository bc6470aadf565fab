import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitTarget } from '../../../src/server/exchange/request-head.ts';
import { Router, isDecodable } from '../../../src/server/routing/router.ts';

function routerOf(...templates: readonly string[]): Router<string> {
  return new Router(templates.map((template) => {
    const [method = '', path = ''] = template.split(' ');
    return { method, path, value: template };
  }));
}

const router = routerOf(
  'GET /', 'GET /api/books', 'POST /api/books', 'GET /api/books/{id}', 'DELETE /api/books/{id}',
  'POST /api/books/import', 'GET /api/{kind}/{id}/parts/{part}', 'ANY /webhook/in/{rest...}',
  'GET /files/{rest...}', 'GET /files/list',
);

const cases: readonly [string, string, string | undefined, readonly string[]][] = [
  ['GET', '/', 'GET /', []],
  ['GET', '/api/books', 'GET /api/books', []],
  ['POST', '/api/books', 'POST /api/books', []],
  ['GET', '/api/books/', undefined, []],
  ['GET', '/api//books', undefined, []],
  ['GET', '//api/books', undefined, []],
  ['GET', '/api/book', undefined, []],
  ['GET', '/API/books', undefined, []],
  ['GET', '/api/books/x', 'GET /api/books/{id}', ['x']],
  ['GET', '/api/books/x/', undefined, []],
  ['GET', '/api/%62ooks/x', 'GET /api/books/{id}', ['x']],
  ['GET', '/api/books/a%2Fb', 'GET /api/books/{id}', ['a/b']],
  ['GET', '/api/books/%E6%9C%AC', 'GET /api/books/{id}', ['本']],
  ['GET', '/api/books/..', 'GET /api/books/{id}', ['..']],
  ['GET', '/api/books/__proto__', 'GET /api/books/{id}', ['__proto__']],
  ['PUT', '/api/books/x', undefined, []],
  ['POST', '/api/books/import', 'POST /api/books/import', []],
  ['GET', '/api/books/import', 'GET /api/books/{id}', ['import']],
  ['GET', '/api/books/1/parts/2', 'GET /api/{kind}/{id}/parts/{part}', ['books', '1', '2']],
  ['GET', '/api/hooks/1/parts/2', 'GET /api/{kind}/{id}/parts/{part}', ['hooks', '1', '2']],
  ['GET', '/api/hooks/1/parts/', undefined, []],
  ['PATCH', '/webhook/in/x', 'ANY /webhook/in/{rest...}', ['x']],
  ['OPTIONS', '/webhook/in/x/y', 'ANY /webhook/in/{rest...}', ['x/y']],
  ['GET', '/webhook/in/', 'ANY /webhook/in/{rest...}', ['']],
  ['GET', '/webhook/in', undefined, []],
  ['GET', '/webhook/in/%zz', 'ANY /webhook/in/{rest...}', ['%zz']],
  ['GET', '/files/list', 'GET /files/list', []],
  ['GET', '/files/list/x', 'GET /files/{rest...}', ['list/x']],
  ['POST', '/files/list', undefined, []],
];

test('a path is served by the most fixed form that has the method', () => {
  for (const [method, path, expected, expectedParams] of cases) {
    const params: string[] = [];
    const found = router.find(method, splitTarget({ url: path }).path, params);
    assert.deepEqual({ found, params }, { found: expected, params: expectedParams }, path);
  }
});

test('equivalent paths are normalized to one form, other paths stay as they are', () => {
  for (const [path, expected] of [
    ['/api/books', '/api/books'], ['/%61pi/%62ook%73', '/api/books'], ['/%7Euser/%2e', '/~user/.'],
    ['/a%2Fb', '/a%2Fb'], ['/a%2fb', '/a%2fb'], ['/%2561pi', '/%2561pi'], ['/%00', '/%00'],
    ['/%', '/%'], ['/%zz', '/%zz'], ['/%6', '/%6'], ['/%E6%9C%AC', '/%E6%9C%AC'],
  ] as const) {
    assert.equal(splitTarget({ url: path }).path, expected);
    assert.equal(splitTarget({ url: expected }).path, expected, 'twice is once');
  }
});

test('reports a bad percent-encoding, and never passes it on as a parameter', () => {
  for (const path of ['/api/books/%', '/api/books/%zz', '/api/books/%ff', '/%e0%a4', '/nope/%1']) {
    assert.equal(isDecodable(path), false, path);
    assert.equal(router.find('GET', path, []), undefined, path);
    assert.deepEqual(router.listMethods(path), [], path);
  }
  assert.equal(isDecodable('/api/books/%E6%9C%AC'), true);
});

test('the methods of a path are those of all its forms', () => {
  const methods: readonly [string, readonly string[]][] = [
    ['/api/books', ['GET', 'POST']],
    ['/api/books/x', ['DELETE', 'GET']],
    ['/api/books/import', ['DELETE', 'GET', 'POST']],
    ['/api/none', []],
    ['/webhook/in/a/b', ['ANY']],
    ['/api/books/', []],
  ];
  for (const [path, expected] of methods) {
    assert.deepEqual(router.listMethods(path), expected, path);
  }
});

test('refuses a route that is declared twice, or continues after its rest parameter', () => {
  assert.throws(() => routerOf('GET /a/{x}', 'GET /a/{y}'), /stands twice/);
  assert.throws(() => routerOf('GET /a/{x...}/b'), /nothing may follow/);
  assert.throws(() => routerOf('GET a'));
  assert.throws(() => routerOf('GET /%61'), /percent-encoded/);
});
