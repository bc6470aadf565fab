/**
 * Has the engine notify this node when others append. Not while this node appends all the time: it
 * is given what it missed with each of its own appends, and notifications cost three busy nodes and
 * PostgreSQL 4 % of a request.
 */
import type { EngineSession } from '../../engines/engine.ts';

export class AppendWatch {
  readonly #wake: () => void;
  #session: EngineSession | null = null;
  #end: (() => void) | null = null;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  update(session: EngineSession | null, isNeeded: boolean): void {
    // What an earlier session was asked for has ended with it.
    if (session !== this.#session) this.#end = null;
    this.#session = session;
    if (!isNeeded) {
      this.#end?.();
      this.#end = null;
    } else if (this.#end === null && session !== null) {
      this.#end = session.watch(this.#wake);
      this.#wake();
    }
  }
}
