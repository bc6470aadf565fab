/**
 * Programs that manage every resource through a client made from the OpenAPI document, as somebody
 * would write them: no casts, whole answers sent back. Each prints what it has seen.
 */

const RESULT = `
export function must<T>(answer: { data?: T; error?: unknown; response?: { status: number } }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

export function refused(answer: { error?: { detail: string; errors?: { pointer: string }[] } }) {
  return answer.error?.errors?.map(({ pointer }) => pointer) ?? answer.error?.detail;
}
`;

const OPENAPI_FETCH = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';
import { must, refused } from './result.js';

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' });
type BookBody = components['schemas']['BookBody'];

const body: BookBody = { title: 'Emma', metadata: { shelf: [1, null], lent: { to: 'Ada' } } };
const book = must(await client.POST('/api/books', { body }));
const params = { path: { id: book.id } };
must(await client.PUT('/api/books/{id}', { params, body: { ...book, subtitle: 'A novel' } }));
const patch = { subtitle: null, metadata: { shelf: 2 } };
const patched = must(await client.PATCH('/api/books/{id}', { params, body: patch }));
const query = { q: 'emma', sort: '-title', limit: 10 } as const;
const found = must(await client.GET('/api/books', { params: { query } }));
const wrong = refused(await client.POST('/api/books', { body: { title: '' } }));

const options = { level: 'debug' };
const configuration = must(await client.POST('/api/action-configurations', {
  body: { actionType: 'log', identifier: 'note', options },
}));
const named = { path: { identifier: configuration.identifier } };
must(await client.PUT('/api/action-configurations/{identifier}', {
  params: named, body: { ...configuration, options: { level: 'info' } },
}));
const incoming = must(await client.POST('/api/incoming-webhooks', {
  body: { pathSegment: 'in', actionConfiguration: 'note', secret: 'hush' },
}));
const atIncoming = { path: { identifier: incoming.identifier } };
must(await client.PUT('/api/incoming-webhooks/{identifier}', {
  params: atIncoming, body: { ...incoming, allowedMethods: ['PUT'] },
}));
must(await client.PATCH('/api/incoming-webhooks/{identifier}', {
  params: atIncoming, body: { secret: null },
}));
const outgoing = must(await client.POST('/api/outgoing-webhooks', {
  body: { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'x', headers: { 'X-Shelf': 'seven' } },
}));
const atOutgoing = { path: { identifier: outgoing.identifier } };
must(await client.PATCH('/api/outgoing-webhooks/{identifier}', {
  params: atOutgoing, body: { headers: { 'X-Shelf': 'eight' } },
}));
const { deliveries } = must(await client.POST('/api/events', {
  body: { name: 'x', payload: { any: ['thing'] } },
}));
const delivery = must(await client.GET('/api/deliveries/{identifier}', {
  params: { path: { identifier: deliveries[0] ?? '' } },
}));
await client.DELETE('/api/outgoing-webhooks/{identifier}', { params: atOutgoing });
await client.DELETE('/api/incoming-webhooks/{identifier}', { params: atIncoming });
await client.DELETE('/api/action-configurations/{identifier}', { params: named });
await client.DELETE('/api/books/{id}', { params });
const left = must(await client.GET('/api/books'));
console.log(JSON.stringify([
  patched.metadata?.['lent'], 'subtitle' in patched, found.length, wrong, outgoing.enabled,
  delivery.status.length > 0, delivery.attempts.length >= 0, left.length,
]));
`;

const HEY_API = `
import { client } from './api/client.gen.js';
import * as api from './api/sdk.gen.js';
import type { BookBodyWritable } from './api/types.gen.js';
import { must, refused } from './result.js';

client.setConfig({ baseUrl: process.argv[2] ?? '' });

const body: BookBodyWritable =
  { title: 'Emma', metadata: { shelf: [1, null], lent: { to: 'Ada' } } };
const book = must(await api.addBook({ body }));
const path = { id: book.id };
must(await api.replaceBook({ path, body: { ...book, subtitle: 'A novel' } }));
const patched =
  must(await api.patchBook({ path, body: { subtitle: null, metadata: { shelf: 2 } } }));
const found = must(await api.listBooks({ query: { q: 'emma', sort: '-title', limit: 10 } }));
const wrong = refused(await api.addBook({ body: { title: '' } }));

const configuration = must(await api.addWebhookActionConfiguration({
  body: { actionType: 'log', identifier: 'note', options: { level: 'debug' } },
}));
const named = { identifier: configuration.identifier };
must(await api.replaceWebhookActionConfiguration({
  path: named, body: { ...configuration, options: { level: 'info' } },
}));
const incoming = must(await api.addIncomingWebhook({
  body: { pathSegment: 'in', actionConfiguration: 'note', secret: 'hush' },
}));
const atIncoming = { identifier: incoming.identifier };
must(await api.replaceIncomingWebhook({
  path: atIncoming, body: { ...incoming, allowedMethods: ['PUT'] },
}));
must(await api.patchIncomingWebhook({ path: atIncoming, body: { secret: null } }));
const outgoing = must(await api.addOutgoingWebhook({
  body: { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'x', headers: { 'X-Shelf': 'seven' } },
}));
const atOutgoing = { identifier: outgoing.identifier };
must(await api.patchOutgoingWebhook({
  path: atOutgoing, body: { headers: { 'X-Shelf': 'eight' } },
}));
const { deliveries } =
  must(await api.emitEvent({ body: { name: 'x', payload: { any: ['thing'] } } }));
const delivery = must(await api.getDelivery({ path: { identifier: deliveries[0] ?? '' } }));
await api.deleteOutgoingWebhook({ path: atOutgoing });
await api.deleteIncomingWebhook({ path: atIncoming });
await api.deleteWebhookActionConfiguration({ path: named });
await api.deleteBook({ path });
const left = must(await api.listBooks());
console.log(JSON.stringify([
  patched.metadata?.['lent'], 'subtitle' in patched, found.length, wrong, outgoing.enabled,
  delivery.status.length > 0, delivery.attempts.length >= 0, left.length,
]));
`;

export type ClientProgram = {
  readonly generator: string;
  /** The package's program, below `node_modules`, and its words. */
  readonly command: readonly [string, ...string[]];
  /** By name. */
  readonly files: Readonly<Record<string, string>>;
};

export const CLIENT_PROGRAMS: readonly ClientProgram[] = [
  {
    generator: 'openapi-typescript',
    command: ['openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'api.d.ts'],
    files: { 'result.ts': RESULT, 'program.ts': OPENAPI_FETCH },
  },
  {
    generator: '@hey-api/openapi-ts',
    command: ['@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'api',
      '-c', '@hey-api/client-fetch'],
    files: { 'result.ts': RESULT, 'program.ts': HEY_API },
  },
];

/** What each of them prints. */
export const CLIENT_RESULT = [{ to: 'Ada' }, false, 1, ['/title'], true, true, true, 0];
