/**
 * The address of a screen, after the `#`: a path and a query, `#/requests/0190…?with=0191…`. Users
 * can share it, and the browser's back and forward follow it.
 */

export type ScreenAddress = {
  /** `['requests', '0190…']` */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
};

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

/** The link to an address: `href(['requests', id])`. Empty members of `query` are left out. */
export function href(
  path: readonly string[], query: Readonly<Record<string, string>> = {},
): string {
  const members = Object.entries(query).filter(([, value]) => value !== '');
  const text = new URLSearchParams(members).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

export function goToScreen(
  path: readonly string[], query: Readonly<Record<string, string>> = {},
): void {
  location.hash = href(path, query);
}

/** Replaces the query without a history entry, and without opening the screen again. */
export function replaceQuery(query: Readonly<Record<string, string>>): void {
  history.replaceState(null, '', href(parseAddress().path, query));
}
