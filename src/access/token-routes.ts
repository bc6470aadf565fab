/** Tokens are created and revoked on the control socket only: no token can create another. */
import { formatTimestamp } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { logWrite } from '../resources/change-log.ts';
import { LIST_HEADERS, arraySchema, sendList } from '../resources/route-specs.ts';
import type { Access, Grant, HttpRoute, ParameterSpec } from '../server/http-route.ts';
import { readQuery } from '../server/query.ts';
import { ACCESS_STATE_PATH } from './access-state.ts';
import type { AccessState } from './access-state.ts';
import { TOKEN_LIST_PATH, tokenResource } from './token-resource.ts';
import { accessSchema, TOKEN_MODEL } from './token.ts';
import type { Tokens } from './tokens.ts';

const REPLACE = {
  name: 'replace', in: 'query', schema: { kind: 'boolean' },
  description: 'true: the tokens of its name that are in force end with it',
} as const satisfies ParameterSpec;

const IN_FORCE = {
  name: 'inForce', in: 'query', schema: { kind: 'boolean' },
  description: 'true: only tokens that are neither revoked nor expired',
} as const satisfies ParameterSpec;

export function tokenRoutes(tokens: Tokens, state: () => AccessState): readonly HttpRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/access',
      operationId: 'getAccess',
      summary: 'What the caller may do',
      access: 'read',
      bound: { scope: 'read' },
      responses: [{
        status: 200, description: 'The scope, and whose it is', schema: accessSchema,
        mediaType: 'application/json',
      }],
      handle: (exchange) => exchange.sendJson(200, describeGrant(exchange.grant)),
    },
    {
      method: 'GET', path: ACCESS_STATE_PATH, operationId: 'getAccessState',
      summary: 'Whether the API is closed, and whether any token opens it', access: 'control',
      responses: [{ status: 200, description: 'An `AccessState`' }],
      handle: (exchange) => exchange.sendJson(200, state()),
    },
    listRoute(tokens, tokenResource.path, 'control'),
    listRoute(tokens, TOKEN_LIST_PATH, 'admin'),
    {
      method: 'POST',
      path: tokenResource.path,
      operationId: 'createToken',
      summary: 'A new token; its text is shown this once',
      access: 'control',
      parameters: [REPLACE],
      body: { mediaTypes: ['application/json'], schema: TOKEN_MODEL },
      responses: [{ status: 201, description: 'The token, with its text', schema: TOKEN_MODEL }],
      handle: async (exchange) => {
        const { replace } = readQuery(exchange.search, [REPLACE]);
        const body = await exchange.readJson();
        exchange.sendJson(201, await logWrite(exchange, tokenResource.noun, (options) =>
          tokens.create(body, { ...options, isReplacing: replace === true })));
      },
    },
    {
      method: 'DELETE',
      path: `${tokenResource.path}/{identifier}`,
      operationId: 'revokeToken',
      summary: 'Ends a token at once; its record stays',
      access: 'control',
      responses: [{ status: 200, description: 'The revoked token', schema: TOKEN_MODEL }],
      handle: async (exchange) => {
        const [identifier] = exchange.params;
        if (identifier === undefined) throw new AppError('not_found', 'no token was named');
        exchange.sendJson(200, await logWrite(exchange, tokenResource.noun, (options) =>
          tokens.revoke(identifier, options)));
      },
    },
  ];
}

/** Makes the answer of `getAccess`. A caller who needs no token may do everything. */
function describeGrant(grant: Grant | null): object {
  if (grant === null) return { scope: 'admin', name: null };
  const { scope, name, expiresAtMs, binding } = grant;
  // Members without a value are left out of the JSON.
  return {
    scope, name, webhooks: binding?.webhooks,
    expiresAt: expiresAtMs === undefined ? undefined : formatTimestamp(expiresAtMs),
  };
}

/** The list is on the control socket, where commands need it, and in the API. */
function listRoute(tokens: Tokens, path: string, access: Access): HttpRoute {
  return {
    method: 'GET', path, operationId: access === 'control' ? 'listOwnTokens' : 'listTokens',
    summary: 'All tokens, revoked and expired ones too, without their text', access,
    parameters: [IN_FORCE],
    responses: [{
      status: 200, description: 'An array of tokens', mediaType: 'application/json',
      schema: arraySchema(TOKEN_MODEL),
      headers: LIST_HEADERS,
    }],
    handle(exchange) {
      const { inForce } = readQuery(exchange.search, [IN_FORCE]);
      sendList(exchange, tokens.list(inForce === true));
    },
  };
}
