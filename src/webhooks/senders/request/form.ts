/** Bodies of the type application/x-www-form-urlencoded (WHATWG URL §5). Pure. */

/** More fields than any sender has; so many still take a few milliseconds to read. */
const FIELDS_MAX = 10_000;
const AMPERSAND = 0x26;

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The media type of a `Content-Type`, in lower case and without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The fields in order; null when there are more than 10,000. */
export function parseForm(body: Buffer): URLSearchParams | null {
  let ampersands = 0;
  for (let at = body.indexOf(AMPERSAND); at !== -1; at = body.indexOf(AMPERSAND, at + 1)) {
    ampersands += 1;
    if (ampersands === FIELDS_MAX) return null;
  }
  return new URLSearchParams(body.toString('utf8'));
}

/** The values of each name, names and values in order. Takes time in proportion to the form. */
export function groupFields(form: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of form) {
    const values = groups.get(name);
    if (values === undefined) groups.set(name, [value]);
    else values.push(value);
  }
  return groups;
}
