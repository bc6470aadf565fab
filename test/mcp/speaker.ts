/** A program that speaks the Model Context Protocol over HTTP, for tests. */
import assert from 'node:assert/strict';
import { ask, type Reply } from '../e2e/ask.ts';

export const VERSION = '2026-07-28';
export const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
};

export type Answer = {
  readonly status: number;
  readonly result: Result | undefined;
  readonly error: RpcFailure | undefined;
};
export type RpcFailure = {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
};
export type Result = {
  readonly tools: readonly Tool[];
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
} & Readonly<Record<string, unknown>>;
export type Tool = {
  readonly name: string; readonly description: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly required?: readonly string[];
  };
  readonly outputSchema?: unknown;
  readonly annotations: Readonly<Record<string, boolean>>;
};

export type Speaker = {
  /** Sends a request of the new era; `headers` go before its own. */
  rpc(method: string, params?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Calls a tool; its result, which may be an error of the tool. */
  call(name: string, args?: object): Promise<Result>;
  /** The object that a tool answers. */
  read(name: string, args?: object): Promise<Readonly<Record<string, unknown>>>;
  /** Sends any text. */
  post(raw: string, headers?: Record<string, string>): Promise<Reply>;
};

export function createSpeaker(url: string, token: string | null = null): Speaker {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  const post: Speaker['post'] = (raw, headers = {}) =>
    ask(`${url}/mcp`, { method: 'POST', raw, headers: { ...authorization, ...headers } });
  const rpc: Speaker['rpc'] = async (method, params = {}, headers = {}) => {
    const { name, uri } = { name: undefined, uri: undefined, ...params };
    const reply = await post(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: META, ...params } }), {
        'mcp-protocol-version': VERSION, 'mcp-method': method,
        ...(name ?? uri) === undefined ? {} : { 'mcp-name': String(name ?? uri) }, ...headers,
      });
    const { result, error } = JSON.parse(reply.text);
    return { status: reply.status, result, error };
  };
  const call: Speaker['call'] = async (name, args = {}) => {
    const { result, error } = await rpc('tools/call', { name, arguments: args });
    assert.ok(result !== undefined, `${name}: ${error?.message}`);
    return result;
  };
  const read: Speaker['read'] = async (name, args) => {
    const { structuredContent, content, isError } = await call(name, args);
    assert.ok(structuredContent !== undefined && isError === undefined,
      `${name}: ${content[0]?.text}`);
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent);
    return structuredContent;
  };
  return { rpc, call, read, post };
}

/** Repeats what a wait waits for, until the wait has ended: nobody knows when it begins. */
export async function repeatUntilEnd<Result>(
  waiting: Promise<Result>, cause: () => Promise<unknown>,
): Promise<Result> {
  let isOver = false;
  const ending = waiting.finally(() => {
    isOver = true;
  });
  while (!isOver) await cause();
  return ending;
}

export const OPEN = { HOOKSHELF_SERVER_MCP: 'true' };

/** The tools of the caller. */
export async function listTools({ rpc }: Speaker): Promise<readonly Tool[]> {
  const { result } = await rpc('tools/list');
  return result?.tools ?? [];
}
