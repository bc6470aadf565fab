/**
 * From method and path to what serves it: a trie over path segments. Knows nothing of HTTP beyond
 * method names. A fixed segment goes before `{name}`, that before `{name...}`; a path whose fixed
 * form lacks the method is still served by a form with a parameter that has it.
 */
import { assert } from '../base/assert.ts';
import { AppError } from '../base/errors.ts';

/** The method of an entry that takes every method. */
export const ANY = 'ANY';

export type RouterEntry<T> = {
  readonly method: string;
  /** `/fixed/{one}/{oneOrMore...}` */
  readonly path: string;
  readonly value: T;
};

type Node<T> = {
  readonly fixed: Map<string, Node<T>>;
  readonly methods: Map<string, T>;
  parameter: Node<T> | null;
  rest: Node<T> | null;
};

export class Router<T> {
  readonly #root: Node<T> = createNode();

  constructor(entries: readonly RouterEntry<T>[]) {
    for (const entry of entries) this.#add(entry);
  }

  /**
   * What serves `method` on `path` (raw, without query), its percent-decoded parameters appended to
   * `params`. Undefined when nothing does; throws `malformed` when that is because the path cannot
   * be decoded. A rest parameter that cannot be decoded is handed over as it came.
   */
  find(method: string, path: string, params: string[]): T | undefined {
    const found = search(this.#root, method, path, 1, params);
    if (found === undefined && decode(path) === null) {
      throw new AppError('malformed', 'the path holds a bad percent-encoding');
    }
    return found;
  }

  /** The methods that `path` is served for, sorted; empty when it is unknown. */
  methodsOf(path: string): readonly string[] {
    const methods = new Set<string>();
    collect(this.#root, path, 1, methods);
    return [...methods].sort();
  }

  #add(entry: RouterEntry<T>): void {
    assert(entry.path.startsWith('/'), entry.path);
    assert(!/\.\.\.\}./.test(entry.path), `${entry.path}: nothing may follow {name...}`);
    let node = this.#root;
    for (const segment of entry.path.slice(1).split('/')) node = childFor(node, segment);
    assert(!node.methods.has(entry.method), `${entry.method} ${entry.path} stands twice`);
    node.methods.set(entry.method, entry.value);
  }
}

function createNode<T>(): Node<T> {
  return { fixed: new Map(), methods: new Map(), parameter: null, rest: null };
}

function childFor<T>(node: Node<T>, segment: string): Node<T> {
  if (/^\{\w+\.\.\.\}$/.test(segment)) return node.rest ??= createNode();
  if (/^\{\w+\}$/.test(segment)) return node.parameter ??= createNode();
  const child = node.fixed.get(segment) ?? createNode();
  node.fixed.set(segment, child);
  return child;
}

/** `start` is the first character of the next segment; past the end when there is none. */
function search<T>(
  node: Node<T>, method: string, path: string, start: number, params: string[],
): T | undefined {
  if (start > path.length) return serving(node, method);
  const end = segmentEnd(path, start);
  const segment = decode(path.slice(start, end));
  if (segment !== null) {
    const fixed = node.fixed.get(segment);
    const found = fixed === undefined ? undefined : search(fixed, method, path, end + 1, params);
    if (found !== undefined) return found;
    if (node.parameter !== null && segment !== '') {
      const count = params.push(segment);
      const foundBelow = search(node.parameter, method, path, end + 1, params);
      if (foundBelow !== undefined) return foundBelow;
      params.length = count - 1;
    }
  }
  if (node.rest === null) return undefined;
  const rest = path.slice(start);
  const found = serving(node.rest, method);
  if (found !== undefined) params.push(decode(rest) ?? rest);
  return found;
}

function serving<T>(node: Node<T>, method: string): T | undefined {
  return node.methods.get(method) ?? node.methods.get(ANY);
}

function collect<T>(node: Node<T>, path: string, start: number, methods: Set<string>): void {
  if (start > path.length) {
    for (const method of node.methods.keys()) methods.add(method);
    return;
  }
  const end = segmentEnd(path, start);
  const segment = decode(path.slice(start, end)) ?? '';
  const fixed = node.fixed.get(segment);
  if (fixed !== undefined) collect(fixed, path, end + 1, methods);
  if (node.parameter !== null && segment !== '') collect(node.parameter, path, end + 1, methods);
  if (node.rest !== null) for (const method of node.rest.methods.keys()) methods.add(method);
}

function segmentEnd(path: string, start: number): number {
  const slash = path.indexOf('/', start);
  return slash < 0 ? path.length : slash;
}

/** null when the percent-encoding is broken. An encoded slash does not divide segments. */
function decode(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
