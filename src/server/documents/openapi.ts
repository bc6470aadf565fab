/**
 * Makes the OpenAPI 3.1 document from the same table that serves the routes, so that the two cannot
 * differ. Routes of the control socket, and those for our own commands, are not in it.
 */
import type { JsonValue } from '../../base/schema.ts';
import { createSchemas } from './openapi-schema.ts';
import type { SchemaForm, JsonSchemaObject, Schemas } from './openapi-schema.ts';
import { PROBLEM_MEDIA_TYPE, problemResponses } from '../problem.ts';
import type { ResponseSpec, ParameterSpec, HttpRoute } from '../http-route.ts';

type DocumentSpec = {
  readonly routes: readonly HttpRoute[];
  readonly version: string;
  /** The absolute URL of the service, where it is configured. */
  readonly baseUri: string | null;
};

export type OpenApiDocument = { readonly [name: string]: unknown };

const ANY_METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
// A body has no meaning with these methods (RFC 9110).
const BODILESS_METHODS: readonly string[] = ['get', 'delete'];

export function createDocument(spec: DocumentSpec): OpenApiDocument {
  const schemas = createSchemas();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of spec.routes) {
    if (route.access === 'control' || route.isInternal === true) continue;
    const path = route.path.replace('...}', '}');
    const operations = paths[path] ??= {};
    if (route.method !== 'ANY') {
      operations[route.method.toLowerCase()] = buildOperation(route, route.operationId, schemas);
      continue;
    }
    for (const method of ANY_METHODS) {
      const operationId = `${route.operationId}By${method.charAt(0).toUpperCase()}${
        method.slice(1)}`;
      const { body, ...bodiless } = route;
      const hasBody = body !== undefined && !BODILESS_METHODS.includes(method);
      operations[method] = buildOperation(hasBody ? route : bodiless, operationId, schemas);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'hookshelf',
      version: spec.version,
      description: 'A book catalog and a durable webhook relay. Errors are problem documents '
        + '(RFC 9457). HEAD is answered wherever GET is, OPTIONS everywhere.',
    },
    servers: [{ url: spec.baseUri ?? '/' }],
    paths,
    components: {
      schemas: { ...schemas.listComponents(), Problem: PROBLEM },
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'Needed once the service has a token. Scopes: read; write (books, events, '
            + 'deliveries); admin (webhooks and actions). Each includes those before it. Beside '
            + 'them: emit (events alone), which write and admin include; follow (a copy), which '
            + 'none includes, and which is needed while the service has no token, too. A token '
            + 'bound to webhooks has the scope read, resend or write, and sees these and what '
            + 'belongs to them alone.',
        },
      },
    },
  };
}

function buildOperation(route: HttpRoute, operationId: string, schemas: Schemas): object {
  const parameters = listParameters(route);
  return {
    operationId,
    summary: route.summary,
    ...route.access === 'public' ? {} : { description: describeScopes(route) },
    tags: [findTag(route.path)],
    ...parameters.length === 0 ? {} : {
      parameters: parameters.map((parameter) => buildParameter(parameter, schemas)),
    },
    ...route.body === undefined ? {} : {
      requestBody: {
        required: route.body.isOptional !== true,
        content: {
          ...buildContent(
            route.body.mediaTypes, schemas.convert(route.body.schema, route.body.isPatch === true
              ? 'patch' : 'body'),
            route.body.example,
          ),
          ...buildContent(route.body.fileMediaTypes ?? [], {}),
        },
      },
    },
    responses: buildResponses(route, schemas),
    security: listSecurity(route.access),
  };
}

function describeScopes({ access, bound }: HttpRoute): string {
  const scope = `Scope of the token: \`${access}\``;
  return bound === undefined ? `${scope}.`
    : `${scope}; of one that is bound to webhooks: \`${bound.scope}\`.`;
}

/** Beside `{}` no token is needed while the service has none. */
function listSecurity(access: HttpRoute['access']): readonly object[] {
  const bearer = { bearer: [] };
  if (access === 'public') return [];
  return access === 'follow' ? [bearer] : [{}, bearer];
}

function findTag(path: string): string {
  const [first = '', second = ''] = path.split('/').slice(1);
  if (first === 'api') return second;
  return first === 'webhook' ? 'webhook' : 'operations';
}

/** The route's parameters, after the path parameters that it does not describe. */
function listParameters(route: HttpRoute): readonly ParameterSpec[] {
  const describedParameters = route.parameters ?? [];
  const names = [...route.path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map((match) => match[1] ?? '');
  const missing = names.filter((name) =>
    !describedParameters.some((parameter) => parameter.in === 'path' && parameter.name === name));
  return [
    ...missing.map((name): ParameterSpec => (
      { name, in: 'path', description: name, schema: { kind: 'string' } })),
    ...describedParameters,
  ];
}

function buildParameter(parameter: ParameterSpec, schemas: Schemas): object {
  return {
    name: parameter.name,
    in: parameter.in,
    description: parameter.description,
    required: parameter.in === 'path' || parameter.isRequired === true,
    schema: schemas.convert(parameter.schema, 'view'),
  };
}

function buildResponses(route: HttpRoute, schemas: Schemas): object {
  const responses: Record<string, object> = {};
  for (const response of [...route.responses, ...listCommonResponses(route)]) {
    responses[response.status] ??= buildResponse(response, schemas);
  }
  return responses;
}

const DENIAL_RESPONSES: readonly ResponseSpec[] = [
  {
    status: 401, description: 'A token is needed, or the one given is not valid',
    mediaType: PROBLEM_MEDIA_TYPE, headers: { 'WWW-Authenticate': 'How to authenticate' },
  },
  {
    status: 403, description: 'The token has too small a scope, or the origin is not allowed',
    mediaType: PROBLEM_MEDIA_TYPE,
  },
  {
    status: 421, description: 'Not a host that this service answers to',
    mediaType: PROBLEM_MEDIA_TYPE,
  },
];
// The host is not checked here: health checks reveal nothing, and webhooks have callers anywhere.
const ANY_HOST_PATHS = /^\/(?:healthz|readyz)$|^\/webhook\//;

/** Responses that are sent before a handler runs. */
function listCommonResponses(route: HttpRoute): readonly ResponseSpec[] {
  if (ANY_HOST_PATHS.test(route.path)) return [];
  return [
    // For a path that cannot be decoded, and for unknown query parameters of the API.
    ...route.path.includes('{') || route.path.startsWith('/api/') ? problemResponses(400) : [],
    ...route.body === undefined ? [] : problemResponses(408),
    ...DENIAL_RESPONSES.filter(({ status }) => status === 421 || route.access !== 'public'),
  ];
}

function buildResponse(response: ResponseSpec, schemas: Schemas): object {
  const { description, mediaType, otherTypes = [], schema, headers } = response;
  const others = otherTypes.map((other) =>
    buildContent([other.mediaType], buildResponseSchema(other.mediaType, other.schema, schemas)));
  return {
    description,
    ...headers === undefined ? {} : {
      headers: Object.fromEntries(Object.entries(headers).map(([name, text]) =>
        [name, { description: text, schema: { type: 'string' } }])),
    },
    ...mediaType === undefined ? {} : {
      content: Object.assign(
        buildContent([mediaType], buildResponseSchema(mediaType, schema, schemas)), ...others,
      ) as object,
    },
  };
}

function buildResponseSchema(
  mediaType: string, schema: ResponseSpec['schema'], schemas: Schemas,
): JsonSchemaObject {
  if (schema !== undefined) return schemas.convert(schema, 'view' satisfies SchemaForm);
  return mediaType === PROBLEM_MEDIA_TYPE ? { $ref: '#/components/schemas/Problem' } : {};
}

function buildContent(
  mediaTypes: readonly string[], schema: JsonSchemaObject, example?: JsonValue,
): object {
  const media = { schema, ...example === undefined ? {} : { example } };
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, media]));
}

const PROBLEM: JsonSchemaObject = {
  type: 'object',
  description: 'RFC 9457',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: '`urn:hookshelf:problem:<kind>`' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'Path of the request' },
    errors: {
      type: 'array',
      description: 'Every broken rule, with the JSON Pointer of the place',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};
