/**
 * Who may call what, written down apart from the program: a token's least scope, or `public` for
 * everybody. A route without a row here fails its tests.
 */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = typeof SCOPES[number];
/** Beside its own scope, which includes no other, tokens of the scopes above `read` may emit. */
export type RouteScope = Scope | 'emit' | 'follow';

const resource = (
  path: string, key: string, write: Scope,
): readonly (readonly [string, Scope])[] => [
  [`GET ${path}`, 'read'], [`POST ${path}`, write], [`GET ${path}/{${key}}`, 'read'],
  [`PUT ${path}/{${key}}`, write], [`PATCH ${path}/{${key}}`, write],
  [`DELETE ${path}/{${key}}`, write], [`POST ${path}/{${key}}/restore`, write],
];

export const SCOPE_OF: ReadonlyMap<string, RouteScope | 'public'> = new Map([
  ...resource('/api/books', 'id', 'write'),
  ['POST /api/books/import', 'write'], ['POST /api/books/{id}/merge', 'write'],
  ['GET /api/books/facets', 'read'],
  ['GET /api/books/statistics', 'read'], ['GET /api/books/suggest', 'read'],
  ['GET /api/books/duplicates', 'read'],
  ...resource('/api/incoming-webhooks', 'identifier', 'admin'),
  ['GET /api/incoming-webhooks/{identifier}/examples', 'read'],
  ['POST /api/incoming-webhooks/{identifier}/diagnose', 'write'],
  ['POST /api/incoming-webhooks/{identifier}/match', 'write'],
  ['POST /api/incoming-webhooks/{identifier}/await-secret', 'admin'],
  ['POST /api/incoming-webhooks/{identifier}/rotate-secret', 'admin'],
  ['POST /api/outgoing-webhooks/{identifier}/rotate-secret', 'admin'],
  ['GET /api/verification-presets', 'read'],
  ...resource('/api/action-configurations', 'identifier', 'admin'),
  ['GET /api/actions', 'read'],
  ['GET /api/configuration', 'read'], ['PUT /api/configuration', 'read'],
  ...resource('/api/outgoing-webhooks', 'identifier', 'admin'),
  ['POST /api/outgoing-webhooks/{identifier}/send', 'write'],
  ['POST /api/outgoing-webhooks/{identifier}/acknowledge', 'write'],
  ['GET /api/outgoing-webhooks/{identifier}/statistics', 'read'],
  ['GET /api/outgoing-webhooks/{identifier}/examples', 'read'],
  ['POST /api/outgoing-webhooks/{identifier}/deliveries', 'write'],
  ['POST /api/events', 'emit'],
  ['GET /api/events', 'read'],
  ['GET /api/events/{id}', 'read'],
  ['GET /api/events/{id}/payload', 'read'],
  ['DELETE /api/events/{id}', 'write'],
  ['GET /api/deliveries', 'read'],
  ['GET /api/deliveries/{identifier}', 'read'],
  ['GET /api/deliveries/{identifier}/body', 'read'],
  ['POST /api/deliveries/{identifier}/resend', 'write'],
  ['GET /api/deliveries/reconcile', 'read'],
  ['POST /api/deliveries/retry', 'write'],
  ['POST /api/deliveries/{identifier}/retry', 'write'],
  ['POST /api/deliveries/{identifier}/cancel', 'write'],
  ['GET /api/requests', 'read'],
  ['GET /api/requests/{id}', 'read'],
  ['GET /api/requests/{id}/body', 'read'],
  ['GET /api/requests/reconcile', 'read'],
  ['GET /api/requests/{id}/headers', 'write'],
  ['POST /api/requests/{id}/replay', 'write'],
  ['PATCH /api/requests/{id}', 'write'],
  ['DELETE /api/requests/{id}', 'write'],
  ['POST /api/requests/{id}/restore', 'write'],
  ['POST /api/requests/replay', 'write'],
  ['POST /api/deliveries/resend', 'write'],
  ['POST /api/deliveries/cancel', 'write'],
  ['POST /api/outgoing-webhooks/{identifier}/backfill', 'write'],
  ['GET /api/jobs', 'read'],
  ['GET /api/jobs/{id}', 'read'],
  ['DELETE /api/jobs/{id}', 'write'],
  ['GET /api/stream', 'read'],
  ['POST /api/incoming-webhooks/{identifier}/sample', 'admin'],
  ['GET /api/access', 'read'],
  ['GET /api/tokens', 'admin'],
  ['GET /api/follow/log', 'follow'], ['GET /api/follow/backup', 'follow'],
  ['POST /api/follow/progress', 'follow'],
  ['GET /api/status', 'read'],
  ['GET /api/nodes', 'read'],
  ['GET /api/statistics', 'read'],
  ['GET /api/statistics/history', 'read'],
  ['GET /api/log', 'admin'],
  ['GET /api/settings', 'admin'],
  ['GET /api/identifiers/{collection}', 'read'],
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
    [`${method} /webhook/in/{pathSegment}`, 'public'] as const),
  ['GET /', 'public'],
  ['GET /healthz', 'public'],
  ['GET /readyz', 'public'],
  ['GET /metrics', 'read'],
  ['GET /openapi.json', 'public'],
  ['GET /docs', 'public'],
  ['GET /console', 'public'],
  ['GET /console/{script}', 'public'],
  ['GET /docs/{chapter}', 'public'],
  ['GET /favicon.ico', 'public'],
]);

/**
 * The scope of a token that is bound to webhooks, for each route that such a token may call. Every
 * other route that is not public refuses it.
 */
export const BOUND_SCOPES = ['read', 'resend', 'write'] as const;
export type BoundScope = typeof BOUND_SCOPES[number];

export const BOUND_SCOPE_OF: ReadonlyMap<string, BoundScope> = new Map([
  ['GET /api/access', 'read'],
  ['GET /api/outgoing-webhooks', 'read'],
  ['GET /api/outgoing-webhooks/{identifier}', 'read'],
  ['GET /api/outgoing-webhooks/{identifier}/statistics', 'read'],
  ['GET /api/outgoing-webhooks/{identifier}/examples', 'read'],
  ['GET /api/deliveries', 'read'],
  ['GET /api/deliveries/{identifier}', 'read'],
  ['GET /api/deliveries/{identifier}/body', 'read'],
  ['GET /api/events', 'read'],
  ['GET /api/events/{id}', 'read'],
  ['GET /api/events/{id}/payload', 'read'],
  ['GET /api/jobs', 'read'],
  ['GET /api/jobs/{id}', 'read'],
  ['GET /api/statistics', 'read'],
  ['GET /api/identifiers/{collection}', 'read'],
  ['GET /api/stream', 'read'],
  ['POST /api/deliveries/{identifier}/resend', 'resend'],
  ['POST /api/deliveries/{identifier}/retry', 'resend'],
  ['POST /api/deliveries/resend', 'resend'],
  ['POST /api/deliveries/retry', 'resend'],
  ['POST /api/outgoing-webhooks/{identifier}/backfill', 'resend'],
  ['DELETE /api/jobs/{id}', 'resend'],
  ['POST /api/deliveries/{identifier}/cancel', 'write'],
  ['POST /api/outgoing-webhooks/{identifier}/send', 'resend'],
  ['PATCH /api/outgoing-webhooks/{identifier}', 'resend'],
  ['POST /api/outgoing-webhooks/{identifier}/rotate-secret', 'write'],
]);
