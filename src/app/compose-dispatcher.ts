/** Puts the routes of every room, and those about the service itself, behind one dispatcher. */
import { createGuard } from '../access/guard.ts';
import type { TokenVerifier } from '../access/token-verifier.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { MaybePromise } from '../base/when-done.ts';
import { lazyImport } from '../base/lazy-import.ts';
import type { Logger } from '../base/log.ts';
import type { MemoryBudget } from '../base/memory-budget.ts';
import type { RateLimitedLog } from '../base/rate-limited-log.ts';
import type { InFlightCounter } from '../base/in-flight-counter.ts';
import { VERSION } from '../base/version.ts';
import { CHAPTERS } from '../manual/chapters.ts';
import { getChapter, readChapter } from '../manual/read-chapter.ts';
import { searchManual } from '../manual/search-manual.ts';
import { chapterRoute, docsRoute } from '../server/documents/docs-routes.ts';
import { iconRoute } from '../server/documents/icon-route.ts';
import type { OpenApiDocument } from '../server/documents/openapi.ts';
import type { Metrics } from '../server/metrics/metrics.ts';
import { operationsRoutes } from '../server/operations-routes.ts';
import type { HttpRoute } from '../server/http-route.ts';
import { Dispatcher, type ReadConsistency } from '../server/routing/dispatcher.ts';
import type { Settings } from '../settings/load-settings.ts';

const loadOpenApi = lazyImport(() => import('../server/documents/openapi.ts'));

type DispatcherDeps = {
  /** Why this process cannot serve; null when it can. */
  readonly unreadiness: () => string | null;
  /** null: no other process shares the store. */
  readonly readConsistency: ReadConsistency | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly inFlight: InFlightCounter;
  readonly settings: Settings;
  readonly memoryBudget: MemoryBudget;
  /** Work that must end before any request from outside is served; never rejects. */
  readonly prepare?: () => Promise<void>;
};

export function composeDispatcher(
  deps: DispatcherDeps, tokens: TokenVerifier, domainRoutes: readonly HttpRoute[],
  rejectionLog: RateLimitedLog,
): Dispatcher {
  const { clock, logger, metrics, inFlight, unreadiness, readConsistency, settings } = deps;
  const { server, log } = settings;
  const operations = operationsRoutes({
    version: VERSION,
    metrics,
    findUnreadyReason: unreadiness,
    createDocument: async () => JSON.stringify(await document()),
    links: {
      books: '/api/books', documentation: '/docs', ...server.console ? { console: '/console' } : {},
    },
    startPage: server.console ? '/console' : '/docs',
  });
  const manual = {
    chapters: CHAPTERS, get: getChapter, read: readChapter, search: searchManual,
  };
  const docs = docsRoute(() => document(), manual);
  const routes = [...domainRoutes, ...operations, docs, chapterRoute(manual), iconRoute()];
  const document = (): MaybePromise<OpenApiDocument> => loadOpenApi(
    ({ createDocument }) => createDocument({
      routes: readConsistency === null ? routes
        : routes.map((route) => readConsistency.describeRoute(route)),
      version: VERSION, baseUri: server.baseUri,
    }));
  return new Dispatcher({
    // The OpenAPI document has each webhook route once.
    routes: [...routes, ...repeatWebhookRoutes(routes, server.webhookPath)],
    clock, logger, metrics, inFlight, readConsistency,
    guard: createGuard({
      tokens,
      corsOrigins: server.corsOrigins,
      allowedHosts: server.allowedHosts,
      baseUri: server.baseUri,
      rejectionLog,
    }),
    bodyBytesMax: server.maxBodyBytes,
    memoryBudget: deps.memoryBudget,
    bodyStallMs: server.requestTimeout * 1000,
    accessLog: log.access,
    trustProxy: server.trustProxy,
    baseUri: server.baseUri,
    ...deps.prepare === undefined ? {} : { prepare: deps.prepare },
  });
}

/**
 * The routes of the incoming webhooks once more, at their second path (`server.webhookPath`).
 * Throws `usage` where the path begins as one of ours: a later version may have routes below that.
 */
function repeatWebhookRoutes(
  routes: readonly HttpRoute[], webhookPath: string | null,
): readonly HttpRoute[] {
  if (webhookPath === null) return [];
  const webhookRoutes = routes.filter((route) => route.isIncomingWebhook === true);
  const first = firstSegment(webhookPath);
  if (routes.some(({ path, isIncomingWebhook }) =>
    isIncomingWebhook !== true && firstSegment(path) === first)) {
    throw new AppError('usage', `server.webhookPath must not begin with /${first}, as paths of `
      + 'hookshelf itself do: choose another, such as /hooks');
  }
  return webhookRoutes.map((route) =>
    ({ ...route, path: route.path.replace('/webhook/in', webhookPath) }));
}

function firstSegment(path: string): string | undefined {
  return path.split('/')[1];
}
