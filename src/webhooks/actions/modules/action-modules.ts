/**
 * The action modules of this process and the worker that runs them, so that what others wrote
 * cannot stop the service. A worker that ends is replaced, and the modules are loaded again. A
 * module that ends it too often is switched off for a while (`ModuleHealth`), and not loaded before
 * it is asked for again.
 */
import { basename, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../../../base/clock.ts';
import { AppError, isError, messageOf } from '../../../base/errors.ts';
import { toDoubles } from '../../../base/exact-number.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { HttpSender } from '../../members/http-sender.ts';
import type { RelayContext } from '../../relay-context.ts';
import {
  checkNames, createNoActionError, createUnmadeError, reportFailedCheck, type ActionCall,
  type ActionSource, type RegisteredAction,
} from '../action-registry.ts';
import { ActionResult } from '../action.ts';
import { SwitchedOffError } from '../run-action.ts';
import { isInFile, rebuildThrown } from './worker-program.ts';
import {
  ActionWorkerThread, LATE, STOPPED_MESSAGE, type WorkerEnd,
} from './action-worker-thread.ts';
import type { LoadReport } from './worker-messages.ts';

export type ModuleFile = {
  readonly origin: string;
  /** The path to load; call it before each load. Throws `usage` for a file that is not safe. */
  readonly resolvePath: () => string;
};

type ModuleOptions = Pick<RelayContext, 'clock' | 'log'> & {
  readonly callTimeoutMs: number;
  readonly memoryMiBMax: number;
};

type LoadedModule = {
  readonly id: number;
  readonly file: ModuleFile;
  readonly fileName: string;
  readonly health: ModuleHealth;
  /** The file that was loaded last; links are followed. */
  url: string;
};

type Names = Pick<RegisteredAction, 'identifier' | 'label'>;

type ActionWorker = {
  readonly thread: ActionWorkerThread;
  /** By number of module; each load begins after the one before. */
  readonly loads: Map<number, Promise<Names>>;
  readonly loadedIds: Set<number>;
  loadingId: number | null;
};

const LOADING_MS_MAX = 10_000;
const ENDS_AWAITED_MAX = 5;

const LOAD_PROBLEMS: Readonly<Record<WorkerEnd['reason'], string>> = {
  blocked: `did not load within ${LOADING_MS_MAX / 1000} s`,
  memory: 'takes more memory than the setting actions.maxMemory allows',
  exited: 'ended its thread while it was loaded',
  failed: 'threw an error late while it was loaded',
  closed: 'was not loaded, as the program ends',
};

export class ActionModules {
  readonly #options: ModuleOptions;
  readonly #modules: readonly LoadedModule[];
  /** Counts the ends of workers that no module caused as far as known. */
  readonly #unknownModuleHealth: ModuleHealth;
  readonly #lateCalls = new WeakSet<ActionCall>();
  #http: HttpSender | null = null;
  #worker: ActionWorker | null = null;
  /** False until all modules have been loaded once: before that, an end fails the start. */
  #isStarted = false;
  #isClosed = false;

  constructor(files: readonly ModuleFile[], options: ModuleOptions) {
    this.#options = options;
    this.#unknownModuleHealth = new ModuleHealth(options.clock);
    this.#modules = files.map((file, id) => ({
      id, file, fileName: basename(file.origin), health: new ModuleHealth(options.clock), url: '',
    }));
  }

  /** Throws `usage` for the first file that is unsafe, does not load, or exports no action. */
  async load(): Promise<readonly ActionSource[]> {
    const worker = this.#createWorker();
    const sources: ActionSource[] = [];
    for (const module of this.#modules) {
      const names = await this.#load(worker, module);
      sources.push({
        origin: module.file.origin, createAction: (http) => this.#createAction(module, names, http),
      });
    }
    this.#isStarted = true;
    return sources;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.thread.close();
  }

  #createAction(module: LoadedModule, names: Names, http: HttpSender): RegisteredAction {
    this.#http = http;
    const { fileName, health } = module;
    return {
      ...names, isBuiltIn: false, options: {},
      module: {
        fileName,
        get switchedOffUntilMs() {
          return health.untilMs;
        },
        onLate: (call) => this.#giveUp(call),
      },
      validateOptions: (options) => this.#validate(module, options),
      run: (call) => this.#run(module, call),
    };
  }

  #run(module: LoadedModule, call: ActionCall): Promise<unknown> {
    this.#checkSwitchedOn(module);
    const worker = this.#worker;
    return worker !== null && isReady(worker, module)
      ? worker.thread.run(module.id, call) : this.#runWhenReady(module, call);
  }

  async #runWhenReady(module: LoadedModule, call: ActionCall): Promise<unknown> {
    const worker = await this.#prepare(module);
    return worker === null || this.#lateCalls.has(call) ? ActionResult.fail(STOPPED_MESSAGE)
      : worker.thread.run(module.id, call);
  }

  /** The worker is pinged, as the call, for which nobody waits any more, may hold it up. */
  #giveUp(call: ActionCall): void {
    this.#lateCalls.add(call);
    this.#worker?.thread.giveUp(call);
  }

  async #validate(module: LoadedModule, options: JsonObject): Promise<readonly string[]> {
    const { log, callTimeoutMs } = this.#options;
    this.#checkSwitchedOn(module);
    const { thread } = await this.#prepare(module) ?? {};
    const report = await thread?.ask((callId) => ({
      order: 'validate', callId, moduleId: module.id, options: toDoubles(options),
    }), callTimeoutMs) ?? null;
    const labels = { module: module.fileName };
    if (report === LATE) return reportFailedCheck(log, { ...labels, timeoutMs: callTimeoutMs });
    if (report?.report !== 'validated') throw createStoppedError();
    if (report.thrown !== null) {
      return reportFailedCheck(log, { ...labels, error: rebuildThrown(report.thrown) });
    }
    return report.problems ?? reportFailedCheck(log, null);
  }

  #checkSwitchedOn({ health }: LoadedModule): void {
    const remainingMs = Math.max(health.remainingMs, this.#unknownModuleHealth.remainingMs);
    if (remainingMs > 0) throw new SwitchedOffError(remainingMs);
  }

  /** A worker that has loaded the module; null: workers end all the time, or none can load it. */
  async #prepare(module: LoadedModule): Promise<ActionWorker | null> {
    for (let ends = 0; ends < ENDS_AWAITED_MAX && !this.#isClosed; ends += 1) {
      this.#checkSwitchedOn(module);
      const worker = this.#worker ?? this.#replaceWorker();
      if (!worker.thread.isUsable) {
        await worker.thread.ended;
        continue;
      }
      try {
        await this.#load(worker, module);
        if (isReady(worker, module)) return worker;
      } catch {
        // It was logged, and the module is switched off if it was to blame.
      }
    }
    this.#checkSwitchedOn(module);
    return null;
  }

  #getHttp(): HttpSender {
    if (this.#http === null) throw new AppError('unavailable', 'there is no HTTP client yet');
    return this.#http;
  }

  /** Throws `unavailable` without a thread. */
  #createWorker(): ActionWorker {
    let thread: ActionWorkerThread;
    try {
      thread = new ActionWorkerThread({
        ...this.#options, getHttp: () => this.#getHttp(),
        onEnd: (end) => this.#onEnd(worker, end),
      });
    } catch (thrown) {
      const message = `no thread could be started for action modules: ${messageOf(thrown)}`;
      throw new AppError('unavailable', message, {}, thrown);
    }
    const worker: ActionWorker = {
      thread, loads: new Map(), loadedIds: new Set(), loadingId: null,
    };
    this.#worker = worker;
    return worker;
  }

  #replaceWorker(): ActionWorker {
    const worker = this.#createWorker();
    for (const module of this.#modules) {
      if (module.health.remainingMs > 0) continue;
      this.#load(worker, module).catch(() => {
        // It was logged.
      });
    }
    return worker;
  }

  /** Rejects with `usage` for a module that is not safe, does not load, or exports no action. */
  #load(worker: ActionWorker, module: LoadedModule): Promise<Names> {
    const { loads } = worker;
    const earlierLoad = loads.get(module.id);
    if (earlierLoad !== undefined) return earlierLoad;
    const previousLoad = [...loads.values()].at(-1)?.catch(() => null);
    const load = this.#loadAfter(previousLoad ?? Promise.resolve(null), worker, module);
    loads.set(module.id, load);
    return load;
  }

  async #loadAfter(
    previousLoad: Promise<unknown>, worker: ActionWorker, module: LoadedModule,
  ): Promise<Names> {
    await previousLoad;
    const { log } = this.#options;
    const { thread, loads, loadedIds } = worker;
    worker.loadingId = module.id;
    try {
      module.url = pathToFileURL(module.file.resolvePath()).href;
      const report = await thread.ask((callId) =>
        ({ order: 'load', callId, moduleId: module.id, url: module.url }), LOADING_MS_MAX);
      if (report === LATE) await thread.endWithStack('blocked');
      if (report === LATE || report?.report !== 'loaded') throw createLoadError(module, thread.end);
      const names = checkLoaded(module, report);
      loadedIds.add(module.id);
      return names;
    } catch (thrown) {
      loads.delete(module.id);
      // The end of a worker is logged, and laid to a module, by `#onEnd`.
      if (this.#isStarted && thread.isUsable) {
        module.health.switchOff();
        log.error('an action module could not be loaded again, and is switched off for a minute',
          { module: module.fileName, error: thrown });
      }
      throw thrown;
    } finally {
      if (worker.loadingId === module.id) worker.loadingId = null;
    }
  }

  #onEnd(worker: ActionWorker, end: WorkerEnd): void {
    if (this.#worker === worker) this.#worker = null;
    if (!this.#isStarted || this.#isClosed) return;
    const { log } = this.#options;
    const module = this.#findCulprit(worker, end);
    const fields = { module: module?.fileName ?? null, reason: end.reason };
    log.error('the worker of the action modules has ended', {
      ...fields, ...end.error === null ? {} : { error: end.error },
    });
    const health = module?.health ?? this.#unknownModuleHealth;
    // A module that cannot be loaded would keep the others from it, too.
    const wasLoading = worker.loadingId !== null && worker.loadingId === module?.id;
    if (wasLoading) health.switchOff();
    if (wasLoading || health.countEnd()) {
      log.error(module === undefined ? 'action modules are switched off for a minute'
        : 'an action module is switched off for a minute', fields);
    }
    if (this.#unknownModuleHealth.remainingMs > 0) return;
    try {
      this.#replaceWorker();
    } catch (thrown) {
      // The next run tries again.
      log.error('the action modules have no worker', { error: thrown });
    }
  }

  #findCulprit(
    { loadingId }: ActionWorker, { stack, markedModuleId }: WorkerEnd,
  ): LoadedModule | undefined {
    for (const frame of stack) {
      const module = this.#modules.find(({ url }) => url !== '' && isInFile(frame, url));
      if (module !== undefined) return module;
    }
    return this.#modules[markedModuleId ?? loadingId ?? -1];
  }
}

const ENDS_MAX = 3;
const WINDOW_MS = 60_000;
const SWITCHED_OFF_MS = 60_000;

/**
 * Switches an action module off for a minute when it has ended the worker three times within a
 * minute: each end fails the runs of all other modules, too.
 */
export class ModuleHealth {
  readonly #clock: Clock;
  #endTimesMs: readonly number[] = [];
  #untilMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.monotonicMs());
  }

  /** The time of day when it is switched on again; null: it is not off. */
  get untilMs(): number | null {
    const { remainingMs } = this;
    return remainingMs === 0 ? null : Math.ceil(this.#clock.now() + remainingMs);
  }

  /** Returns whether this has switched the module off. */
  countEnd(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#endTimesMs = [...this.#endTimesMs.filter((endMs) => endMs > nowMs - WINDOW_MS), nowMs];
    if (this.#endTimesMs.length < ENDS_MAX) return false;
    this.switchOff();
    return true;
  }

  switchOff(): void {
    this.#endTimesMs = [];
    this.#untilMs = this.#clock.monotonicMs() + SWITCHED_OFF_MS;
  }
}

function isReady({ thread, loadedIds }: ActionWorker, { id }: LoadedModule): boolean {
  return loadedIds.has(id) && thread.isUsable;
}

function checkLoaded({ file: { origin } }: LoadedModule, report: LoadReport): Names {
  const { isActionClass, identifier, label, thrown } = report;
  if (thrown !== null) {
    const createError = isActionClass ? createUnmadeError : createImportError;
    throw createError(origin, rebuildThrown(thrown));
  }
  if (!isActionClass) throw createNoActionError(origin);
  return checkNames(origin, identifier, label);
}

function createImportError(origin: string, thrown: unknown): AppError {
  const hint = isError(thrown) && thrown.name === 'SyntaxError' ? hintAtSyntax(origin) : '';
  return new AppError('usage', `${origin}: ${messageOf(thrown)}${hint}`, {}, thrown);
}

/** Node does not tell a program at which line a module could not be parsed. */
function hintAtSyntax(origin: string): string {
  const extension = extname(origin) !== '.js' ? ''
    : '; an ES module whose folder has no package.json of "type": "module" must end in .mjs';
  return ` (\`node --check ${origin}\` shows the line${extension})`;
}

function createLoadError({ file: { origin } }: LoadedModule, end: WorkerEnd | null): AppError {
  const { reason = 'exited', error = null } = end ?? {};
  const detail = error === null ? '' : `: ${messageOf(error)}`;
  return new AppError('usage', `${origin}: ${LOAD_PROBLEMS[reason]}${detail}`, {}, error);
}

function createStoppedError(): AppError {
  return new AppError('unavailable', STOPPED_MESSAGE, { retryAfterS: 1 });
}
