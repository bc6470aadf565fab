/**
 * The relay on a simulated disk, clock and network. What it sends and runs is written down with the
 * moment of the disk's history, so that a test can tell what came before a crash at any moment.
 */
import { sleep } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { HttpRequest } from '../../src/client/http-client.ts';
import { Dispatcher } from '../../src/server/routing/dispatcher.ts';
import {
  callApiAnyStatus, type ApiCall, type ApiResponse, type ApiTarget,
} from '../../src/server/local/api-call.ts';
import { createMemoryTarget } from '../../src/server/local/memory-target.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import type { CollectionSpec } from '../../src/store/store-port.ts';
import { openStore, type OpenedStore } from '../../src/store/store.ts';
import { ActionResult, type ActionContext } from '../../src/webhooks/actions/action.ts';
import type { TargetResponse } from '../../src/webhooks/members/http-sender.ts';
import {
  createWebhooks, webhookCollections, type Webhooks,
} from '../../src/webhooks/webhooks.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { DIRECTORY } from '../support/open-store.ts';
import type { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { createActionClass, createContext, createOptions, type OptionChanges } from './context.ts';

export type Sent = {
  /** The `webhook-id`, which is that of the delivery. */
  readonly id: string;
  readonly host: string;
  readonly body: string;
  readonly atMs: number;
  readonly status: number;
  /** How many operations the disk had seen. */
  readonly index: number;
};

/** A run of the action `scripted` by a route. */
export type RouteRun = {
  readonly request: string; readonly route: string; readonly index: number;
};

export type DiskRelay = {
  readonly store: OpenedStore;
  readonly files: SimulatedFiles;
  readonly clock: ManualClock;
  readonly webhooks: Webhooks;
  readonly sent: readonly Sent[];
  readonly runs: readonly RouteRun[];
  ask(method: ApiCall['method'], path: string, body?: unknown): Promise<ApiResponse>;
  /** Adds an outgoing webhook, and returns its identifier. */
  addHook(host: string, members?: object): Promise<string>;
  /** Moves the clock on until `isDone`, by up to ten minutes. */
  finish(isDone: () => boolean): Promise<void>;
  close(): Promise<void>;
};

export type DiskRelayOptions = Pick<OptionChanges, 'events' | 'outgoing'> & {
  readonly startMs?: number;
  /** What a run of the action `scripted` gives; by default success. */
  readonly act?: (run: Pick<RouteRun, 'request' | 'route'>) => ActionResult;
  /** The status that a target answers. */
  readonly respond?: (sent: Omit<Sent, 'status'>) => number;
  /** How long a target and an action take. */
  readonly latencyMs?: number;
};

const SCHEDULE_S = [5, 5, 5, 5, 5];
const FINISH_S_MAX = 600;

export async function openRelayOn(
  disk: Disk,
  {
    startMs, events, outgoing, latencyMs = 0, respond = () => 200,
    act = () => ActionResult.ok({ n: 1 }),
  }: DiskRelayOptions = {},
): Promise<DiskRelay> {
  const files = new SimulatedFiles(disk);
  const clock = new ManualClock({ startMs: startMs });
  const sent: Sent[] = [];
  const runs: RouteRun[] = [];
  const pause = async (): Promise<void> => {
    if (latencyMs > 0) await sleep(clock, latencyMs);
  };
  const store = await openStore({
    directory: DIRECTORY, files, clock, logger: silentLogger, specs: webhookCollections,
  });
  const webhooks = createWebhooks(createContext({ store, clock }), createOptions({
    actions: [createScripted(runs, files, pause, act)],
    http: {
      async request(request) {
        const attempt = describeAttempt(request, files, clock);
        const status = respond(attempt);
        sent.push({ ...attempt, status });
        await pause();
        return answerOf(status);
      },
    },
    incoming: { retrySchedule: SCHEDULE_S }, events,
    outgoing: { retrySchedule: SCHEDULE_S, ...outgoing },
  }));
  const target = createTarget(webhooks, clock);
  return {
    store, files, clock, webhooks, sent, runs,
    ask: (method, path, body) => callApiAnyStatus(target, { method, path, body }),
    async addHook(host, members = {}) {
      const view = await webhooks.resources.outgoing.add({
        targetUrl: `http://${host}/`, triggerEvent: 'thing.*', secret: 's', ...members,
      });
      return String(JSON.parse(view.bytes.toString()).identifier);
    },
    async finish(isDone) {
      for (let second = 0; second < FINISH_S_MAX && !isDone(); second += 1) {
        await clock.advance(1000);
      }
    },
    async close() {
      await webhooks.close(0);
      await store.close();
    },
  };
}

/** Makes targets of which the first attempt of each third event fails: `n` of its payload. */
export function createFlapping(): NonNullable<DiskRelayOptions['respond']> {
  const seenIds = new Set<string>();
  return ({ id, body }) => {
    const isFirst = !seenIds.has(id);
    seenIds.add(id);
    return isFirst && numberIn({ body }) % 3 === 0 ? 503 : 200;
  };
}

/** Reads the `n` of an event's payload in what was sent. */
export function numberIn({ body }: Pick<Sent, 'body'>): number {
  return Number(JSON.parse(body).n);
}

/** Lists the records of a collection, as text by their ids. */
export function recordsIn(
  store: Pick<OpenedStore, 'collection'>, { name }: Pick<CollectionSpec, 'name'>,
): ReadonlyMap<string, string> {
  const collection = store.collection(name);
  const records = new Map<string, string>();
  const walk = collection.walk();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    records.set(collection.idAt(slot) ?? '', String(collection.bytesAt(slot)));
  }
  return records;
}

function createScripted(
  runs: RouteRun[], { history }: SimulatedFiles, pause: () => Promise<void>,
  act: NonNullable<DiskRelayOptions['act']>,
): unknown {
  return createActionClass('scripted', async (
    _: unknown, { request }: ActionContext, { route }: Readonly<Record<string, unknown>>,
  ) => {
    const run = { request: String(request), route: String(route), index: history.length };
    runs.push(run);
    await pause();
    return act(run);
  });
}

function describeAttempt(
  { url, headers = {}, body }: HttpRequest, { history }: SimulatedFiles, clock: ManualClock,
): Omit<Sent, 'status'> {
  return {
    id: String(Object(headers)['webhook-id'] ?? ''), host: new URL(url).host,
    body: body?.toString() ?? '', atMs: clock.now(), index: history.length,
  };
}

function answerOf(statusCode: number): TargetResponse {
  return { statusCode, body: Buffer.from('said'), headers: {} };
}

function createTarget({ routes }: Webhooks, clock: ManualClock): ApiTarget {
  const dispatcher = new Dispatcher({
    routes, guard: null, clock, logger: silentLogger, metrics: new Metrics(), bodyBytesMax: 1 << 20,
    accessLog: 'off', trustProxy: false,
  });
  return createMemoryTarget(dispatcher.listeners('control').request);
}
