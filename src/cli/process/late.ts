/**
 * Modules that are loaded when they are needed, and kept: whom we run as by then may not be allowed
 * to read the program, not even to find out that a module is loaded already.
 */

/** What `load` gives, loaded at the first call. */
export function late<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | null = null;
  return () => loading ??= load();
}
