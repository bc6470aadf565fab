/**
 * Holds the session with the engine that is in use, and bounds how long each call may take. Time is
 * counted in ticks: a timer of 250 ms that runs only while this process does. A process that was
 * stopped for a while, as by SIGSTOP, must not take the replies that wait for it for late ones.
 *
 * The head is the last entry of the log. The quorum is the machines of the engine that must have an
 * entry before it is durable. A barrier (`EngineSession.barrier`) is a durable write of this node's
 * own, and then the head as it was read before that write was durable: so the quorum has that head.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Engine, EngineSession, LogHead } from '../engines/engine.ts';

export const TICK_MS = 250;
/** 5 s: the longest wait for the reply to a call. */
const REPLY_TICKS = 20;
/**
 * 320 s. A barrier waits at the engine while the quorum is away, even after we have given it up. We
 * wait twice as long for each next barrier, up to this, so that few gather during an outage.
 */
const BARRIER_TICKS_MAX = 1280;
/** Attempts of the first connect: the first may lead to a primary that others have replaced. */
const FIRST_ATTEMPTS = 2;

/** 2 s: the longest pause between two attempts to connect. */
const PAUSE_TICKS_MAX = 8;
/**
 * 1 s. When a session that has lasted so long is lost, the next one is opened without a pause,
 * because meanwhile this node applies nothing that others append, and its readers fall behind.
 */
const STEADY_TICKS = 4;

type PendingCall = { readonly session: EngineSession; ticks: number; readonly ticksMax: number };

export class EngineLink {
  /** The session in use, which has passed a barrier; null: there is none. */
  session: EngineSession | null = null;
  onTick: () => void = () => {};
  /** When the engine last replied in the session in use, on the monotonic clock. */
  heardMs: number;
  readonly #engine: Engine;
  readonly #node: string;
  readonly #clock: Clock;
  readonly #calls = new Set<PendingCall>();
  readonly #dropped = new WeakSet<EngineSession>();
  #barrierTicks = REPLY_TICKS;
  #timer: Timer;
  #abortOpening: () => void = () => {};
  /** A new session, until it has passed its barrier. */
  #unconfirmedSession: EngineSession | null = null;
  #isClosed = false;

  constructor(engine: Engine, node: string, clock: Clock) {
    this.#engine = engine;
    this.#node = node;
    this.#clock = clock;
    this.heardMs = clock.monotonicMs();
    this.#timer = clock.startTimer(TICK_MS, () => this.#tick());
  }

  /** Opens a session. Resolves with the head as of its barrier; null: there is no log. */
  async connect(): Promise<LogHead | null> {
    return this.#confirm(await this.#open(false));
  }

  /** Takes a session into use once it has passed a barrier. */
  async #confirm(session: EngineSession): Promise<LogHead | null> {
    this.#unconfirmedSession = session;
    session.onLost(() => this.drop(session));
    try {
      // A connection that leads nowhere fails here, within 5 s: a barrier may rightly take longer.
      await this.ask(session, session.head());
      const head = await this.barrier(session);
      this.#barrierTicks = REPLY_TICKS;
      this.session = session;
      this.heardMs = this.#clock.monotonicMs();
      return head;
    } catch (error) {
      this.drop(session);
      throw error;
    } finally {
      this.#unconfirmedSession = null;
    }
  }

  /**
   * Opens the first session of a start. If the server confirms nothing in time, the next one is
   * tried. The engine may make what it needs for a log (tables) only if `mayCreate`.
   */
  async connectFirst(mayCreate: boolean): Promise<LogHead | null> {
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.#open(mayCreate);
      try {
        return await this.#confirm(session);
      } catch (error) {
        if (this.#isClosed) throw error;
        if (attempt === FIRST_ATTEMPTS) throw this.#createUnconfirmedError(error);
      }
    }
  }

  #createUnconfirmedError(error: unknown): unknown {
    if (!(error instanceof AppError) || error.code !== 'unknown_outcome') return error;
    return new AppError('unavailable', `${this.#engine.name} lets us in and has confirmed nothing: `
      + `${messageOf(error)}. Are its standbys, or enough of its members, there?`, {}, error);
  }

  /** Rejects at once when the link is closed; a session that opens after that is dropped. */
  #open(mayCreate: boolean): Promise<EngineSession> {
    return new Promise((resolve, reject) => {
      this.#abortOpening = () => reject(new AppError('unavailable', 'the store is closed'));
      this.#engine.connect(mayCreate).then((session) => {
        if (this.#isClosed) this.drop(session);
        else resolve(session);
      }, reject);
    });
  }

  /**
   * See `EngineSession.barrier`. After a failure the next one may take twice as long. `#confirm`
   * sets that back: the caller gives up a session whose barrier failed, and the next session is in
   * use only once a barrier has succeeded there.
   */
  async barrier(session: EngineSession): Promise<LogHead | null> {
    try {
      return await this.ask(session, session.barrier(this.#node), this.#barrierTicks);
    } catch (error) {
      this.#barrierTicks = Math.min(BARRIER_TICKS_MAX, this.#barrierTicks * 2);
      throw error;
    }
  }

  /**
   * Waits for the reply to a call. When it takes too long, `#tick` drops the session; that closes
   * the session, so the reply rejects. Throws `unknown_outcome` if the session was dropped
   * meanwhile, even where a reply came: it may have come from a primary that was replaced, and show
   * entries that the quorum does not have.
   */
  async ask<T>(
    session: EngineSession, reply: Promise<T>, ticksMax = REPLY_TICKS,
  ): Promise<T> {
    const call = { session, ticks: 0, ticksMax };
    this.#calls.add(call);
    try {
      const result = await reply;
      if (this.#dropped.has(session)) throw new AppError('unknown_outcome', 'answered too late');
      if (session === this.session) this.heardMs = this.#clock.monotonicMs();
      return result;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Gives a session up; `connect` opens the next one. */
  drop(session: EngineSession | null): void {
    if (session === null) return;
    if (this.session === session) this.session = null;
    this.#dropped.add(session);
    session.close().catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
    this.#abortOpening();
    this.drop(this.#unconfirmedSession);
    this.drop(this.session);
    for (const { session } of this.#calls) this.drop(session);
  }

  #tick(): void {
    this.#timer = this.#clock.startTimer(TICK_MS, () => this.#tick());
    for (const call of this.#calls) call.ticks += 1;
    for (const { session, ticks, ticksMax } of this.#calls) {
      if (ticks > ticksMax) this.drop(session);
    }
    this.onTick();
  }
}

/** The backoff between attempts to connect, in ticks. */
export class ReconnectBackoff {
  /** Lost sessions and failed attempts since the last progress (`reset`). */
  #losses = 0;
  /** How long the current wait still lasts. */
  #leftTicks = 0;
  /** How long ago the latest session began. */
  #sessionAgeTicks = 0;

  /** Whether the current wait is over. */
  get mayConnect(): boolean {
    return this.#leftTicks === 0;
  }

  /** Whether no session was lost since the last progress (`reset`). */
  get hasNoLosses(): boolean {
    return this.#losses === 0;
  }

  tick(): void {
    this.#leftTicks = Math.max(0, this.#leftTicks - 1);
    this.#sessionAgeTicks += 1;
  }

  /** Called when a session has begun. */
  onConnected(): void {
    this.#sessionAgeTicks = 0;
  }

  /** Called when a session, or an attempt to begin one, has failed. */
  onLost(): void {
    const isSteady = this.hasNoLosses && this.#sessionAgeTicks >= STEADY_TICKS;
    this.#leftTicks = isSteady ? 0 : Math.min(PAUSE_TICKS_MAX, 2 ** this.#losses);
    this.#losses += 1;
  }

  /** The engine has done what it was asked to: `EngineJournal.#onProgress` calls this. */
  reset(): void {
    this.#losses = 0;
  }
}

/** Whether the engine has refused a call: then surely nothing was written. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.code !== 'unknown_outcome';
}
