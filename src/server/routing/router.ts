/**
 * Finds the route of a method and path in a trie over path segments. A fixed segment goes before
 * `{name}`, and that before `{name...}`. A path whose fixed form lacks the method is still served
 * by a form with a parameter that has it. The router knows nothing of HTTP beyond method names.
 */
import { assert } from '../../base/assert.ts';

/** The method of an entry that takes every method. */
export const ANY = 'ANY';

type RouterEntry<T> = {
  readonly method: string;
  /** `/fixed/{one}/{oneOrMore...}` */
  readonly path: string;
  readonly value: T;
};

type TrieNode<T> = {
  readonly fixed: Map<string, TrieNode<T>>;
  readonly methods: Map<string, T>;
  parameter: TrieNode<T> | null;
  rest: TrieNode<T> | null;
};

export class Router<T> {
  readonly #root: TrieNode<T> = createNode();

  constructor(entries: readonly RouterEntry<T>[]) {
    for (const entry of entries) this.#add(entry);
  }

  /**
   * The value of the entry for `method` and the normalized `path`; undefined without one. Appends
   * the percent-decoded parameters to `params`. A rest parameter that cannot be decoded is appended
   * as it came.
   */
  find(method: string, path: string, params: string[]): T | undefined {
    return search(this.#root, method, path, 1, params);
  }

  /** The methods of the normalized `path`, sorted; empty when the path is unknown. */
  listMethods(path: string): readonly string[] {
    const methods = new Set<string>();
    collectMethods(this.#root, path, 1, methods);
    return [...methods].sort();
  }

  #add(entry: RouterEntry<T>): void {
    assert(entry.path.startsWith('/'), entry.path);
    assert(!/\.\.\.\}./.test(entry.path), `${entry.path}: nothing may follow {name...}`);
    let node = this.#root;
    for (const segment of entry.path.slice(1).split('/')) {
      assert(/^[\w.~-]*$|^\{/.test(segment), `${entry.path}: fixed text is never percent-encoded`);
      node = getOrCreateChild(node, segment);
    }
    assert(!node.methods.has(entry.method), `${entry.method} ${entry.path} stands twice`);
    node.methods.set(entry.method, entry.value);
  }
}

function createNode<T>(): TrieNode<T> {
  return { fixed: new Map(), methods: new Map(), parameter: null, rest: null };
}

function getOrCreateChild<T>(node: TrieNode<T>, segment: string): TrieNode<T> {
  if (/^\{\w+\.\.\.\}$/.test(segment)) return node.rest ??= createNode();
  if (/^\{\w+\}$/.test(segment)) return node.parameter ??= createNode();
  const child = node.fixed.get(segment) ?? createNode();
  node.fixed.set(segment, child);
  return child;
}

/** `start` is the index of the next segment, past the end when there is none. */
function search<T>(
  node: TrieNode<T>, method: string, path: string, start: number, params: string[],
): T | undefined {
  if (start > path.length) return findByMethod(node, method);
  const end = findSegmentEnd(path, start);
  const segment = path.slice(start, end);
  const fixedNode = node.fixed.get(segment);
  const match = fixedNode === undefined
    ? undefined : search(fixedNode, method, path, end + 1, params);
  if (match !== undefined) return match;
  const value = node.parameter === null || segment === '' ? null : tryDecode(segment);
  if (node.parameter !== null && value !== null) {
    const count = params.push(value);
    const matchBelow = search(node.parameter, method, path, end + 1, params);
    if (matchBelow !== undefined) return matchBelow;
    params.length = count - 1;
  }
  if (node.rest === null) return undefined;
  const rest = path.slice(start);
  const restMatch = findByMethod(node.rest, method);
  if (restMatch !== undefined) params.push(tryDecode(rest) ?? rest);
  return restMatch;
}

function findByMethod<T>(node: TrieNode<T>, method: string): T | undefined {
  return node.methods.get(method) ?? node.methods.get(ANY);
}

function collectMethods<T>(
  node: TrieNode<T>, path: string, start: number, methods: Set<string>,
): void {
  if (start > path.length) {
    for (const method of node.methods.keys()) methods.add(method);
    return;
  }
  const end = findSegmentEnd(path, start);
  const segment = path.slice(start, end);
  const fixedNode = node.fixed.get(segment);
  if (fixedNode !== undefined) collectMethods(fixedNode, path, end + 1, methods);
  if (node.parameter !== null && segment !== '' && tryDecode(segment) !== null) {
    collectMethods(node.parameter, path, end + 1, methods);
  }
  if (node.rest !== null) for (const method of node.rest.methods.keys()) methods.add(method);
}

/** Whether the percent-encoding of a path is valid and makes UTF-8. */
export function isDecodable(path: string): boolean {
  return tryDecode(path) !== null;
}

function findSegmentEnd(path: string, start: number): number {
  const slash = path.indexOf('/', start);
  return slash < 0 ? path.length : slash;
}

/** null when the percent-encoding is invalid. An encoded slash does not divide segments. */
function tryDecode(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
