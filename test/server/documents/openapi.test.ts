import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseObject } from '../../../src/base/fields.ts';
import type { ObjectSchema } from '../../../src/base/schema.ts';
import { describeObject, type AnswerOf } from '../../../src/base/schema-types.ts';
import { Metrics } from '../../../src/server/metrics/metrics.ts';
import { createDocument } from '../../../src/server/documents/openapi.ts';
import { createSchemas } from '../../../src/server/documents/openapi-schema.ts';
import { operationsRoutes } from '../../../src/server/operations-routes.ts';
import { problemResponses, toProblem } from '../../../src/server/problem.ts';
import { resourceRoutes } from '../../../src/resources/resource-routes.ts';
import type { HttpRoute } from '../../../src/server/http-route.ts';
import { resolvePointer, validate } from '../../support/json-schema.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { route, startServer } from '../../support/test-server.ts';

const PART: ObjectSchema = {
  kind: 'object', name: 'Part', isNotEmpty: true,
  members: { label: { schema: { kind: 'string', maxLength: 5 } } },
};
const THING: ObjectSchema & { name: string } = {
  kind: 'object', name: 'Thing',
  members: {
    id: { schema: { kind: 'string' }, readOnly: 'echo' },
    updatedAt: { schema: { kind: 'string', format: 'date-time' }, readOnly: 'ignored' },
    title: { schema: { kind: 'string', minLength: 1, maxLength: 10, isNotBlank: true },
      isRequired: true, description: 'What it is called' },
    code: { schema: { kind: 'string', pattern: /^[0-9-]+$/, mustBe: 'digits and hyphens',
      canonical: (value) => value.replaceAll('-', '') } },
    size: { schema: { kind: 'integer', minimum: 1, maximum: 9 } },
    weight: { schema: { kind: 'number', minimum: 0, maximum: 2.5 } },
    kind: { schema: { kind: 'string', values: ['big', 'small'] } },
    isOpen: { schema: { kind: 'boolean' }, default: true },
    parts: { schema: { kind: 'array', items: PART, maxItems: 2, isUnique: true }, default: [] },
    metadata: { schema: { kind: 'json', isObject: true, bytesMax: 100, depthMax: 2 } },
    secret: { schema: { kind: 'string', minLength: 1 }, isWriteOnly: true },
  },
};

const records: Parameters<typeof resourceRoutes>[1] = {
  find: () => undefined,
  add: () => Promise.reject(new Error('not here')),
  replace: () => Promise.reject(new Error('not here')),
  patch: () => Promise.reject(new Error('not here')),
  remove: () => Promise.reject(new Error('not here')),
  restore: () => Promise.reject(new Error('not here')),
};

function allRoutes(): readonly HttpRoute[] {
  const routes: HttpRoute[] = [
    ...resourceRoutes({
      path: '/api/things', noun: 'thing', schema: THING, collection: { name: 'things', key: 'id' },
    }, records),
    route('ANY', '/webhook/in/{rest...}', (exchange) => exchange.sendJson(200, {}),
      { access: 'public', operationId: 'receive' }),
    route('POST', '/control/stop', () => {}, {
      access: 'control', responses: problemResponses(409),
    }),
  ];
  routes.push(...operationsRoutes({
    version: '1.2.3', findUnreadyReason: () => null, metrics: new Metrics(),
    links: { docs: '/docs' },
    startPage: '/docs',
    createDocument: () =>
      JSON.stringify(createDocument({ routes, version: '1.2.3', baseUri: null })),
  }));
  return routes;
}

const document = createDocument({ routes: allRoutes(), version: '1.2.3', baseUri: 'http://x' });
const schemaOf = (name: string) => resolvePointer(document, `#/components/schemas/${name}`);

test('a required member is always there, in the document and in the types', () => {
  const schema = describeObject({
    kind: 'object',
    members: { title: { schema: { kind: 'string' }, isRequired: true, isAlwaysPresent: false } },
  });
  const answer: AnswerOf<typeof schema> = { title: 'Ulysses' };
  // A type error where the type has the member as optional.
  assert.equal(answer.title.length, 7);
  assert.deepEqual(createSchemas().convert(schema, 'view')['required'], ['title']);
});

test('every route but those of the control socket is in the document', () => {
  const paths = document['paths'] as Record<string, Record<string, unknown>>;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`)).sort();
  assert.deepEqual(operations, [
    'delete /api/things/{id}', 'delete /webhook/in/{rest}', 'get /', 'get /api/things/{id}',
    'get /healthz', 'get /metrics', 'get /openapi.json', 'get /readyz', 'get /webhook/in/{rest}',
    'patch /api/things/{id}', 'patch /webhook/in/{rest}', 'post /api/things',
    'post /api/things/{id}/restore', 'post /webhook/in/{rest}', 'put /api/things/{id}',
    'put /webhook/in/{rest}',
  ]);
});

test('the document is well formed: ids are unique, references lead somewhere', () => {
  const ids: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (name === '$ref') resolvePointer(document, String(value));
      if (name === 'operationId') ids.push(String(value));
      visit(value);
    }
  };
  visit(document);
  assert.equal(new Set(ids).size, ids.length);
  for (const [path, methods] of Object.entries(document['paths'] as object)) {
    for (const operation of Object.values(methods as Record<string, Operation>)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const described = (operation.parameters ?? []).filter((one) => one.in === 'path');
      assert.deepEqual(described.map((one) => one.name), names, path);
      assert(described.every((one) => one.required));
      assert(Object.keys(operation.responses).length > 0 || path.includes('webhook'), path);
    }
  }
});

type Operation = {
  readonly parameters?: readonly { name: string; in: string; required: boolean }[];
  readonly responses: Readonly<Record<string, unknown>>;
};

const whole = {
  id: 'x', updatedAt: '2026', title: 'a', code: '12', size: 3, kind: 'big', isOpen: false,
  parts: [{ label: 'p' }], metadata: { any: [1] }, secret: 's',
};

test('body schemas take and refuse what the parser does', () => {
  const bodies: readonly unknown[] = [
    whole, { title: 'a' }, { title: 'a', code: null, parts: null }, { title: 'a', updatedAt: 7 },
    { title: 'a', code: '1-2' }, { title: '😀'.repeat(10) }, {}, { title: '' }, { title: '  ' },
    { title: null }, { title: 'x'.repeat(11) }, { title: 7 }, { title: 'a', code: 'x' },
    { title: 'a', weight: 2.5 }, { title: 'a', weight: 2.51 }, { title: 'a', weight: '1' },
    { title: 'a', size: 0 }, { title: 'a', size: 10 }, { title: 'a', size: 1.5 },
    { title: 'a', kind: 'none' }, { title: 'a', isOpen: 1 }, { title: 'a', parts: [{}] },
    { title: 'a', parts: [{ label: '123456' }] }, { title: 'a', parts: {} },
    { title: 'a', parts: [{ label: 'a' }, { label: 'b' }, { label: 'c' }] },
    { title: 'a', metadata: [] }, { title: 'a', secret: '' }, { title: 'a', extra: 1 }, [], null, 1,
  ];
  let refused = 0;
  for (const body of bodies) {
    const problems = validate(body, schemaOf('ThingBody'), document);
    let isTaken = true;
    try {
      parseObject(THING, body);
    } catch {
      isTaken = false;
      refused += 1;
    }
    assert.equal(problems.length === 0, isTaken, `${JSON.stringify(body)} ${problems.join()}`);
  }
  assert(refused > 10);
});

test('views lack secrets and have what is always there; patches need nothing', () => {
  const { secret: _, ...view } = whole;
  assert.deepEqual(validate(view, schemaOf('Thing'), document), []);
  for (const broken of [whole, { ...view, isOpen: undefined }, { ...view, id: 7 }]) {
    const sent = JSON.parse(JSON.stringify(broken)) as unknown;
    assert.notDeepEqual(validate(sent, schemaOf('Thing'), document), []);
  }
  for (const patch of [{}, { title: null }, { title: 'b' }, { parts: [{ label: 'x' }] }]) {
    assert.deepEqual(validate(patch, schemaOf('ThingPatch'), document), []);
  }
  assert.notDeepEqual(validate({ size: 'x' }, schemaOf('ThingPatch'), document), []);
});

test('problems are as the document says', () => {
  for (const thrown of [new Error('x'), undefined]) {
    const problem = JSON.parse(JSON.stringify(toProblem(thrown, '/x'))) as unknown;
    assert.deepEqual(validate(problem, schemaOf('Problem'), document), []);
  }
  assert.notDeepEqual(validate({ status: 1 }, schemaOf('Problem'), document), []);
});

test('the routes of operations answer as they are described', async () => {
  await using server = await startServer(allRoutes());
  const index = await rawRequest(server, 'GET', '/');
  assert.deepEqual(JSON.parse(index.body), {
    name: 'hookshelf', version: '1.2.3', links: { health: '/healthz', readiness: '/readyz',
      metrics: '/metrics', openapi: '/openapi.json', docs: '/docs' },
  });
  assert.equal((await rawRequest(server, 'GET', '/healthz')).body, '{"status":"ok"}');
  assert.equal((await rawRequest(server, 'GET', '/readyz')).status, 200);
  const metrics = await rawRequest(server, 'GET', '/metrics');
  assert.match(metrics.headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  const served = JSON.parse((await rawRequest(server, 'GET', '/openapi.json')).body);
  assert.deepEqual([served.openapi, served.info.version, served.paths],
    ['3.1.0', '1.2.3', JSON.parse(JSON.stringify(document['paths']))]);
});

test('readiness says why when the service is not ready', async () => {
  await using server = await startServer(operationsRoutes({
    version: '1', findUnreadyReason: () => 'the disk is full', metrics: new Metrics(),
    createDocument: () => '',
    startPage: '/docs',
  }));
  const answer = await rawRequest(server, 'GET', '/readyz');
  assert.deepEqual([answer.status, JSON.parse(answer.body).detail], [503, 'the disk is full']);
  assert.equal((await rawRequest(server, 'GET', '/healthz')).status, 200);
});
