/**
 * The sockets and timers of a connection that is being opened. Giving up ends all of them at any
 * step, so that nothing is left behind.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../base/clock.ts';

export class PendingConnection {
  readonly #clock: Clock;
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<Timer>();
  #isEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Takes charge of `socket`, which is destroyed when this is given up. */
  own(socket: Socket): void {
    // Without an 'error' listener an error of the socket would end the process.
    socket.on('error', doNothing);
    if (this.#isEnded) socket.destroy();
    else this.#sockets.add(socket);
  }

  /** Destroys one of the sockets: it lost a race, or failed. */
  destroy(socket: Socket): void {
    this.#sockets.delete(socket);
    socket.destroy();
  }

  startTimer(delayMs: number, run: () => void): Timer {
    const timer = this.#clock.startTimer(delayMs, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
    return timer;
  }

  stopTimer(timer: Timer | null): void {
    if (timer !== null && this.#timers.delete(timer)) timer.cancel();
  }

  /** Ends the opening and leaves the sockets open: from now on they are the caller's. */
  complete(): void {
    this.#end();
    this.#sockets.clear();
  }

  /** Ends the opening and destroys the sockets. */
  giveUp(): void {
    this.#end();
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #end(): void {
    this.#isEnded = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}

function doNothing(): void {}
