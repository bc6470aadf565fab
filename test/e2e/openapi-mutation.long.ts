/** Bodies that are not as the document at /openapi.json says: refused, and never a 500. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate } from '../support/json-schema.ts';
import { IS_LONG } from '../support/long.ts';
import { mutate } from '../support/mutate-json.ts';
import { assertDescribed, operationsOf } from '../support/open-api.ts';
import type { ApiDocument, GivenAnswer, PlacedOperation } from '../support/open-api.ts';
import { below, createRandom } from '../support/random.ts';
import type { Random } from '../support/random.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { startServer } from './processes.ts';

const SEED = 20_261_120;
const MUTANTS = IS_LONG ? 100 : 10;
const STEPS_MAX = 3;

const BODIES: Readonly<Record<string, unknown>> = {
  Book: {
    title: 'Emma', subtitle: 'A novel', isbn: '9780141439587', publisher: 'Penguin',
    authors: [{
      name: 'Jane Austen', givenName: 'Jane', birthDate: '1775-12-16', deathDate: '1817',
      address: { streetAddress: 'Winchester Road', addressCountry: 'GB' },
    }],
    datePublished: '1815-12', inLanguage: 'en-GB', numberOfPages: 474, bookEdition: '1',
    bookFormat: 'Paperback', keywords: ['novel', 'manners'], description: 'Of Highbury',
    url: 'https://example.org/emma', metadata: { shelf: { row: [1, 'b', null] } },
  },
  WebhookActionConfiguration: { actionType: 'log', options: { level: 'debug' } },
  IncomingWebhook: {
    pathSegment: 'mutant', actionConfiguration: 'note', enabled: true, secret: 'hush',
    allowedMethods: ['POST', 'PUT'], staticHeaders: { a: 'b' }, rateLimit: 0.5,
    maxConcurrent: 2, actionTimeout: 2.5, maxInFlight: 2,
  },
  OutgoingWebhook: {
    targetUrl: 'http://127.0.0.1:1/x', httpMethod: 'PUT', headers: { 'X-A': 'b' },
    payloadTemplate: '{"a":"{{ b }}"}', enabled: false, secret: 'hush',
    triggerEvents: ['none.*', 'no.such'], actionConfiguration: 'note',
    retrySchedule: [0.5, 60], timeout: 2.5, maxInFlight: 2, disableAfterHours: 72,
    retryOn: ['5xx', 408], rate: { limit: 5, seconds: 60 }, probe: true,
  },
  emitEvent: { name: 'nobody.listens', payload: { a: [1] }, key: 'k', delaySeconds: 3600 },
  sendOutgoingWebhookDurably: {
    payload: { a: [1] }, event: 'mutant', key: 'k', deliverAt: '2000-01-01T00:00:00Z',
  },
  sendOutgoingWebhook: { payload: { a: [1] } },
};
const COLLECTIONS: Readonly<Record<string, string>> = {
  Book: 'books', WebhookActionConfiguration: 'action-configurations',
  IncomingWebhook: 'incoming-webhooks', OutgoingWebhook: 'outgoing-webhooks',
};

test(`mutated bodies are refused with what is wrong, and nothing fails (seed ${SEED})`, () =>
  inFolder(async (data) => {
    const environment = { HOOKSHELF_HTTP_RETRIES: '0', HOOKSHELF_CATALOG_EVENTS: 'false' };
    const server = await startServer(['--data', data], { environment });
    try {
      const add = (name: string, body: unknown) =>
        ask(`${server.url}/api/${COLLECTIONS[name]}`, { method: 'POST', body });
      await add('WebhookActionConfiguration', { identifier: 'note', actionType: 'log' });
      const keys: Record<string, string> = {};
      for (const name of Object.keys(COLLECTIONS)) {
        const { status, headers, text } = await add(name, BODIES[name]);
        assert.equal(status, 201, text);
        keys[name] = headers.location?.split('/').at(-1) ?? '';
      }
      const { text } = await ask(`${server.url}/openapi.json`);
      const document = JSON.parse(text) as ApiDocument;
      // The schema of a file that is imported says nothing: its records are told of one by one.
      const operations = operationsOf(document).filter(({ path, requestBody }) =>
        path.startsWith('/api/')
          && Object.keys(requestBody?.content['application/json']?.schema ?? {}).length > 0);
      assert.ok(operations.length > 12);
      const random = createRandom(SEED);
      for (const operation of operations) {
        const refused = await attack(document, operation, keys, random,
          (path, raw) => ask(server.url + path, {
            method: operation.method, raw, headers: { 'content-type': 'application/json' },
          }));
        assert.ok(refused > MUTANTS / 10, `${operation.operationId}: ${refused} refused`);
      }
      assert.doesNotMatch(server.stderr(), /"level":"error"/);
    } finally {
      await server.stop();
    }
  }));

/** How many of the mutants the document rules out; all of those were refused. */
async function attack(
  document: ApiDocument, operation: PlacedOperation, keys: Readonly<Record<string, string>>,
  random: Random, call: (path: string, body: string) => Promise<GivenAnswer>,
): Promise<number> {
  const { operationId, path, requestBody } = operation;
  const name = /(?:add|replace|patch)(\w+)/.exec(operationId)?.[1] ?? operationId;
  const key = keys[name] ?? keys['OutgoingWebhook'] ?? '';
  const schema = requestBody?.content['application/json']?.schema;
  let refused = 0;
  for (let count = 0; count < MUTANTS; count += 1) {
    let body = BODIES[name];
    for (let step = below(random, STEPS_MAX); step >= 0; step -= 1) body = mutate(body, random);
    const text = JSON.stringify(body);
    const answer = await call(path.replace(/\{\w+\}/, key), text);
    const told = `${operationId} ${text.slice(0, 500)} ${answer.status} ${answer.text}`;
    assert.ok(answer.status < 500, told);
    assertDescribed(document, operation, answer);
    const meant = operation.method === 'PATCH' ? withoutNulls(body) : body;
    if (validate(meant, schema, document).length === 0) continue;
    assert.ok(answer.status >= 400, `taken, but not as described: ${told}`);
    refused += 1;
  }
  return refused;
}

/** A merge patch may remove what is not there, whatever its name. */
function withoutNulls(patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null));
}
