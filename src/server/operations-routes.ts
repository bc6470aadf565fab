/** Routes for operators and tools: the index, health, readiness, metrics, the OpenAPI document. */
import { AppError } from '../base/errors.ts';
import type { ObjectSchema, StringSchema } from '../base/schema.ts';
import { parseAccept } from './accept.ts';
import type { Metrics } from './metrics/metrics.ts';
import { problemResponses } from './problem.ts';
import type { ResponseSpec, HttpRoute } from './http-route.ts';

type OperationsSpec = {
  readonly version: string;
  /** Why requests cannot be served at present; null when they can. */
  readonly findUnreadyReason: () => string | null;
  readonly metrics: Metrics;
  /**
   * Makes the OpenAPI document, as JSON text. It is cached once it is there: until then each
   * request calls this, so that requests at the same time may make it more than once.
   */
  readonly createDocument: () => string | Promise<string>;
  /** Further links of `GET /`: name to path. */
  readonly links?: Readonly<Record<string, string>>;
  /** The path of the page that `GET /` redirects browsers to. */
  readonly startPage: string;
};

const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function operationsRoutes(spec: OperationsSpec): readonly HttpRoute[] {
  return [
    indexRoute(spec), healthRoute(), readinessRoute(spec), metricsRoute(spec), documentRoute(spec),
  ];
}

function indexRoute(spec: OperationsSpec): HttpRoute {
  const paths = {
    health: '/healthz', readiness: '/readyz', metrics: '/metrics', openapi: '/openapi.json',
    ...spec.links,
  };
  let cachedIndex = { base: '', body: encodeIndex(spec.version, paths, '') };
  return {
    method: 'GET',
    path: '/',
    operationId: 'getIndex',
    summary: 'What this service is, and where to go on',
    access: 'public',
    responses: [
      jsonResponse('Name, version and links', INDEX_SCHEMA),
      {
        status: 302, description: 'To a page, for a caller that prefers HTML to JSON',
        headers: { Location: 'Where the page is' },
      },
    ],
    handle(exchange) {
      const base = exchange.linkTo('');
      if (prefersHtml(exchange.request.headers.accept)) {
        // Relative when no base is known: a reverse proxy may serve our root below its own path.
        const page = base === '' ? spec.startPage.slice(1) : base + spec.startPage;
        return exchange.send(302, ['Location', page, ...VARY]);
      }
      // Nearly all requests have the same base.
      if (base !== cachedIndex.base) {
        cachedIndex = { base, body: encodeIndex(spec.version, paths, base) };
      }
      exchange.send(200, ['Content-Type', 'application/json', ...VARY], cachedIndex.body);
    },
  };
}

/** Whether `Accept` names HTML, and gives it a greater weight than JSON. */
export function prefersHtml(accept = ''): boolean {
  const ranges = parseAccept(accept);
  const weightOf = (mediaType: string): number =>
    ranges.find(({ name }) => name === mediaType)?.weight ?? 0;
  return weightOf('text/html') > weightOf('application/json');
}

function encodeIndex(
  version: string, paths: Readonly<Record<string, string>>, base: string,
): string {
  const links = Object.entries(paths).map(([name, path]) => [name, base + path]);
  return JSON.stringify({ name: 'hookshelf', version, links: Object.fromEntries(links) });
}

function healthRoute(): HttpRoute {
  return {
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Whether the process answers',
    access: 'public',
    responses: [jsonResponse('The process answers', STATUS_SCHEMA)],
    handle: (exchange) => exchange.sendJson(200, { status: 'ok' }, NO_STORE),
  };
}

function readinessRoute(spec: OperationsSpec): HttpRoute {
  return {
    method: 'GET',
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Whether the store is open and takes writes',
    access: 'public',
    responses: [
      jsonResponse('The store is open and takes writes', STATUS_SCHEMA), ...problemResponses(503),
    ],
    handle(exchange) {
      const reason = spec.findUnreadyReason();
      if (reason !== null) throw new AppError('unavailable', reason);
      exchange.sendJson(200, { status: 'ready' }, NO_STORE);
    },
  };
}

function metricsRoute(spec: OperationsSpec): HttpRoute {
  // Rendering takes milliseconds: all requests of one turn of the event loop share the result.
  let bytes: Buffer | null = null;
  const dropBytes = (): void => {
    bytes = null;
  };
  return {
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Figures in the Prometheus text format',
    access: 'read',
    responses: [{
      status: 200,
      description: 'Requests, latency, journal, queue, deliveries, memory',
      mediaType: 'text/plain',
      schema: { kind: 'string' },
    }],
    handle(exchange) {
      if (bytes === null) {
        bytes = Buffer.from(spec.metrics.render());
        setImmediate(dropBytes);
      }
      exchange.send(200, ['Content-Type', METRICS_MEDIA_TYPE, ...NO_STORE], bytes);
    },
  };
}

function documentRoute(spec: OperationsSpec): HttpRoute {
  let bytes: Buffer | null = null;
  return {
    method: 'GET',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This interface as an OpenAPI 3.1 document',
    access: 'public',
    responses: [jsonResponse('The document', { kind: 'json', isObject: true, ...UNLIMITED })],
    async handle(exchange) {
      bytes ??= Buffer.from(await spec.createDocument());
      exchange.send(200, ['Content-Type', 'application/json', 'Cache-Control', 'no-cache'], bytes);
    },
  };
}

const VARY = ['Vary', 'Accept'] as const;
const NO_STORE = ['Cache-Control', 'no-store'] as const;
const UNLIMITED = { bytesMax: Number.MAX_SAFE_INTEGER, depthMax: Number.MAX_SAFE_INTEGER } as const;
const TEXT: StringSchema = { kind: 'string' };

const INDEX_SCHEMA: ObjectSchema = {
  kind: 'object',
  members: {
    name: { schema: TEXT, isRequired: true },
    version: { schema: TEXT, isRequired: true },
    links: { schema: { kind: 'json', isObject: true, ...UNLIMITED }, isRequired: true },
  },
};

const STATUS_SCHEMA: ObjectSchema = {
  kind: 'object',
  members: { status: { schema: TEXT, isRequired: true } },
};

function jsonResponse(description: string, schema: ResponseSpec['schema'] & object): ResponseSpec {
  return { status: 200, description, mediaType: 'application/json', schema };
}
