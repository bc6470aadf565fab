/**
 * The address of what is shown, after the `#`: a path and a query, `#/requests/0190…?as=raw`. It
 * can be sent to a colleague; back and forward follow it.
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

/** What links to it: `href('requests', id)`. Members of `query` that are empty are left out. */
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

/** Another query in the place of this one, without a step back to it and without a new screen. */
export function replaceQuery(query: Readonly<Record<string, string>>): void {
  history.replaceState(null, '', href(parseAddress().path, query));
}
