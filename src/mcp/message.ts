/**
 * Messages of the Model Context Protocol (JSON-RPC 2.0), in the two eras that clients speak: since
 * `2026-07-28` each request names its version, before that `initialize` did. Neither has sessions.
 */
import { isJsonNumber, type JsonNumber } from '../base/exact-number.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import { parseJson } from '../base/json/parse.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';

const NEW_VERSION = '2026-07-28';
export const OLD_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18'];
export const VERSIONS: readonly string[] = [NEW_VERSION, ...OLD_VERSIONS];
export const META = 'io.modelcontextprotocol/';

export type Era = 'new' | 'old';

export type RpcRequest = {
  readonly id: string | JsonNumber; readonly method: string; readonly params: JsonObject;
};

/** An error of the protocol, and its status over HTTP. */
export type RpcError = {
  readonly status: number; readonly code: number; readonly message: string;
  readonly data?: JsonObject;
  /** The id of a message that is no valid request, if the message has one. */
  readonly id?: RpcRequest['id'];
};

export type Transport = {
  /** The value of a header, empty without one; null: it came on stdin. */
  readonly header: ((name: string) => string) | null;
  /** Whether an `initialize` came before, on stdin. */
  readonly isInitialized: boolean;
};

const PARSE_ERROR = -32700;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
const INVALID_REQUEST = -32600;
const HEADER_MISMATCH = -32020;
const UNKNOWN_VERSION = -32022;
/** The member of a request with the name that `Mcp-Name` repeats. */
const NAME_MEMBERS: Readonly<Record<string, string>> = {
  'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri',
};

export function rpcError(code: number, message: string, status = 200): RpcError {
  return { status, code, message };
}

export function isRpcError(value: object): value is RpcError {
  return 'code' in value && 'status' in value;
}

/** null: a notification, which has no answer. */
export function readMessage(body: Buffer): RpcRequest | RpcError | null {
  let message: unknown;
  try {
    message = parseJson(body);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return rpcError(PARSE_ERROR, thrown.message, 400);
  }
  const { jsonrpc, id, method, params = {} } = isJsonObject(message) ? message : {};
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isJsonObject(params)) {
    const error = rpcError(INVALID_REQUEST, 'must be one object with `jsonrpc: "2.0"`, a `method`, '
      + 'and `params` that are an object', 400);
    return isRpcId(id) ? { ...error, id } : error;
  }
  if (id === undefined) return null;
  if (isRpcId(id)) return { id, method, params };
  return rpcError(INVALID_REQUEST, '`id` must be a text or an integer', 400);
}

function isRpcId(id: unknown): id is RpcRequest['id'] {
  return typeof id === 'string' || (isJsonNumber(id) && Number.isInteger(Number(id)));
}

/** The era of a request, or what is wrong with its version or its headers. */
export function findEra(request: RpcRequest, transport: Transport): Era | RpcError {
  const { header, isInitialized } = transport;
  const { method, params: { _meta: meta } } = request;
  const version = isJsonObject(meta) ? meta[`${META}protocolVersion`] : undefined;
  const headerVersion = header?.('mcp-protocol-version') ?? '';
  if (version === NEW_VERSION || headerVersion === NEW_VERSION) {
    return checkNewEra(request, version, header);
  }
  const requested = String(headerVersion || (version ?? ''));
  const isKnown = VERSIONS.includes(requested);
  if (method === 'initialize' || OLD_VERSIONS.includes(headerVersion)) return 'old';
  if (isInitialized && (isKnown || requested === '')) return 'old';
  if (requested === '' || isKnown) {
    return header === null ? rpcError(INVALID_PARAMS, LACKS_VERSION)
      : rpcError(HEADER_MISMATCH, `${LACKS_VERSION} and in the header MCP-Protocol-Version, or `
        + `${OLD_VERSIONS[0]} in that header alone`, 400);
  }
  return {
    ...rpcError(UNKNOWN_VERSION, 'this version is not spoken here', 400),
    data: { supported: VERSIONS, requested },
  };
}

const LACKS_VERSION = `name a version: ${NEW_VERSION} in \`_meta\``;

function checkNewEra(
  { method, params }: RpcRequest, version: JsonValue | undefined, header: Transport['header'],
): Era | RpcError {
  const { _meta: meta } = params;
  const capabilities = isJsonObject(meta) ? meta[`${META}clientCapabilities`] : undefined;
  if (typeof version !== 'string' || !isJsonObject(capabilities)) {
    return rpcError(INVALID_PARAMS, `\`_meta\` must have ${META}protocolVersion, a text, and `
      + `${META}clientCapabilities, an object`, 400);
  }
  if (header === null) return 'new';
  const name = params[NAME_MEMBERS[method] ?? ''];
  const expected = [
    ['MCP-Protocol-Version', version], ['Mcp-Method', method],
    ...NAME_MEMBERS[method] === undefined || name === undefined ? [] : [['Mcp-Name', name]],
  ] as const;
  const wrong = expected.find(([headerName, value]) =>
    decodeHeader(header(String(headerName).toLowerCase())) !== value);
  return wrong === undefined ? 'new'
    : rpcError(HEADER_MISMATCH, `the header ${String(wrong[0])} must be as in the body`, 400);
}

/** A header holds text beyond ASCII as `=?base64?…?=`. */
function decodeHeader(value: string): string {
  const [, base64 = ''] = /^=\?base64\?([A-Za-z0-9+/]+={0,2})\?=$/.exec(value) ?? [];
  return base64 === '' || base64.length % 4 !== 0 ? value
    : Buffer.from(base64, 'base64').toString();
}
