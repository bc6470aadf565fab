/**
 * The session with the engine that is in use, and the bound on how long each call may take. Time
 * is counted in ticks, in which this process ran: one that was stopped for a while must not take
 * the answers that wait for it for late ones.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Engine, EngineSession, LogHead } from '../engines/engine.ts';

export const TICK_MS = 250;
/** 5 s. */
const REPLY_TICKS = 20;
// A barrier waits while the quorum is away, and each that is given up leaves one waiting at the
// engine: they must not become many while an outage lasts.
const BARRIER_TICKS_MAX = 1280;
/** Of a start: the first may lead to a primary that others have replaced. */
const FIRST_ATTEMPTS = 2;

/** Between two attempts to connect; 2 s. */
const PAUSE_TICKS_MAX = 8;
/** A session that has lasted for 1 s is replaced at once: readers may be 250 ms behind at most. */
const STEADY_TICKS = 4;

type PendingCall = { readonly session: EngineSession; ticks: number; readonly ticksMax: number };

export class EngineLink {
  /** Null until one has passed a barrier. */
  session: EngineSession | null = null;
  onTick: () => void = () => {};
  /** When the engine last answered in a session that is confirmed, on the monotonic clock. */
  heardMs: number;
  readonly #engine: Engine;
  readonly #node: string;
  readonly #clock: Clock;
  readonly #calls = new Set<PendingCall>();
  readonly #dropped = new WeakSet<EngineSession>();
  #barrierTicks = REPLY_TICKS;
  #timer: Timer;
  #abortOpening: () => void = () => {};
  /** That has not passed its barrier. */
  #unconfirmedSession: EngineSession | null = null;
  #isClosed = false;

  constructor(engine: Engine, node: string, clock: Clock) {
    this.#engine = engine;
    this.#node = node;
    this.#clock = clock;
    this.heardMs = clock.monotonicMs();
    this.#timer = clock.startTimer(TICK_MS, () => this.#tick());
  }

  /** Opens a session. Resolves with the head, as it is read behind a barrier. */
  async connect(): Promise<LogHead | null> {
    return this.#confirm(await this.#open(false));
  }

  async #confirm(session: EngineSession): Promise<LogHead | null> {
    this.#unconfirmedSession = session;
    session.onLost(() => this.drop(session));
    try {
      // A way that leads nowhere is told so from a barrier that takes long.
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
   * The same for a start: a machine that confirms nothing in time makes way for the next. What is
   * needed for a log is made only if the caller may.
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

  /** What is opened once nobody wants it any more is given up. */
  #open(mayCreate: boolean): Promise<EngineSession> {
    return new Promise((resolve, reject) => {
      this.#abortOpening = () => reject(new AppError('unavailable', 'the store is closed'));
      this.#engine.connect(mayCreate).then((session) => {
        if (this.#isClosed) this.drop(session);
        else resolve(session);
      }, reject);
    });
  }

  async barrier(session: EngineSession): Promise<LogHead | null> {
    try {
      return await this.ask(session, session.barrier(this.#node), this.#barrierTicks);
    } catch (error) {
      this.#barrierTicks = Math.min(BARRIER_TICKS_MAX, this.#barrierTicks * 2);
      throw error;
    }
  }

  /**
   * The answer to a call; one that takes too long ends with its session. What comes from a session
   * that was given up meanwhile is no answer: it may tell of what the quorum lacks.
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

  /** Gives a session up; the next one is for `connect`. */
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

/** How long to wait before the next attempt to connect, in ticks. */
export class ReconnectBackoff {
  /** Since the engine did last what it was asked to. */
  #losses = 0;
  #leftTicks = 0;
  #sessionTicks = 0;

  get isOver(): boolean {
    return this.#leftTicks === 0;
  }

  /** No session was lost since the engine did last what it was asked to. */
  get isFirst(): boolean {
    return this.#losses === 0;
  }

  tick(): void {
    this.#leftTicks = Math.max(0, this.#leftTicks - 1);
    this.#sessionTicks += 1;
  }

  /** A session has begun. */
  onConnected(): void {
    this.#sessionTicks = 0;
  }

  /** A session, or an attempt to begin one, has failed. */
  onLost(): void {
    const isSteady = this.isFirst && this.#sessionTicks >= STEADY_TICKS;
    this.#leftTicks = isSteady ? 0 : Math.min(PAUSE_TICKS_MAX, 2 ** this.#losses);
    this.#losses += 1;
  }

  /** The engine does what it is asked to. */
  reset(): void {
    this.#losses = 0;
  }
}

/** Whether nothing was written, whatever else is wrong. */
export function isSurelyUnwritten(error: unknown): error is AppError {
  return error instanceof AppError && error.code !== 'unknown_outcome';
}
