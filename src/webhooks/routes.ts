/** Management of the three resources over HTTP, and what commands need besides. */
import { CHAIN_HEADER, hopsOf } from '../base/chain.ts';
import type { ObjectSchema } from '../base/schema.ts';
import type { ResourceCollection } from '../resources/collection-route.ts';
import { announcesBody } from '../server/exchange/mounting.ts';
import { problemAnswers } from '../server/problem.ts';
import { resourceRoutes } from '../resources/routes.ts';
import type { AnswerSpec, Route } from '../server/route.ts';
import type { Collection } from '../store/port.ts';
import type { Repository } from '../resources/repository.ts';
import type { ActionRegistry } from './actions/registry.ts';
import { exampleMethod, makeExamples } from './incoming/examples.ts';
import type { HookIndex, ReadyHook } from './incoming/hook-index.ts';
import { incomingSchema } from './incoming/incoming-webhook.ts';
import { createReceiver, createRefuser, type ReceiveParts } from './incoming/receive.ts';
import type { OutgoingIndex } from './outgoing/webhook-index.ts';
import { outgoingSchema } from './outgoing/webhook.ts';
import type { Sender } from './sending/sender.ts';
import type { Resources } from './resources.ts';
import {
  JSON_TYPE, NO_PAYLOAD, anyJson, arrayOf, notFound, objectOf, pathParameter, readPayload, shown,
  text,
} from '../resources/route-parts.ts';

export type RouteParts = {
  readonly resources: Resources;
  readonly collections: {
    readonly incoming: Collection;
    readonly configurations: Collection;
    readonly outgoing: Collection;
  };
  readonly actions: ActionRegistry;
  readonly hooks: HookIndex;
  readonly outgoing: OutgoingIndex;
  readonly sender: Pick<Sender, 'sendText'>;
  readonly receive: ReceiveParts;
  /** Absolute, without a slash at the end. */
  /** Without a slash at its end. */
  readonly baseUri: () => string;
};

// They decide where data goes and what may come in: more than whoever keeps the catalog may change.
const access = { read: 'read', write: 'admin' } as const;

export function webhookRoutes(parts: RouteParts): readonly Route[] {
  const { resources, collections } = parts;
  return [
    ...receiveRoutes(parts.receive),
    examplesRoute(parts),
    actionsRoute(parts.actions),
    sendRoute(parts),
    ...resourceRoutes({
      path: '/api/incoming-webhooks', noun: 'incoming webhook', key: 'identifier', access,
      schema: { ...incomingSchema, name: 'IncomingWebhook' }, service: resources.incoming,
      collection: listOf(collections.incoming, resources.incoming),
    }),
    ...resourceRoutes({
      path: '/api/action-configurations', noun: 'action configuration', key: 'identifier', access,
      schema: resources.configurationSchema, service: resources.configurations,
      collection: listOf(collections.configurations, resources.configurations),
    }),
    ...resourceRoutes({
      path: '/api/outgoing-webhooks', noun: 'outgoing webhook', key: 'identifier', access,
      schema: { ...outgoingSchema, name: 'OutgoingWebhook' }, service: resources.outgoing,
      collection: listOf(collections.outgoing, resources.outgoing),
    }),
  ];
}

function listOf(collection: Collection, repository: Repository): ResourceCollection {
  return {
    get size() {
      return collection.size;
    },
    walk(after) {
      const walk = collection.walk({ after });
      return () => {
        for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
          const id = collection.idAt(slot);
          const shown = id === undefined ? undefined : repository.find(id);
          if (id !== undefined && shown !== undefined) return { id, bytes: shown.bytes };
        }
        return null;
      };
    },
  };
}

const MESSAGE_SCHEMA: ObjectSchema = {
  kind: 'object',
  name: 'WebhookAnswer',
  members: {
    success: { schema: { kind: 'boolean' }, isRequired: true },
    message: { schema: { kind: 'string' }, isRequired: true },
    data: {
      schema: anyJson(), isRequired: true, description: 'An object or array',
    },
  },
};

function receiveRoutes(parts: ReceiveParts): readonly Route[] {
  const answer = (status: number, description: string): AnswerSpec =>
    ({ status, description, mediaType: JSON_TYPE, schema: MESSAGE_SCHEMA });
  // The longer path comes first: in the document, where a rest looks like one segment, the other
  // then stands in its place. It also takes what cannot be decoded, which is no webhook's path.
  return [{
    method: 'ANY', path: '/webhook/in/{pathSegment...}', operationId: 'receiveUnknown',
    access: 'public', summary: 'Longer paths are no webhook',
    parameters: [pathParameter('pathSegment', 'Anything else')],
    answers: [answer(404, 'Webhook not found or disabled')],
    handle: createRefuser(parts.hooks),
  }, {
    method: 'ANY', path: '/webhook/in/{pathSegment}', operationId: 'receiveWebhook',
    access: 'public',
    summary: 'Receive a webhook and run its action; any method that the webhook allows',
    parameters: [
      pathParameter('pathSegment', "The webhook's path segment"),
      {
        name: 'X-Signature', in: 'header', schema: { kind: 'string' },
        description: '`sha256=<hex>`: HMAC-SHA256 of the raw body, when the webhook has a secret',
      },
    ],
    // Anything else comes as well, and counts as [].
    body: { mediaTypes: [JSON_TYPE], schema: anyJson(), isOptional: true },
    answers: [
      answer(200, 'The action succeeded'), answer(400, 'The action failed'),
      answer(401, 'Signature verification failed'), answer(404, 'Webhook not found or disabled'),
      { ...answer(405, 'Method not allowed'), headers: { Allow: 'The methods that are' } },
      answer(408, 'The body came too late'), answer(413, 'Payload too large'),
      { ...answer(429, 'Too many requests'), headers: { 'Retry-After': 'Seconds' } },
      { ...answer(503, 'Too many requests in progress'), headers: { 'Retry-After': 'Seconds' } },
    ],
    handle: createReceiver(parts),
  }];
}

function examplesRoute({ hooks, baseUri }: RouteParts): Route {
  return {
    method: 'GET', path: '/api/incoming-webhooks/{identifier}/examples', access: 'read',
    operationId: 'getIncomingWebhookExamples',
    summary: 'Ready-to-run calls of one incoming webhook',
    parameters: [pathParameter('identifier', 'Of the webhook, or its path segment')],
    answers: [
      shown('The examples', objectOf('IncomingWebhookExamples', {
        identifier: text(), pathSegment: text(), hasSecret: { kind: 'boolean' }, url: text(),
        curl: text(), php: text(),
      })),
      ...problemAnswers(404),
    ],
    handle(exchange) {
      const hook = findHook(hooks, exchange.params[0] ?? '');
      const { identifier, pathSegment } = hook;
      const hasSecret = hook.key !== null;
      const url = `${baseUri()}/webhook/in/${pathSegment}`;
      const examples = makeExamples({ url, method: exampleMethod(hook.methods), hasSecret });
      exchange.sendJson(200, { identifier, pathSegment, hasSecret, ...examples });
    },
  };
}

function findHook(hooks: HookIndex, name: string): ReadyHook {
  const hook = hooks.find(name) ?? hooks.findByPath(name);
  if (hook === undefined) throw notFound('incoming webhook', name);
  return hook;
}

function actionsRoute(actions: ActionRegistry): Route {
  const item = objectOf('ActionDescription', {
    identifier: text(), label: text(), isBuiltIn: { kind: 'boolean' },
    options: anyJson(),
  });
  return {
    method: 'GET', path: '/api/actions', operationId: 'listActions', access: 'read',
    summary: 'The actions that configurations can name, with their options',
    answers: [{
      ...shown('Every action', arrayOf(item)), headers: { 'X-Total-Count': 'How many there are' },
    }],
    handle(exchange) {
      const known = actions.list().map(({ identifier, label, isBuiltIn, options }) =>
        ({ identifier, label, isBuiltIn, options }));
      exchange.sendJson(200, known, ['X-Total-Count', String(known.length)]);
    },
  };
}

const SEND_SCHEMA: ObjectSchema = {
  kind: 'object',
  name: 'Sending',
  members: { payload: { schema: anyJson(), description: 'Any JSON' } },
};

function sendRoute({ outgoing, sender }: RouteParts): Route {
  return {
    method: 'POST', path: '/api/outgoing-webhooks/{identifier}/send', access: 'write',
    operationId: 'sendOutgoingWebhook',
    summary: 'Send one outgoing webhook now; without a body the payload is {}',
    parameters: [pathParameter('identifier', 'Of the outgoing webhook')],
    body: { mediaTypes: [JSON_TYPE], schema: SEND_SCHEMA, isOptional: true },
    answers: [
      shown('What came of it; a failed delivery is `success: false`', objectOf('SendResult', {
        success: { kind: 'boolean' }, message: text(),
        statusCode: { kind: 'integer', minimum: 100, maximum: 999 }, response: anyJson(),
      }, { nullable: ['statusCode'], optional: ['message'] })),
      ...problemAnswers(400, 404, 413, 415, 422),
    ],
    async handle(exchange) {
      const payloadJson = announcesBody(exchange.request)
        ? (await readPayload(exchange, SEND_SCHEMA)).payloadJson : NO_PAYLOAD;
      const identifier = exchange.params[0] ?? '';
      const hook = outgoing.find(identifier);
      if (hook === undefined) throw notFound('outgoing webhook', identifier);
      const origin = { hops: hopsOf(exchange.request.headers[CHAIN_HEADER]), log: exchange.log };
      exchange.sendJson(200, await sender.sendText(hook, payloadJson, origin));
    },
  };
}
