/**
 * The trace that a request belongs to, as its headers say (W3C Trace Context, level 1):
 *
 *     traceparent: 00-<trace id, 32 hex digits>-<parent id, 16 hex digits>-<flags, 2 hex digits>
 *     tracestate: <key>=<value>,<key>=<value>
 *
 * Digits are in lower case, and neither id is all zeros. A version above 00 may have more behind a
 * dash; ff is no version. `tracestate` has 1 to 32 members with keys of their own, and counts only
 * beside a valid `traceparent`. Invalid headers are dropped.
 *
 * Both headers go on unchanged with the deliveries and calls that a request causes: we make no
 * spans. Anybody may write these headers, so they never decide anything.
 */

export type TraceContext = {
  readonly traceparent: string;
  /** null: there is none, or it is not valid. */
  readonly tracestate: string | null;
};

type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

const TRACE_PARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]*)?$/;
const FIRST_VERSION = '00';
const NOTHING_BUT_ZEROS = /^0+$/;
/** Longer headers of later versions are dropped. */
const TRACE_PARENT_LENGTH_MAX = 256;

const STATE_MEMBERS_MAX = 32;
const STATE_KEY = /^[a-z0-9][a-z0-9_*/-]{0,255}$/;
/** A key of a vendor with several tenants. */
const TENANT_KEY = /^[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}$/;
/** Printable characters without `,` and `=`, the last of which is no space. */
const STATE_VALUE = /^[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/** Begins nowhere within white space, so that a long one is read once. */
const SPACE_AT_END = /(?<![ \t])[ \t]+$/;

const HEADER_LENGTHS: readonly number[] = ['traceparent'.length, 'tracestate'.length];

/** Whether a header, in any case, is one of the two. */
export function isTraceHeader(name: string): boolean {
  if (!HEADER_LENGTHS.includes(name.length)) return false;
  const lowerCaseName = name.toLowerCase();
  return lowerCaseName === 'traceparent' || lowerCaseName === 'tracestate';
}

/** The trace of a request, from its headers by name in lower case; null: it has none. */
export function readTraceContext({ traceparent, tracestate }: HeaderValues): TraceContext | null {
  if (typeof traceparent !== 'string' || parseTraceId(traceparent) === null) return null;
  const state = typeof tracestate === 'string' ? tracestate : tracestate?.join(',');
  return { traceparent, tracestate: state !== undefined && isTraceState(state) ? state : null };
}

/** The trace id that log lines have; null: the headers name no valid trace. */
export function readTraceId({ traceparent }: HeaderValues): string | null {
  return typeof traceparent === 'string' ? parseTraceId(traceparent) : null;
}

export function createTraceFields(trace: TraceContext | null): { readonly traceId?: string } {
  const traceId = trace === null ? null : parseTraceId(trace.traceparent);
  return traceId === null ? {} : { traceId };
}

/** `headers`, whose names are in lower case, with the trace, unless they name one themselves. */
export function addTraceHeaders<Value>(
  headers: Readonly<Record<string, Value>>, trace: TraceContext | null,
): Readonly<Record<string, Value | string>> {
  if (trace === null || headers['traceparent'] !== undefined) return headers;
  const { traceparent, tracestate } = trace;
  return tracestate === null ? { ...headers, traceparent }
    : { ...headers, traceparent, tracestate };
}

/** null: it is not valid. */
function parseTraceId(traceparent: string): string | null {
  if (traceparent.length > TRACE_PARENT_LENGTH_MAX) return null;
  const match = TRACE_PARENT.exec(traceparent);
  if (match === null) return null;
  const [, version, traceId = '', parentId = '', more] = match;
  if (version === FIRST_VERSION && more !== undefined) return null;
  return NOTHING_BUT_ZEROS.test(traceId) || NOTHING_BUT_ZEROS.test(parentId) ? null : traceId;
}

function isTraceState(tracestate: string): boolean {
  const keys = new Set<string>();
  let memberCount = 0;
  for (const text of tracestate.split(',')) {
    const member = text.replace(/^[ \t]+/, '').replace(SPACE_AT_END, '');
    // Empty members are allowed, and do not count.
    if (member === '') continue;
    const separator = member.indexOf('=');
    const key = member.slice(0, Math.max(separator, 0));
    const isKey = STATE_KEY.test(key) || TENANT_KEY.test(key);
    if (!isKey || !STATE_VALUE.test(member.slice(separator + 1))) return false;
    keys.add(key);
    memberCount += 1;
  }
  return memberCount > 0 && memberCount <= STATE_MEMBERS_MAX && keys.size === memberCount;
}
