/**
 * The address of a screen, after the `#`: a path and a query, `#/requests/0190…?with=0191…`. Users
 * can share it, and the browser's back and forward follow it.
 */

export type ScreenAddress = {
  /** `['requests', '0190…']` */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
};

/** The values of parameters by their names. A list stands for a parameter that is repeated. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/** The query with which a path was last seen: the filters of a list, when its record is left. */
const lastQueries = new Map<string, URLSearchParams>();

/** Remembers the query of the address, for `recallQuery`. */
export function rememberQuery(): void {
  const { path, query } = parseAddress();
  lastQueries.set(path.join('/'), query);
}

/** The query that a list had when it was left; none if it was not seen yet. */
export function recallQuery(path: readonly string[]): Query {
  const query = lastQueries.get(path.join('/')) ?? new URLSearchParams();
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));
}

export function parseAddress(): ScreenAddress {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return {
    path: path.split('/').filter((segment) => segment !== '').map(decodeSegment),
    query: new URLSearchParams(query),
  };
}

function decodeSegment(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** The link to an address: `href(['requests', id])`. Empty values of `query` are left out. */
export function href(path: readonly string[], query: Query = {}): string {
  return appendQuery(`#/${path.map(encodeURIComponent).join('/')}`, query);
}

/** The path of a record in the API, or of a part of it: `apiPath('requests', id, 'body')`. */
export function apiPath(...steps: readonly string[]): string {
  return `/api/${steps.map(encodeURIComponent).join('/')}`;
}

/** Appends the query to a path, of a screen or of the API. Empty values are left out. */
export function appendQuery(path: string, query: Query): string {
  const text = formatQuery(query);
  return text === '' ? path : `${path}?${text}`;
}

export function formatQuery(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().filter((one) => one !== '').map((one) => [name, one]));
  return new URLSearchParams(pairs).toString();
}

export function goToScreen(path: readonly string[], query: Query = {}): void {
  location.hash = href(path, query);
}

/** Changes the query as a step of its own, which the browser's back takes back. */
export function pushQuery(query: Query): void {
  const address = href(parseAddress().path, query);
  if (address === location.hash) return;
  history.pushState(null, '', address);
  rememberQuery();
}

/** Replaces the query without a history entry, and without opening the screen again. */
export function replaceQuery(query: Query): void {
  history.replaceState(null, '', href(parseAddress().path, query));
  rememberQuery();
}
