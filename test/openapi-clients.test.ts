/**
 * What generators of clients need of the OpenAPI document, where running them would be too heavy:
 * test/e2e/generators.test.ts does that on demand.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createHookshelf } from '../src/index.ts';
import { ask } from './e2e/ask.ts';
import { operationsOf } from './support/open-api.ts';
import type { ApiDocument } from './support/open-api.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

type Node = { readonly [keyword: string]: unknown };

let document: ApiDocument = { openapi: '', paths: {}, components: { schemas: {} } };

before(async () => {
  const data = createTemporaryFolder();
  const shelf = await createHookshelf({ data });
  const { url } = await shelf.listen({ port: 0 });
  document = JSON.parse((await ask(`${url}/openapi.json`)).text);
  await shelf.close();
});

test('requests and answers have models of their own', () => {
  const { requests, answers } = reachable();
  assert.ok(requests.names.size >= 8 && answers.names.size >= 8);
  assert.deepEqual([...requests.names].filter((name) => answers.names.has(name)), []);
});

// Else openapi-typescript makes `Record<string, never>` of it, into which nothing fits.
test('an object says what it holds, or that it may hold anything', () => {
  const { requests, answers } = reachable();
  const objects = [...requests.nodes, ...answers.nodes].filter(({ type }) => type === 'object');
  const open = objects.filter(({ additionalProperties }) => additionalProperties === true);
  assert.ok(open.length >= 5, 'metadata, options, headers, staticHeaders, the document itself');
  for (const node of objects) {
    const isOpen = node['properties'] === undefined;
    assert.equal(node['additionalProperties'], isOpen, JSON.stringify(node));
  }
  for (const [name, member] of [
    ['BookBody', 'metadata'], ['BookPatch', 'metadata'], ['OutgoingWebhookBody', 'headers'],
    ['WebhookActionConfigurationBody', 'options'], ['IncomingWebhookBody', 'staticHeaders'],
  ] as const) {
    assert.match(JSON.stringify(propertiesOf(name)[member]), /"additionalProperties":true/, name);
  }
});

// Else it asks for that member in each request.
test('nothing in a request has the keyword `default`', () => {
  assert.deepEqual(reachable().requests.nodes.filter((node) => 'default' in node), []);
  assert.match(JSON.stringify(propertiesOf('OutgoingWebhookBody')['httpMethod']),
    /"description":"[^"]+\. Default: `POST`\."/);
  const empty = reachable().requests.nodes
    .filter(({ description }) => String(description).includes('``'));
  assert.deepEqual(empty, []);
});

// A caller of the API has neither labels nor choices, nor fields that it leaves empty.
test('the document says which texts a member takes', () => {
  const said = [
    ['EventBody', 'name', /200 printable characters/], ['EventBody', 'name', /delivery\.failed/],
    ['OutgoingWebhookBody', 'httpMethod', /in capitals/],
    ['IncomingWebhookBody', 'deduplicate', /`auto`.*`off`/],
    ['IncomingWebhookBody', 'answer', /`result`.*`accepted`/],
    ['IncomingWebhookBody', 'secret', /A change without it leaves it/],
    ['IncomingWebhookBody', 'actionConfiguration', /by its identifier/],
    ['WebhookRouteBody', 'actionConfiguration', /by its identifier/],
    ['OutgoingWebhookBody', 'actionConfiguration', /by its identifier/],
    ['ClientCredentialsBody', 'clientAuthentication', /id and secret/],
    ['ClientCertificateBody', 'certificate', /certificate in PEM/],
    ['EventBody', 'delaySeconds', /^After how many seconds/],
  ] as const;
  for (const [name, member, says] of said) {
    const { description } = propertiesOf(name)[member] as Node;
    assert.match(String(description), says, `${name}/${member}`);
  }
});

// The console has no texts of its own for them.
test('each member that a form of webhooks asks for has a hint, in words for people', () => {
  const names = [
    'OutgoingWebhookBody', 'IncomingWebhookBody', 'WebhookActionConfigurationBody',
    'WebhookRouteBody', 'WebhookVerificationBody', 'WebhookSigningBody', 'EventBody',
    'ClientCredentialsBody', 'ClientCertificateBody', 'RateBody', 'WebhookResponsesBody',
    'WebhookFailureResponseBody',
  ];
  type Member = { readonly readOnly?: boolean; readonly description?: string };
  const asked = names
    .flatMap((name) => Object.entries(propertiesOf(name) as Readonly<Record<string, Member>>))
    .filter(([, { readOnly }]) => readOnly === undefined);
  assert.ok(asked.length > 60);
  const silent = asked.filter(([, { description }]) => description === undefined);
  assert.deepEqual(silent, []);
  const odd = asked.filter(([, { description }]) => /[,;:]$|absent/.test(String(description)));
  assert.deepEqual(odd.map(([name]) => name), []);
});

test('a webhook can be sent by a client: its body is any JSON', () => {
  const { post, get } = document.paths['/webhook/in/{pathSegment}'] ?? {};
  assert.deepEqual(post?.requestBody, {
    required: false, content: { 'application/json': { schema: {} } },
  });
  assert.equal(get?.requestBody, undefined);
});

test('an answer says which members are always there, a request which ones it needs', () => {
  const required = (name: string) => [...asList(schemaOf(name)['required'] ?? [])].sort();
  for (const node of reachable().answers.nodes.filter((one) => one['properties'] !== undefined)) {
    const isAllOptional = ['Address', 'FacetValues', 'Reading', 'VerificationSource',
      'WebhookCondition', 'WebhookResponses', 'WebhookSigning']
      .some((name) => node === schemaOf(name));
    assert.equal(node['required'] === undefined, isAllOptional, JSON.stringify(node));
  }
  const stamps = ['createdAt', 'identifier', 'updatedAt'];
  const expected: Readonly<Record<string, readonly string[]>> = {
    Book: ['authors', 'createdAt', 'id', 'title', 'updatedAt'], BookBody: ['title'], BookPatch: [],
    AuthorBody: ['name'], EventBody: ['name'], SendResult: ['response', 'statusCode', 'success'],
    WebhookActionConfiguration: ['actionType', 'options', ...stamps],
    WebhookActionConfigurationBody: ['actionType'],
    IncomingWebhook: ['answer', 'deduplicate', 'deduplicateHours', 'enabled', 'hasSecret', 'health',
      'inbox', 'pathSegment', ...stamps],
    IncomingWebhookBody: ['pathSegment'],
    OutgoingWebhook: ['enabled', 'hasSecret', 'health', 'httpMethod', 'targetUrl', ...stamps],
    OutgoingWebhookBody: ['targetUrl'], OutgoingWebhookPatch: [],
    Delivery: ['attempts', 'createdAt', 'event', 'eventId', 'hook', 'hookName', 'identifier',
      'key', 'kind', 'nextAttemptAt', 'request', 'resendOf', 'route', 'status', 'target',
      'waitsFor'],
    DeliveryAttempt: ['at', 'durationMs'],
  };
  for (const [name, names] of Object.entries(expected)) {
    assert.deepEqual(required(name), [...names].sort(), name);
  }
});

function schemaOf(name: string): Node {
  return asNode(document.components.schemas[name]);
}

function propertiesOf(name: string): Node {
  return asNode(schemaOf(name)['properties']);
}

type Found = { readonly names: Set<string>; readonly nodes: Node[] };

/** Every schema that a request may hold, and every one that an answer may; errors apart. */
function reachable(): { readonly requests: Found; readonly answers: Found } {
  const requests: Found = { names: new Set(), nodes: [] };
  const answers: Found = { names: new Set(), nodes: [] };
  for (const { requestBody, responses } of operationsOf(document)) {
    for (const { schema } of Object.values(requestBody?.content ?? {})) collect(schema, requests);
    for (const [mediaType, { schema }] of Object.values(responses).flatMap(({ content = {} }) =>
      Object.entries(content))) {
      if (mediaType !== 'application/problem+json') collect(schema, answers);
    }
  }
  return { requests, answers };
}

function collect(schema: unknown, found: Found): void {
  const node = asNode(schema);
  const name = String(node['$ref'] ?? '').replace('#/components/schemas/', '');
  if (name !== '') {
    if (found.names.has(name)) return;
    found.names.add(name);
    collect(document.components.schemas[name], found);
    return;
  }
  found.nodes.push(node);
  const below = [
    ...Object.values(asNode(node['properties'] ?? {})), ...asList(node['anyOf'] ?? []),
    ...node['items'] === undefined ? [] : [node['items']],
  ];
  for (const one of below) collect(one, found);
}

function asNode(value: unknown): Node {
  assert.ok(typeof value === 'object' && value !== null, JSON.stringify(value));
  return value as Node;
}

function asList(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value));
  return value;
}
