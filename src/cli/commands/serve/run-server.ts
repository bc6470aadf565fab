/**
 * The serving process: opens the app, listens, and stays until a signal. SIGTERM and SIGINT stop it
 * gently, a second one at once; SIGHUP and SIGUSR1 read the TLS certificate again, and the file of
 * `--apply`, and have the log tell which settings have changed.
 */
import { existsSync, statSync } from 'node:fs';
import { openApp } from '../../../app.ts';
import type { App } from '../../../app.ts';
import { readCertificate } from '../../../app/certificate.ts';
import {
  checkExposure, checkTokenLength, type PreopenedResources,
} from '../../../app/listening.ts';
import { AppError, messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { BUILD } from '../../../base/version.ts';
import { reservePort } from '../../../server/listening/listener.ts';
import type { ActivatedSocket } from '../../../server/listening/activated-sockets.ts';
import { COMMAND_WAIT_MS } from '../../../store/lock/directory-lock.ts';
import type { LoadedSettings, Settings } from '../../../settings/load-settings.ts';
import { listChangedSettings } from '../../../settings/public-settings.ts';
import type { CommandContext } from '../command-context.ts';
import type { ServedFile } from '../configuration/served-file.ts';
import { EXIT_FAILED, exitNow, exitSoon } from '../../process/exit-code.ts';
import { releaseSignals } from '../../process/early-signals.ts';
import { letHeapGrow } from '../../process/heap-growth.ts';
import { LogLines } from '../../../monitoring/log-lines.ts';
import { createProcessLogger } from '../../terminal/process-logger.ts';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** adnanh/webhook reads its hooks again on both. */
const RELOAD_SIGNALS = ['SIGHUP', 'SIGUSR1'] as const;

type ServerOptions = {
  readonly maxMemoryBytes: number;
  /** Sockets that a supervisor has opened: it listens on these, and on no port. */
  readonly activatedSockets: readonly ActivatedSocket[];
};

export async function runServer(
  context: CommandContext, { maxMemoryBytes, activatedSockets }: ServerOptions,
): Promise<number> {
  // Both before `loadSettings`, which makes us the owner of the data directory.
  const preopenedResources = await preopenResources(context, activatedSockets.length > 0);
  const servedFile = await openServedFile(context);
  const { settings, origins, warnings } = context.loadSettings();
  // These three fail before anything is created or opened in the data directory.
  if (activatedSockets.length === 0) checkTokenLength(settings.server.host, settings);
  const certificate = preopenedResources.certificate ?? readCertificate(settings);
  const port = preopenedResources.port
    ?? await reserveForNewData(context, settings, activatedSockets.length > 0);
  const lines = new LogLines();
  const logger = createProcessLogger(settings, context.io, 'debug', (line) => lines.add(line));
  if (context.identity.needsSwitch) {
    // Tells the parent, which passes signals on to us, that it need not be root any more.
    process.send?.('become');
    logger.info('the data directory is another user\'s, who serves', { uid: process.getuid?.() });
  }
  for (const { problem, fix } of warnings) logger.warning(problem, { mend: fix });
  if (settings.server.paused) {
    logger.warning('nothing is sent or run, and no backup made: deliveries and requests that are '
      + 'kept wait until a start without --paused (server.paused)');
  }
  if (activatedSockets.length > 0) warnOfAddress(origins, logger);
  const stop = listenForStop(logger);
  let runningApp: App | null = null;
  // Set before the app is open: without a listener the signal would end the process.
  for (const reloadSignal of RELOAD_SIGNALS) {
    process.on(reloadSignal, () => {
      renewCertificate(runningApp, logger, servedFile === null ? reloadSignal : null);
      servedFile?.applyAgain(logger);
      tellChangedSettings(context, settings, logger);
    });
  }
  try {
    const app = await openApp({
      data: context.enterDataAsOwner(), settings, logger, role: 'server', waitMs: COMMAND_WAIT_MS,
      allowAnonymous: context.args.has('allow-anonymous'), maxMemoryBytes,
      preopenedResources: { port, certificate }, activatedSockets, origins, lines,
      beforeListening: async (requestListener) =>
        servedFile?.applyAtStart(requestListener, logger),
    });
    try {
      await listenAndAnnounce(context, app, logger);
      if (maxMemoryBytes === Infinity) letHeapGrow();
      runningApp = app;
      const signal = await stop.signal;
      logger.info('stopping', { signal });
    } finally {
      await servedFile?.close();
      await app.close();
    }
  } finally {
    stop.end();
  }
  logger.info('stopped');
  // Timers or sockets that a custom action has left open must not keep the process alive.
  exitSoon();
  return 0;
}

async function listenAndAnnounce(
  { output, enterDataAsOwner }: CommandContext, app: App, logger: Logger,
): Promise<void> {
  const { url, urls } = await app.listen();
  const several = urls.length > 1 ? { urls } : {};
  await output.result({ url, ...several },
    ...urls.map((address) => `hookshelf listening on ${address}`));
  logger.info('listening', {
    url, ...several, data: enterDataAsOwner(), pid: process.pid, version: BUILD,
  });
}

/** The settings may be right for a start without a supervisor, so they are no error. */
function warnOfAddress(origins: LoadedSettings['origins'], logger: Logger): void {
  for (const name of ['server.host', 'server.port']) {
    const origin = origins.get(name);
    if (origin === 'default') continue;
    logger.warning(`${name} (from ${origin}) has no effect: the sockets of the supervisor are what `
      + 'is listened on');
  }
}

/** null without `--apply`. Loads its modules alone then: a server stays in memory. */
async function openServedFile(context: CommandContext): Promise<ServedFile | null> {
  if (!context.args.has('apply')) return null;
  const { ServedFile: File } = await import('../configuration/served-file.ts');
  return new File(context);
}

/** `signal` is null where it may have been sent for another file. */
function renewCertificate(app: App | null, logger: Logger, signal: string | null): void {
  if (app === null) return;
  try {
    const isRead = app.renewCertificate();
    if (isRead) logger.info('the certificate was read again');
    else if (signal !== null) logger.info(`${signal}: there is no certificate to read again`);
  } catch (thrown) {
    // The old certificate stays in use.
    logger.error('the certificate could not be read again',
      thrown instanceof AppError ? { reason: thrown.message } : { error: thrown });
  }
}

/** Settings are read at the start alone, and who sends a signal may expect something else. */
function tellChangedSettings(context: CommandContext, settings: Settings, logger: Logger): void {
  const { args, spec } = context;
  const path = args.find('config');
  // A pipe can be read only once.
  if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
  try {
    const current = context.createContextOf(spec, args).loadSettings();
    const names = listChangedSettings(settings, current.settings);
    if (names.length > 0) {
      logger.warning('settings have changed since the start: a restart has them take effect',
        { settings: names });
    }
  } catch (thrown) {
    // We may be a user who may not read the file: root reads it at the next start.
    if (thrown instanceof AppError && thrown.code === 'conflict') return;
    logger.warning('the settings have changed since the start, and the next start may refuse them',
      { reason: messageOf(thrown) });
  }
}

/** Listens at once, so that a signal that comes while the data is being opened is not lost. */
function listenForStop(logger: Logger): { readonly signal: Promise<string>; end(): void } {
  let resolveRequested: (signal: string) => void = () => {};
  const stopSignal = new Promise<string>((resolve) => {
    resolveRequested = resolve;
  });
  let isStopping = false;
  let isEnded = false;
  const onSignal = (signal: string): void => {
    if (isEnded) return;
    if (isStopping) failNow();
    isStopping = true;
    resolveRequested(signal);
  };
  // An uncaught error is a bug and leaves an unknown state: the process ends, to be restarted.
  const onUncaught = (thrown: unknown): void => {
    logger.error('internal error', { error: thrown });
    failNow();
  };
  // Under a memory cap the parent only passes signals on: without it nobody could stop us.
  const onOrphaned = (): void => onSignal('parent ended');
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  releaseSignals();
  process.on('uncaughtException', onUncaught);
  process.on('disconnect', onOrphaned);
  return {
    signal: stopSignal,
    end() {
      // The signal listeners stay: else a signal now would end the process by signal.
      isEnded = true;
      process.off('uncaughtException', onUncaught);
      process.off('disconnect', onOrphaned);
      if (process.connected) process.disconnect();
    },
  };
}

function failNow(): void {
  process.exitCode = EXIT_FAILED;
  exitNow();
}

// The first port that every user may listen on under Linux.
const FREE_PORT_MIN = 1024;

/**
 * Opens, while we are still root, what the owner of the data directory may not: a low port, and the
 * certificate. Only a flag, a variable or `--config` may name them: the settings in the data
 * directory are the owner's, not root's. Opens nothing where the process keeps its user. Throws as
 * listening does.
 */
async function preopenResources(
  context: CommandContext, hasSockets: boolean,
): Promise<PreopenedResources> {
  if (!context.identity.needsSwitch) return { port: null, certificate: null };
  const loadedSettings = context.loadCallersSettings();
  const { host, port } = loadedSettings.settings.server;
  const isLow = !hasSockets && loadedSettings.origins.get('server.port') !== 'default'
    && port > 0 && port < FREE_PORT_MIN;
  return {
    certificate: openCertificate(context, loadedSettings),
    port: isLow ? await reservePort(host, port) : null,
  };
}

/**
 * Takes the port before a data directory is made, which a start that fails would leave behind
 * empty. A directory that is there may take long to open, and meanwhile nobody is to connect: null.
 * Throws as listening does.
 */
async function reserveForNewData(
  { args, enterDataAsOwner }: CommandContext, settings: Settings, hasSockets: boolean,
): Promise<PreopenedResources['port']> {
  if (hasSockets || existsSync(enterDataAsOwner())) return null;
  const { server: { host, port, apiToken }, store } = settings;
  // An engine may hold tokens.
  const isGuarded = apiToken !== null || args.has('allow-anonymous') || store.url !== null;
  checkExposure(host, settings, isGuarded);
  return reservePort(host, port);
}

function openCertificate(
  { identity }: CommandContext, loadedSettings: LoadedSettings,
): PreopenedResources['certificate'] {
  const { tlsCert, tlsKey } = loadedSettings.settings.server;
  if (tlsCert === null || tlsKey === null) return null;
  // A file that the owner could replace is read later, as the owner.
  if (identity.isOwnersPath(tlsCert) || identity.isOwnersPath(tlsKey)) return null;
  return readCertificate(loadedSettings.settings);
}
