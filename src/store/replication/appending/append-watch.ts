/**
 * Has the engine tell of others' appends, but not while each append of this node's own is told of
 * them anyway: being told costs three busy nodes and PostgreSQL 4 % of what a request does.
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
