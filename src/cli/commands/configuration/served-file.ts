/**
 * The file of `serve --apply`: applied before the server listens, and again at each SIGHUP and
 * SIGUSR1. Nobody can be asked here, so a plan that loses something for good takes `--yes`.
 */
import type { RequestListener } from 'node:http';
import { assert } from '../../../base/assert.ts';
import { systemClock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { createMemoryTarget } from '../../../server/local/memory-target.ts';
import { ROTATION, toKeepValues } from '../../../webhooks/configuration/keepable-members.ts';
import { createApiClient } from '../../api-client/api-client.ts';
import type { ApiClient } from '../../api-client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { readConfigurationFile } from './configuration-file.ts';
import { carryOut, checkLosses, fetchPlan, summarizePlan } from './apply-plan.ts';
import type { PrintedPlan } from './apply-plan.ts';
import type { ResolvedDocument } from './references.ts';

/** Nodes that start at once apply the same file: the plan of one is overtaken by the others. */
const ATTEMPTS_MAX = 10;
/** A line of the log need not hold a thousand changes. */
const CHANGES_LOGGED_MAX = 100;

export class ServedFile {
  readonly #context: CommandContext;
  readonly #path: string;
  readonly #keep: readonly string[];
  /** The document that was read before the start; null after it. */
  #documentAtStart: ResolvedDocument | null;
  #client: ApiClient | null = null;
  #isApplied = false;
  #isRequested = false;
  #applying: Promise<void> | null = null;

  /**
   * Reads the file as the user who started the server, like a certificate; later, when the server
   * may be another user, it is read as that one. Throws as reading it does.
   */
  constructor(context: CommandContext) {
    this.#context = context;
    this.#path = context.args.get('apply');
    this.#keep = toKeepValues(context.args.all('keep'));
    this.#documentAtStart = this.#read();
  }

  /** Throws what keeps it from being applied: the start fails. */
  async applyAtStart(requestListener: RequestListener, logger: Logger): Promise<void> {
    this.#client = createApiClient(createMemoryTarget(requestListener), {
      clock: systemClock, hasServer: false,
    });
    assert(this.#documentAtStart !== null);
    await this.#apply(this.#documentAtStart, logger);
    this.#documentAtStart = null;
    this.#isApplied = true;
    if (this.#isRequested) this.applyAgain(logger);
  }

  /** Applies the file as it is now. One that cannot be applied changes nothing, and is logged. */
  applyAgain(logger: Logger): void {
    this.#isRequested = true;
    if (!this.#isApplied) return;
    this.#applying ??= this.#applyWhileRequested(logger).finally(() => {
      this.#applying = null;
    });
  }

  /** Waits for what is being applied; nothing more is. */
  async close(): Promise<void> {
    this.#isApplied = false;
    this.#isRequested = false;
    await this.#applying;
  }

  /** A signal that comes while the file is applied has it applied once more: it may be newer. */
  async #applyWhileRequested(logger: Logger): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false;
      try {
        await this.#apply(this.#read(), logger);
      } catch (thrown) {
        // Without its cause: an error of the engine quotes the text, which may hold a secret.
        const problem = thrown instanceof AppError && thrown.code !== 'internal'
          ? { problem: thrown.message } : { error: thrown };
        logger.error('the configuration file was not applied again', {
          file: this.#path, ...problem,
        });
      }
    }
  }

  #read(): ResolvedDocument {
    const { identity, io } = this.#context;
    return readConfigurationFile(this.#path, {
      identity, environment: io.environment, isRegular: true, keep: this.#keep,
    });
  }

  async #apply(document: ResolvedDocument, logger: Logger): Promise<void> {
    const { args } = this.#context;
    assert(this.#client !== null);
    // A rotation by the holder of a token must not keep all others from being served.
    const keepsUnasked = !args.has('yes') && !this.#keep.some((value) =>
      value === 'secret' || value === ROTATION);
    const request = {
      path: this.#path, ...document, set: args.find('set'), prune: args.has('prune'),
      noOverlap: args.has('no-overlap'),
      keep: keepsUnasked ? [...this.#keep, ROTATION] : this.#keep,
    };
    for (let attempt = 1; ; attempt += 1) {
      const plan = await fetchPlan(this.#client, request);
      if (!args.has('yes')) checkLosses(plan);
      try {
        const donePlan = plan.changes.length === 0 ? plan
          : await carryOut(this.#client, request, plan);
        logPlan(donePlan, this.#path, logger, keepsUnasked ? 'warning' : 'info');
        return;
      } catch (thrown) {
        const isOvertaken = thrown instanceof AppError && thrown.code === 'precondition_failed';
        if (!isOvertaken || attempt === ATTEMPTS_MAX) throw thrown;
      }
    }
  }
}

/** `keptLevel` is the level of a line that tells what webhooks keep. */
function logPlan(
  plan: PrintedPlan, file: string, logger: Logger, keptLevel: 'info' | 'warning',
): void {
  const changes = summarizePlan(plan);
  const { unchanged, unlisted, kept } = plan.body;
  if (kept !== undefined) {
    logger[keptLevel]('webhooks keep what the configuration file would undo', { file, kept });
  }
  for (const line of [...plan.hints, ...plan.off]) logger.warning(line, { file });
  const stays = { unchanged, ...unlisted === undefined ? {} : { unlisted } };
  if (changes.length === 0) {
    logger.info('the configuration is as the file says', { file, ...stays });
    return;
  }
  const leftOut = Math.max(0, changes.length - CHANGES_LOGGED_MAX);
  logger.info('the configuration was made what the file says', {
    file, changes: changes.slice(0, CHANGES_LOGGED_MAX), ...leftOut === 0 ? {} : { leftOut },
    ...stays,
  });
}
