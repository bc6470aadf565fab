/**
 * Loads a module when it is first needed, and keeps it. A second `import()` would not do: Node
 * looks at the file again, and by then we may run as a user who may not read the program.
 */

/** Calls `load` at the first call; later calls get the same promise. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | null = null;
  return () => loading ??= load();
}
