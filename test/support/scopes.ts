/**
 * Who may call what, written down apart from the program: a token's least scope, or `public` for
 * everybody. A route without a row here fails its tests.
 */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = typeof SCOPES[number];

const resource = (
  path: string, key: string, write: Scope,
): readonly (readonly [string, Scope])[] => [
  [`GET ${path}`, 'read'], [`POST ${path}`, write], [`GET ${path}/{${key}}`, 'read'],
  [`PUT ${path}/{${key}}`, write], [`PATCH ${path}/{${key}}`, write],
  [`DELETE ${path}/{${key}}`, write],
];

export const SCOPE_OF: ReadonlyMap<string, Scope | 'public'> = new Map([
  ...resource('/api/books', 'id', 'write'),
  ['POST /api/books/import', 'write'],
  ...resource('/api/incoming-webhooks', 'identifier', 'admin'),
  ['GET /api/incoming-webhooks/{identifier}/examples', 'read'],
  ['POST /api/incoming-webhooks/{identifier}/diagnose', 'write'],
  ['POST /api/incoming-webhooks/{identifier}/match', 'write'],
  ['POST /api/incoming-webhooks/{identifier}/rotate-secret', 'admin'],
  ['POST /api/outgoing-webhooks/{identifier}/rotate-secret', 'admin'],
  ['GET /api/verification-presets', 'read'],
  ...resource('/api/action-configurations', 'identifier', 'admin'),
  ['GET /api/actions', 'read'],
  ...resource('/api/outgoing-webhooks', 'identifier', 'admin'),
  ['POST /api/outgoing-webhooks/{identifier}/send', 'write'],
  ['POST /api/events', 'write'],
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
  ['POST /api/requests/replay', 'write'],
  ['POST /api/deliveries/resend', 'write'],
  ['GET /api/jobs', 'read'],
  ['GET /api/jobs/{id}', 'read'],
  ['DELETE /api/jobs/{id}', 'write'],
  ['GET /api/stream', 'read'],
  ['POST /api/incoming-webhooks/{identifier}/sample', 'admin'],
  ['GET /api/access', 'read'],
  ['GET /api/tokens', 'admin'],
  ['GET /api/status', 'read'],
  ['GET /api/nodes', 'read'],
  ['GET /api/statistics', 'read'],
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
  ['GET /docs/{chapter}', 'public'],
  ['GET /favicon.ico', 'public'],
]);
