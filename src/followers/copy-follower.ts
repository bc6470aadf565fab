/**
 * Keeps a copy (store/copy/copy.ts) level with a server: it asks for the log from where the copy
 * ends, writes what comes, and tells the server what is on its disk. What may fail:
 *
 * - the connection, or the server: it asks again, every second, from what is on the disk;
 * - the log does not go back so far (410), or the copy is empty: it begins anew with a backup;
 * - the server has another history, as after a restore (412): the same, and the old state is kept;
 * - the disk refuses something: it asks again later, once the copy could be read from the disk;
 * - anything else, as a token that is not good or a copy that is damaged, is thrown.
 */
import { sleep } from '../base/clock.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { AppError, isTemporary } from '../base/errors.ts';
import type { ErrorCode } from '../base/errors.ts';
import { connectionLostError } from '../server/local/api-call.ts';
import type { ApiCall } from '../server/local/api-call.ts';
import type { Copy } from '../store/copy/copy.ts';
import { decodeTransaction, hasChecksum, parseLine } from '../store/journal/journal-line.ts';
import type { DecodedCollections, JournalLine } from '../store/journal/journal-line.ts';
import type { LoggedTransaction } from '../store/store-port.ts';
import { FOLLOW_BACKUP_PATH, FOLLOW_LOG_PATH, FOLLOW_PROGRESS_PATH } from './follow-routes.ts';

type FollowResponse = AsyncIterable<string | Uint8Array> & { destroy(error?: Error): unknown };

/** Calls to the server, which throw the errors that it answers. */
interface FollowClient {
  request(call: ApiCall): Promise<unknown>;
  stream(call: ApiCall): Promise<FollowResponse>;
}

type CopyFollowerDeps = {
  readonly client: FollowClient;
  readonly copy: Copy;
  readonly clock: Clock;
  /** The name by which the server lists the follower. */
  readonly name: string;
  /** Tells people what happens. */
  readonly note: (text: string) => void;
};

const RETRY_MS = 1000;
/** The wait after an error that lasts longer, such as a full disk. */
const LONG_RETRY_MS = 10_000;
/** Three heartbeats of the server (followed-log.ts): the connection is lost, and nobody says so. */
const SILENCE_MS_MAX = 15_000;
const PROGRESS_MS = 1000;
const PROGRESS_MS_MAX = 10_000;
/** The limit of new beginnings in one try to become level. */
const BEGINNINGS_MAX = 3;
const LINE_FEED = 0x0a;
/** Errors of a server that failed once: they may pass, as an unavailable disk or server may. */
const PASSING_CODES: readonly ErrorCode[] = ['internal', 'timeout', 'gone'];

export class CopyFollower {
  readonly #deps: CopyFollowerDeps;
  /** The problem that was told last; null while there is none. */
  #notedProblem: string | null = null;

  constructor(deps: CopyFollowerDeps) {
    this.#deps = deps;
  }

  /** Follows without end. Throws what asking again does not mend. */
  async follow(): Promise<never> {
    const { clock, copy } = this.#deps;
    for (;;) {
      try {
        await copy.recover();
        await this.#followLog(false);
        this.#noteProblem('the server has ended the connection');
        await sleep(clock, RETRY_MS);
      } catch (thrown) {
        if (!mayPass(thrown)) throw thrown;
        this.#noteProblem(thrown.message);
        await sleep(clock, thrown.code === 'unavailable' ? RETRY_MS : LONG_RETRY_MS);
      }
    }
  }

  /** Resolves once the copy has all that was committed when it was asked; throws where it fails. */
  async becomeLevel(): Promise<void> {
    if (await this.#followLog(true)) return;
    throw new AppError('unavailable', 'the server has ended the connection before the copy was '
      + 'level');
  }

  /** Resolves with true once it is level, where that is asked for; with false when it ends. */
  async #followLog(endsWhenLevel: boolean): Promise<boolean> {
    const response = await this.#openLog();
    const progress = new FollowProgress(this.#deps, (error) => void response.destroy(error));
    try {
      for await (const lines of readLines(response, this.#deps)) {
        const isLevel = await this.#take(lines);
        if (!isLevel) continue;
        this.#noteLevel();
        if (!endsWhenLevel) continue;
        await progress.tell();
        return true;
      }
      return false;
    } finally {
      progress.end();
      response.destroy();
    }
  }

  /** Asks for the log; begins anew where it does not continue the copy. */
  async #openLog(): Promise<FollowResponse> {
    const { client, copy, name } = this.#deps;
    for (let beginnings = 0; ; beginnings += 1) {
      const { position } = copy;
      if (position === null) {
        await this.#beginAnew('the copy begins with a backup', false);
        continue;
      }
      const query = new URLSearchParams({
        after: String(position.sequence), epoch: position.epoch, copy: copy.id, name,
      });
      try {
        return await client.stream({ method: 'GET', path: `${FOLLOW_LOG_PATH}?${query}` });
      } catch (thrown) {
        const code = thrown instanceof AppError ? thrown.code : null;
        const isOtherHistory = code === 'precondition_failed';
        if (isOtherHistory && beginnings > 0) throw createTwoServersError(thrown);
        if ((code !== 'gone' && !isOtherHistory) || beginnings >= BEGINNINGS_MAX) {
          throw explainMissingRoute(thrown);
        }
        await this.#beginAnew(isOtherHistory
          ? 'the server has another history than the copy, as after a restore: the copy begins anew'
          : 'the log of the server does not go back so far any more: the copy begins anew',
        isOtherHistory);
      }
    }
  }

  async #beginAnew(reason: string, keepsOldState: boolean): Promise<void> {
    const { client, copy, note } = this.#deps;
    const response = await client.stream({
      method: 'GET', path: FOLLOW_BACKUP_PATH, isForAttachment: true,
    }).catch((thrown: unknown) => {
      throw explainMissingRoute(thrown);
    });
    note(reason);
    try {
      const before = await copy.replace(readChunks(response), keepsOldState);
      if (before !== null) note(`what the copy was before is in ${before}`);
    } finally {
      response.destroy();
    }
  }

  /** Writes the transactions of some lines. Returns whether the copy is level with the server. */
  async #take(lines: readonly (LoggedTransaction | JournalLine)[]): Promise<boolean> {
    const { copy } = this.#deps;
    const transactions = lines.filter((line) => 'operations' in line);
    if (transactions.length > 0) await copy.append(transactions);
    const last = lines.at(-1);
    if (last === undefined || 'operations' in last) return false;
    if (last.sequence !== copy.sequence) throw createBrokenError();
    return last.kind === 'mark';
  }

  #noteProblem(problem: string): void {
    if (this.#notedProblem === problem) return;
    this.#notedProblem = problem;
    this.#deps.note(`${problem}; trying again`);
  }

  #noteLevel(): void {
    if (this.#notedProblem === '') return;
    this.#notedProblem = '';
    this.#deps.note(`the copy is level, at transaction ${this.#deps.copy.sequence}`);
  }
}

/** Tells the server what is on the disk: every second while that changes, else every ten. */
class FollowProgress {
  readonly #deps: CopyFollowerDeps;
  readonly #onLost: (error: AppError) => void;
  #timer: Timer;
  #toldSequence = -1;
  #toldMs = -Infinity;
  #isEnded = false;

  /** `onLost` is called where the server does not know the connection any more. */
  constructor(deps: CopyFollowerDeps, onLost: (error: AppError) => void) {
    this.#deps = deps;
    this.#onLost = onLost;
    this.#timer = this.#start();
  }

  async tell(): Promise<void> {
    const { client, copy, clock } = this.#deps;
    const { sequence } = copy;
    const nowMs = clock.monotonicMs();
    if (sequence === this.#toldSequence && nowMs - this.#toldMs < PROGRESS_MS_MAX) return;
    try {
      const body = { copy: copy.id, sequence };
      await client.request({ method: 'POST', path: FOLLOW_PROGRESS_PATH, body });
      this.#toldSequence = sequence;
      this.#toldMs = nowMs;
    } catch (thrown) {
      // The stream breaks where the server is away; only the state that it shows is older then.
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code !== 'not_found') return;
      this.#onLost(new AppError('unavailable', 'the server has lost the connection', {}, thrown));
    }
  }

  /** Idempotent. */
  end(): void {
    this.#isEnded = true;
    this.#timer.cancel();
  }

  #start(): Timer {
    return this.#deps.clock.startTimer(PROGRESS_MS, async () => {
      await this.tell();
      if (!this.#isEnded) this.#timer = this.#start();
    });
  }
}

/** The chunks of a response; throws `unavailable` where the connection breaks. */
async function* readChunks(response: FollowResponse): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) {
      yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    }
  } catch (cause) {
    throw connectionLostError(cause);
  }
}

/**
 * The chunks of a response that a server sends something to every few seconds. The time that our
 * own side takes for a chunk does not count.
 */
async function* readBeatingChunks(
  response: FollowResponse, clock: Clock,
): AsyncGenerator<Buffer> {
  const watch = (): Timer => clock.startTimer(SILENCE_MS_MAX, () => {
    response.destroy(new AppError('unavailable', `nothing has come from the server for ${
      SILENCE_MS_MAX / 1000} s`));
  });
  let timer = watch();
  try {
    for await (const chunk of readChunks(response)) {
      timer.cancel();
      yield chunk;
      timer = watch();
    }
  } finally {
    timer.cancel();
  }
}

/** The whole lines that have come together: transactions, and notes as they are. */
async function* readLines(
  response: FollowResponse, { clock, copy }: Pick<CopyFollowerDeps, 'clock' | 'copy'>,
): AsyncGenerator<readonly (LoggedTransaction | JournalLine)[]> {
  // A line may be large, and come in many chunks.
  let partialLine: Buffer[] = [];
  for await (const chunk of readBeatingChunks(response, clock)) {
    partialLine.push(chunk);
    if (!chunk.includes(LINE_FEED)) continue;
    const bytes = Buffer.concat(partialLine);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    partialLine = [bytes.subarray(end)];
    yield parseLines(bytes.subarray(0, end), copy.collections);
  }
}

function parseLines(
  bytes: Buffer, collections: DecodedCollections,
): readonly (LoggedTransaction | JournalLine)[] {
  const lines: (LoggedTransaction | JournalLine)[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, start);
    const line = parseLine(bytes, start, end);
    if (line === null) {
      throw hasChecksum(bytes, start, end) ? createNewerServerError() : createBrokenError();
    }
    lines.push(line.kind === 'ops' ? decode(bytes, line, end, collections) : line);
    start = end + 1;
  }
  return lines;
}

/** Decodes a line with a right checksum: an undecodable line is as the server has written it. */
function decode(...line: Parameters<typeof decodeTransaction>): LoggedTransaction {
  try {
    return decodeTransaction(...line);
  } catch (thrown) {
    throw createNewerServerError(thrown);
  }
}

/** Another server, or another path of a proxy, has no such route. */
function explainMissingRoute(thrown: unknown): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'not_found') return thrown;
  return new AppError('not_found', `${thrown.message}: is the address right, with its path?`, {},
    thrown);
}

/** Whether asking again may mend it. */
function mayPass(thrown: unknown): thrown is AppError {
  return isTemporary(thrown) || (thrown instanceof AppError && PASSING_CODES.includes(thrown.code));
}

/** The error of two servers in turn: asking again would fill the disk with old states. */
function createTwoServersError(cause: unknown): AppError {
  return new AppError('conflict', 'the server has another history than the backup that it has just '
    + 'sent: are there two servers behind its address? Name one of them, or end the other', {},
  cause);
}

function createNewerServerError(cause?: unknown): AppError {
  return new AppError('misconfigured', 'the server sends what this version does not know: follow '
    + 'it with a hookshelf of its release', {}, cause);
}

function createBrokenError(): AppError {
  return new AppError('unavailable', 'what came from the server was broken on the way');
}
