/**
 * Modules that are loaded when they are needed, and kept. A second `import` would not do: Node
 * looks at the file again, and by then we may run as a user who may not read the program.
 */

/** What `load` gives, loaded at the first call. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | null = null;
  return () => loading ??= load();
}
