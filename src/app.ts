/**
 * The composition root, and the only place that knows every room: opens the store, wires services
 * and routes, listens, and closes in reverse order. It decides nothing about books or webhooks.
 */
import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { UNLOCK_HINT, isLockedOut } from './access/access-state.ts';
import type { AccessState } from './access/access-state.ts';
import { tokenRoutes } from './access/token-routes.ts';
import { TOKENS, Tokens } from './access/tokens.ts';
import { Listening, examineForwarding } from './app/listening.ts';
import type { PreopenedResources } from './app/listening.ts';
import {
  buildMetrics, certificateMetric, followerMetrics, indexMetrics, storeMetrics,
} from './app/service-metrics.ts';
import { createStreamView, createTopics } from './app/topics.ts';
import { makeDataDirectory } from './app/data-directory.ts';
import type { HookCommands } from './app/hook-commands.ts';
import { checkBackupFolder, openBackups } from './app/backups.ts';
import type { Nodes } from './app/nodes.ts';
import { announceEngine, prepareSharedLog } from './app/shared-log.ts';
import { createMemoryBudget } from './app/room-options.ts';
import { composeDispatcher } from './app/compose-dispatcher.ts';
import { composeMcp } from './app/mcp.ts';
import type { McpDoors } from './app/mcp.ts';
import { composeMonitoring } from './app/monitoring.ts';
import { createBookEvents, composeRelay } from './app/relay.ts';
import { logSights } from './app/webhook-sight.ts';
import { systemClock } from './base/clock.ts';
import type { Clock } from './base/clock.ts';
import type { AppError } from './base/errors.ts';
import { silentLogger } from './base/log.ts';
import type { Logger } from './base/log.ts';
import { findReplacement, lazyImport } from './base/lazy-import.ts';
import type { MemoryBudget } from './base/memory-budget.ts';
import { InFlightCounter } from './base/in-flight-counter.ts';
import { RateLimitedLog } from './base/rate-limited-log.ts';
import { createIdSource } from './base/uuid.ts';
import type { IdSource } from './base/uuid.ts';
import { createBookShelf, createCatalog } from './books/catalog.ts';
import { bookResource } from './books/book-resource.ts';
import type { BookShelf } from './books/catalog.ts';
import { createBookQueries } from './books/book-queries.ts';
import type { BookQueries } from './books/book-queries.ts';
import type { BookList } from './books/list/book-list.ts';
import { createTurns, type Turns } from './base/turns.ts';
import { bookRoutes } from './books/book-routes.ts';
import { identifierRoutes } from './maintenance/identifier-routes.ts';
import { eventCollection, isEvent } from './webhooks/deliveries/event-record.ts';
import { maintenanceRoutes } from './maintenance/maintenance-routes.ts';
import type { ScheduledBackups } from './maintenance/scheduled-backups.ts';
import { LogLines } from './monitoring/log-lines.ts';
import { LEASES, NODES } from './nodes/node-records.ts';
import { createNodeRoutes } from './nodes/node-routes.ts';
import { Statistics } from './monitoring/statistics.ts';
import { followRoutes } from './followers/follow-routes.ts';
import { Followers } from './followers/followers.ts';
import type { ActivatedSocket } from './server/listening/activated-sockets.ts';
import type { Dispatcher } from './server/routing/dispatcher.ts';
import { Metrics } from './server/metrics/metrics.ts';
import type { HttpRoute } from './server/http-route.ts';
import {
  checkCurrentScope, combineVerifiers, createFixedVerifier, hasScope,
} from './access/token-verifier.ts';
import type { TokenVerifier } from './access/token-verifier.ts';
import { IDEMPOTENCY_KEYS, IdempotencyKeys } from './resources/idempotency-keys.ts';
import type { Settings } from './settings/load-settings.ts';
import { Broadcast } from './stream/broadcast.ts';
import { createStreamRoute } from './stream/stream-route.ts';
import { createNodeFiles } from './store/disk/files.ts';
import { holdsData } from './store/disk/inventory.ts';
import { EPOCHS } from './store/epochs.ts';
import { acquireLock, createAbsentLock } from './store/lock/directory-lock.ts';
import type { DirectoryLock } from './store/lock/directory-lock.ts';
import { computeMemoryLimits } from './store/records/memory-limits.ts';
import { findCommitted } from './store/find-record.ts';
import type { CollectionSpec } from './store/store-port.ts';
import { openStore } from './store/store.ts';
import type { OpenedStore, SharedLog } from './store/store.ts';
import type { EventPublisher } from './webhooks/deliveries/event-publisher.ts';
import {
  ACTIONS_FOLDER, loadActionModules,
} from './webhooks/actions/modules/load-action-modules.ts';
import type { ModuleSelection } from './webhooks/actions/modules/load-action-modules.ts';
import { ALL_OWNED, PAUSED } from './webhooks/work/ownership.ts';
import type { WebhooksOptions } from './webhooks/webhooks-options.ts';
import { resolveHooks } from './webhooks/members/directory.ts';
import { webhookCollections } from './webhooks/webhooks.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

type AppOptions = {
  /** The data directory, absolute; made when missing. */
  readonly data: string;
  readonly settings: Settings;
  readonly logger: Logger;
  /** `server` holds the directory until it closes; a `command` may wait for another one. */
  readonly role: 'server' | 'command';
  readonly waitMs?: number;
  /** Why nothing may be written: the directory is read without a lock, also beside a server. */
  readonly refusal?: AppError;
  /** Opens the API on any host, and when only revoked or expired tokens are left. */
  readonly allowAnonymous?: boolean;
  /** How much memory the process may take: bounds caches and what waits for the disk. */
  readonly maxMemoryBytes?: number;
  /** Which custom action modules are loaded; by default a server loads all, a command none. */
  readonly moduleSelection?: ModuleSelection;
  /** Classes of actions, for a program that embeds us. */
  readonly actions?: readonly unknown[];
  readonly clock?: Clock;
  /** By name of the setting, where its value came from. */
  readonly origins?: ReadonlyMap<string, string>;
  /** Gets the lines that are logged. */
  readonly lines?: LogLines;
  /** The port and certificate that root has opened before it became the user who serves. */
  readonly preopenedResources?: PreopenedResources;
  /** Sockets that a supervisor has opened: it listens on these, and on no port. */
  readonly activatedSockets?: readonly ActivatedSocket[];
  /** The engine that keeps the log, and who we are to it. */
  readonly sharedLog?: SharedLog;
  /**
   * Called once all is open and before anything listens, where the host of the settings may be
   * listened on; where it throws, nothing ever does.
   */
  readonly beforeListening?: (requestListener: RequestListener) => Promise<void>;
};

export interface App {
  readonly dispatcher: Dispatcher;
  readonly books: BookShelf;
  readonly bookList: BookList;
  readonly webhooks: Webhooks;
  /** Counts the calls whose end a close waits for. */
  readonly inFlight: InFlightCounter;
  /**
   * Begins the work that nobody has to ask for: deliveries, retries, retention, the part in a
   * cluster. Idempotent; a command has none of it.
   */
  start(): void;
  /**
   * Serves the API on TCP, or on the activated sockets, and starts; `url` is the first of `urls`.
   * When this throws, nothing was started or stored.
   */
  listen(address?: { readonly port?: number; readonly host?: string }):
  Promise<{ url: string; urls: readonly string[] }>;
  /** Reads the TLS certificate and key again, for new connections; false when there are none. */
  renewCertificate(): boolean;
  /** Answers what is in flight, flushes and releases the directory; idempotent. */
  close(): Promise<void>;
}

const loadNodes = lazyImport(() => import('./app/nodes.ts'));
const loadHookCommands = lazyImport(() => import('./app/hook-commands.ts'));

/** The name of the folder in the data directory that holds those of command runs. */
const COMMAND_RUNS_FOLDER = 'command-runs';

// The shares of --max-memory. The heap has eleven sixteenths of it (memory-cap.ts).
const INDEX_SHARE = 1 / 8;
// Pending deliveries are records and no cache: the more are queued, the fewer books stay in memory.
const PENDING_SHARE = 1 / 8;

/** The collections of a data directory that hold what people keep there. */
const CONTENT_COLLECTIONS = [bookResource.collection, ...webhookCollections];
/** The collections of a data directory. */
export const COLLECTIONS: readonly CollectionSpec[] =
  [...CONTENT_COLLECTIONS, TOKENS, IDEMPOTENCY_KEYS, NODES, LEASES, EPOCHS];
const COLLECTION_NAMES = COLLECTIONS.map(({ name }) => name);

/** Throws `conflict` when another process holds the directory, `damaged` when it cannot be read. */
export async function openApp(options: AppOptions): Promise<App> {
  const { settings, data, role } = options;
  // Before anything is made or opened: the backups may not be within the data.
  if (role === 'server') checkBackupFolder(settings.backup, data);
  if (options.refusal === undefined) makeDataDirectory(data);
  const closers = new Closers();
  try {
    return await compose(options, closers);
  } catch (thrown) {
    await closers.closeAll();
    throw thrown;
  }
}

/**
 * Opens the rooms from the store up, each with how it is closed. Rooms that need an address ask
 * `listening` for it when they serve, for it is made last: it needs the dispatcher.
 */
async function compose(options: AppOptions, closers: Closers): Promise<App> {
  const { lock, actions, commands, store, sharedLog } = await openData(options, closers);
  const deps =
    await openShared(options, { store, sharedLog }, () => listening.addresses, closers);
  const access = composeAccess(options, deps);
  const domains =
    composeDomains(deps, { actions, commands, access, baseUri: () => listening.baseUri }, closers);
  const backups = openOwnBackups(deps, domains.webhooks, closers);
  const { dispatcher, mcp } = composeRoutes(options, deps,
    { access, domains, backups, listening: () => listening }, closers);
  const { clock, settings } = deps;
  const { webhooks, books, broadcast, followers } = domains;
  const listening = new Listening({
    ...options, clock, dispatcher, needsToken: () => access.verifier.isRequired,
  });
  deps.metrics.add(certificateMetric(() => listening.certificateExpiresMs));
  const graceMs = settings.server.shutdownTimeout * 1000;
  closers.add(async () => {
    broadcast.close();
    mcp.close();
    followers.close();
    await Promise.all([
      listening.close(), webhooks.close(graceMs), deps.inFlight.waitUntilIdle(graceMs, clock),
    ]);
    await commands.close();
    await webhooks.closeHealth();
  });
  if (options.beforeListening !== undefined) {
    listening.checkHost();
    await options.beforeListening(dispatcher.listeners('process').request);
  }
  const { isServer } = deps;
  if (isServer) lock.announce(await listening.listenOnControl());
  let isStarted = !isServer;
  const start = (): void => {
    if (isStarted) return;
    isStarted = true;
    deps.nodes?.start();
    webhooks.start();
    deps.keys.start();
    backups?.start();
  };
  return {
    dispatcher, books: books.shelf, bookList: books.queries.list, webhooks, inFlight: deps.inFlight,
    start,
    async listen(address = {}) {
      const urls = await listening.listen(address);
      start();
      await dispatcher.prepare();
      return { url: urls[0] ?? '', urls };
    },
    renewCertificate: () => listening.renewCertificate(),
    close: () => closers.closeAll(),
  };
}

/**
 * null: this process makes no backups by itself. A paused server makes none: it may serve a copy,
 * with the settings of the server that was copied, whose backups it would delete.
 */
function openOwnBackups(
  deps: RoomDeps, webhooks: Webhooks, closers: Closers,
): ScheduledBackups | null {
  const { backup: { to, everyHours, keep }, server: { paused } } = deps.settings;
  if (!deps.isServer || paused || to === null || everyHours === 0) return null;
  const isEmpty = (): boolean =>
    CONTENT_COLLECTIONS.every(({ name }) => deps.store.collection(name).size === 0);
  const backups = openBackups({ ...deps, webhooks, isEmpty }, { to, everyHours, keep });
  closers.add(() => backups.close());
  return backups;
}

type OpenedData = {
  readonly lock: DirectoryLock;
  readonly actions: WebhooksOptions['actions'];
  readonly commands: HookCommands;
  readonly store: OpenedStore;
  /** null: the store is files in the data directory. */
  readonly sharedLog: SharedLog | null;
};

/** Locks the data directory and opens its store. */
async function openData(options: AppOptions, closers: Closers): Promise<OpenedData> {
  const {
    data, settings, logger, role, clock = systemClock, maxMemoryBytes = Infinity,
  } = options;
  const files = createNodeFiles();
  const lock = options.refusal === undefined
    ? await acquireLock(data, { kind: role, waitMs: options.waitMs ?? 0, files, clock })
    : createAbsentLock(data, files, options.refusal);
  closers.add(() => lock.release());
  if (role === 'server' && lock.deadServer !== undefined) {
    logger.warning('the server before this one did not stop by itself: it was killed, or the '
      + 'machine went down; what it acknowledged is read from the disk', {
      pid: lock.deadServer.pid,
    });
  }
  // Before the store is opened: a start that a broken module refuses has changed nothing there.
  const actions = await loadActions(options, closers);
  const commands = await openCommands(options);
  closers.add(() => commands.close());
  const sharedLog = options.sharedLog
    ?? await prepareSharedLog({ data, files, settings, logger, clock, role });
  const isNew = role === 'server' && sharedLog === null && !holdsData(files, data);
  const store = await openStore({
    directory: data, files, logger, clock, specs: COLLECTIONS, refusal: lock.refusal,
    journalEnd: lock.journalEnd,
    limits: computeMemoryLimits(maxMemoryBytes),
    // A command throws what stops its writes: a line in the log would say the same again.
    ...role === 'command' ? { failureLogger: silentLogger, mayOnlyRead: true } : {},
    ...sharedLog === null ? {} : { sharedLog },
  });
  lock.journalEnd = store.journalEnd;
  closers.add(async () => {
    await store.close();
    lock.journalEnd = store.journalEnd;
  });
  announceEngine(store.replica, logger);
  if (isNew) {
    logger.info(`made a new data directory at ${data}: if there was data before, see whether this `
      + 'is the place, and its disk is mounted');
  }
  return { lock, actions, commands, store, sharedLog };
}

/** The parts that all rooms of an app share. */
type RoomDeps = {
  readonly store: OpenedStore;
  /** This process as one of several over the store; null: the store is its alone. */
  readonly nodes: Nodes | null;
  readonly keys: IdempotencyKeys;
  readonly clock: Clock;
  readonly turns: Turns;
  readonly logger: Logger;
  readonly settings: Settings;
  readonly makeId: IdSource;
  readonly metrics: Metrics;
  readonly inFlight: InFlightCounter;
  readonly statistics: Statistics;
  readonly lines: LogLines;
  readonly maxMemoryBytes: number;
  readonly memoryBudget: MemoryBudget;
  /** Whether this process serves, and is no command that opened the directory for itself. */
  readonly isServer: boolean;
  /** Why this process cannot serve; null when it can. */
  readonly unreadiness: () => string | null;
};

async function openShared(
  options: AppOptions, { store, sharedLog }: Pick<OpenedData, 'store' | 'sharedLog'>,
  addresses: () => Listening['addresses'], closers: Closers,
): Promise<RoomDeps> {
  const { settings, logger, clock = systemClock, maxMemoryBytes = Infinity } = options;
  const makeId = createIdSource(clock);
  const nodes = sharedLog === null ? null : await loadNodes(({ composeNodes }) =>
    composeNodes({
      store, clock, logger, makeId, node: sharedLog.node, addresses,
      attemptMs: settings.http.timeout * 1000,
    }));
  if (nodes !== null) closers.add(() => nodes.close());
  const keys = new IdempotencyKeys({
    store, clock, log: logger, mayRemove: () => nodes === null || nodes.ownership.isMaintainer(),
  });
  closers.add(() => keys.close());
  const metrics = new Metrics();
  closers.add(() => metrics.close());
  const findStoreProblem = (): string | null => store.failure ?? nodes?.unreadiness() ?? null;
  metrics.add(
    ...buildMetrics(), ...storeMetrics(store, COLLECTION_NAMES, () => findStoreProblem() === null),
    ...nodes?.metrics ?? [],
  );
  return {
    store, nodes, keys, clock, turns: createTurns(clock), logger, settings, makeId, metrics,
    inFlight: new InFlightCounter(), statistics: new Statistics(clock),
    lines: options.lines ?? new LogLines(), maxMemoryBytes, isServer: options.role === 'server',
    memoryBudget: createMemoryBudget(settings, maxMemoryBytes),
    unreadiness: () => findStoreProblem() ?? findReplacement(import.meta.filename),
  };
}

/** Access to the API: by the token of the settings, and by the stored ones. */
type ApiAccess = {
  readonly tokens: Tokens;
  readonly verifier: TokenVerifier;
  readonly state: () => AccessState;
};

function composeAccess(options: AppOptions, deps: RoomDeps): ApiAccess {
  const { logger, settings } = deps;
  const { apiToken } = settings.server;
  const tokens = new Tokens({ ...deps, log: logger });
  const storedVerifier =
    options.allowAnonymous === true ? tokens.createAnonymousVerifier() : tokens;
  const verifier = apiToken === null ? storedVerifier
    : combineVerifiers(createFixedVerifier([apiToken]), storedVerifier);
  const allowsAnonymous = options.allowAnonymous === true;
  const state = (): AccessState => ({
    isClosed: verifier.isRequired, hasUsableToken: apiToken !== null || tokens.hasReadingToken,
    allowsAnonymous,
  });
  const exposure = examineForwarding(settings, verifier.isRequired || allowsAnonymous);
  if (deps.isServer && exposure !== null) {
    logger.warning(exposure.problem, { mend: exposure.advice });
  }
  if (deps.isServer && isLockedOut(state())) {
    logger.warning('nobody has access to the API: it has had a token, and none is good now; '
      + UNLOCK_HINT);
  }
  return { tokens, verifier, state };
}

type Domains = {
  readonly books: ReturnType<typeof composeBooks>;
  readonly webhooks: Webhooks;
  /** Tells readers of both domains' changes. */
  readonly broadcast: Broadcast;
  readonly streamRoute: HttpRoute;
  /** Sends the log to processes that keep a copy of the data. */
  readonly followers: Followers;
};

/** The catalog, the relay of webhooks, and the event stream over both. */
function composeDomains(
  deps: RoomDeps,
  { actions, commands, access, baseUri }: {
    readonly actions: WebhooksOptions['actions']; readonly commands: HookCommands;
    readonly access: ApiAccess; readonly baseUri: () => string;
  },
  closers: Closers,
): Domains {
  const { store, nodes, clock, logger, statistics, settings, maxMemoryBytes } = deps;
  const { webhooks, client } = composeRelay({
    ...deps, actions, baseUri,
    ownership: nodes?.ownership ?? (settings.server.paused ? PAUSED : ALL_OWNED),
    optionalActions: commands.actions,
    onOutcome: statistics.record,
    isTokenInForce: (find, tokenId) => access.tokens.isInForce(find, tokenId),
    listBoundTokens: () => access.tokens.listBound(),
    onRejected: (request) =>
      broadcast.announce(topics.requests, () => topics.describeRequest(request)),
    pendingBytesMax: maxMemoryBytes * PENDING_SHARE,
  });
  closers.add(() => client.close());
  closers.add(logSights(deps, access.tokens));
  const books = composeBooks(deps, webhooks.events, access.verifier);
  deps.metrics.add(...indexMetrics(books.queries.indexes));
  closers.add(() => books.queries.close());
  const topics = createTopics(webhooks);
  const broadcast = new Broadcast({
    topics: topics.all, find: findCommitted(store),
    changes: store.changes, sequence: () => store.statistics.sequence, clock,
    replica: store.replica, logger, tokenCollection: TOKENS.name,
  });
  const streamRoute = createStreamRoute(broadcast, {
    topics: topics.all, clock,
    findWebhookIds: (name) => resolveHooks(webhooks.directories, name),
    mayRead: (exchange) => hasScope(exchange, access.verifier, 'read'),
    findView(exchange) {
      const visibility = webhooks.findVisibility(exchange);
      return visibility && createStreamView(visibility, findCommitted(store));
    },
  });
  const followers = new Followers({ store, files: createNodeFiles(), clock, logger });
  deps.metrics.add(...followerMetrics(() => followers.list()));
  return { books, webhooks, broadcast, streamRoute, followers };
}

/** All routes, behind one dispatcher. */
function composeRoutes(
  options: AppOptions, deps: RoomDeps,
  { access, domains, backups, listening }: {
    readonly access: ApiAccess; readonly domains: Domains;
    readonly backups: ScheduledBackups | null;
    readonly listening: () => Listening;
  },
  closers: Closers,
): { readonly dispatcher: Dispatcher; readonly mcp: McpDoors } {
  const { store, nodes, clock, logger, settings, isServer } = deps;
  const { tokens, verifier, state } = access;
  const { books, webhooks, streamRoute, followers } = domains;
  const rejectionLog = new RateLimitedLog(clock, (leftOut) =>
    logger.warning('more requests were refused', { leftOut }));
  closers.add(() => rejectionLog.close());
  const dispatcherDeps = {
    ...deps, readConsistency: nodes?.readConsistency ?? null,
    ...isServer && settings.server.apiToken !== null
      ? { prepare: () => rememberToken(tokens, logger) } : {},
  };
  const apiRoutes = [...books.routes, ...webhooks.routes];
  const mcp = composeMcp(settings.server.mcp, {
    isServer, clock, listRoutes: () => routes,
    listener: (entrance) => dispatcher.listeners(entrance).request,
  });
  const routes: readonly HttpRoute[] = [
    ...apiRoutes, streamRoute, ...tokenRoutes(tokens, state), ...maintenanceRoutes(store),
    ...followRoutes(followers, (exchange) => hasScope(exchange, verifier, 'follow')),
    ...createNodeRoutes(() => nodes?.list() ?? []),
    ...composeMonitoring({
      ...deps, collections: COLLECTION_NAMES, indexes: books.queries.indexes,
      countImportedRecords: books.countImportedRecords, webhooks, listening,
      readBackups: () => backups?.status ?? null, listFollowers: () => followers.list(),
      startedMs: clock.now(),
      settings: { settings, origins: options.origins ?? new Map() },
    }),
    // Requests of queued forwards are in the same collection, and no list of events has them.
    ...identifierRoutes(store, COLLECTION_NAMES, apiRoutes,
      new Map([[eventCollection.name, isEvent]]), webhooks.findSeenRecords),
    ...mcp.routes,
  ];
  const dispatcher = composeDispatcher(dispatcherDeps, verifier, routes, rejectionLog);
  closers.add(() => dispatcher.close());
  return { dispatcher, mcp };
}

/**
 * Stores that a token is configured, so that the API stays closed without it: before anything is
 * served, and only once the start has succeeded, as a start that is refused must change nothing. A
 * full disk must not keep a server from starting.
 */
async function rememberToken(tokens: Tokens, logger: Logger): Promise<void> {
  try {
    await tokens.recordConfiguredToken();
  } catch (error) {
    logger.warning('the data directory cannot remember that an API token is configured: started '
      + 'without one, it would be open again', { error });
  }
}

/** The custom actions: of modules in the data directory, of the settings, and of a program. */
async function loadActions(
  {
    data, settings, logger, role, moduleSelection = role === 'server' ? 'all' : 'none',
    actions = [], clock,
  }: AppOptions,
  closers: Closers,
): Promise<WebhooksOptions['actions']> {
  const origin = 'the option `actions`';
  const ownActions = actions.map((actionClass) => ({ actionClass, origin }));
  if (moduleSelection === 'none') return ownActions;
  const modules = await loadActionModules({
    folder: join(data, ACTIONS_FOLDER), paths: settings.actions.modules,
    selection: moduleSelection, log: logger,
    callTimeoutMs: settings.incoming.actionTimeout * 1000,
    memoryMiBMax: settings.actions.maxMemory,
    ...clock === undefined ? {} : { clock },
  });
  closers.add(() => modules.close());
  return [...modules.sources, ...ownActions];
}

/** Opens the parts that run hook commands; loads them only where there may be any. */
async function openCommands(
  { data, settings, role, logger, clock = systemClock }: AppOptions,
): Promise<HookCommands> {
  const runsFolder = join(data, COMMAND_RUNS_FOLDER);
  const isServer = role === 'server';
  const mayHaveLeft = isServer && existsSync(runsFolder);
  if (settings.actions.commandDirectory === null && !mayHaveLeft) {
    return { actions: [], close: async () => {} };
  }
  return loadHookCommands(({ openHookCommands }) =>
    openHookCommands({ settings, runsFolder, isServer, clock, logger }));
}

function composeBooks(deps: RoomDeps, events: EventPublisher, verifier: TokenVerifier): {
  readonly shelf: BookShelf; readonly queries: BookQueries; readonly routes: readonly HttpRoute[];
  readonly countImportedRecords: () => number;
} {
  const { store, keys, clock, turns, makeId, settings, maxMemoryBytes, logger } = deps;
  const catalog = createCatalog({
    store, turns, clock, makeId,
    ...settings.catalog.events ? { stageWithChange: createBookEvents(events) } : {},
  });
  const queries = createBookQueries({
    collection: store.collection(bookResource.collection.name), turns, clock,
    bytesMax: maxMemoryBytes * INDEX_SHARE,
    checkExplainer: (exchange) => checkCurrentScope(exchange, verifier, 'admin'),
    onFailure: (indexes, error) => logger.error(
      'indexes of the catalog have failed: books are read until they are made anew',
      { indexes, error }),
  });
  const { list, aggregates } = queries;
  const routes = bookRoutes({ catalog, list, aggregates, keys });
  return {
    shelf: createBookShelf(catalog), queries, routes,
    countImportedRecords: () => catalog.importedCount(),
  };
}

/** Closes what has been opened, in reverse order, once. */
class Closers {
  readonly #closers: (() => void | Promise<void>)[] = [];
  #closing: Promise<void> | null = null;

  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  closeAll(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const close of this.#closers.toReversed()) await close();
  }
}
