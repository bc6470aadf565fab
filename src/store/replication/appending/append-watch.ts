/**
 * Has the engine notify this node when others append, while that is needed. It is not needed while
 * this node appends all the time: each append brings the entries that the node has missed, and
 * notifications cost three busy nodes and PostgreSQL 4 % of a request.
 */
import type { EngineSession } from '../../engines/engine.ts';

export class AppendWatch {
  readonly #wake: () => void;
  #session: EngineSession | null = null;
  /** Ends the watch; null: this session watches nothing. */
  #endWatch: (() => void) | null = null;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** Begins or ends the watch of a session, as needed. Null: there is no session. */
  update(session: EngineSession | null, isNeeded: boolean): void {
    // The watch of an earlier session has ended with that session.
    if (session !== this.#session) this.#endWatch = null;
    this.#session = session;
    if (!isNeeded) {
      this.#endWatch?.();
      this.#endWatch = null;
    } else if (this.#endWatch === null && session !== null) {
      this.#endWatch = session.watch(this.#wake);
      // The engine tells nothing of appends before this.
      this.#wake();
    }
  }
}
