/**
 * A tool as `tools/list` has it. Every conversation reads the whole list, so that a schema is one
 * level deep, with a sentence for an argument; `api_describe` tells the rest.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { JsonObject, Schema } from '../base/schema.ts';
import type { ApiCall, ApiResponse } from '../server/local/api-call.ts';
import type { HttpRoute } from '../server/http-route.ts';

type AccessRule = Pick<HttpRoute, 'access' | 'bound'>;

export type Tool = AccessRule & {
  readonly name: string;
  readonly description: string;
  readonly isReadOnly: boolean;
  /** Whether a tool that writes changes or removes records. */
  readonly isDestructive: boolean;
  readonly tellsProgress?: true;
  readonly outputSchema?: JsonObject;
  readonly arguments: ToolArguments;
  readonly run: (context: ToolContext, args: JsonObject) => Promise<ToolAnswer>;
};

/** By name, in the order of the list. */
export type ToolArguments = Readonly<Record<string, ToolArgument>>;

export type ToolArgument = {
  readonly place: 'path' | 'query' | 'body';
  readonly schema: Schema;
  readonly description?: string | undefined;
  readonly isRequired?: boolean | undefined;
  /** Whether the list of tools has no sentence for the argument. */
  readonly isBrief?: boolean;
  /** The scope that the argument needs, where the tool needs less. */
  readonly access?: HttpRoute['access'] | undefined;
};

export interface ToolCaller {
  mayCall(rule: AccessRule): boolean;
  /** Names the right that he lacks: `the scope write`. */
  describeNeed(rule: AccessRule): string;
}

/** The API in the name of a caller. */
export interface CallerApi {
  /** Resolves before the body has arrived. Throws the error of a problem document. */
  open(call: ApiCall): Promise<IncomingMessage>;
  /** Calls an incoming webhook as its sender would; an answer of any status is one. */
  callEndpoint(call: ApiCall): Promise<ApiResponse>;
}

export type ToolContext = {
  readonly api: CallerApi;
  readonly caller: ToolCaller;
  readonly clock: Clock;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
  readonly tellProgress: (progress: number, total: number) => void;
};

export type ToolAnswer = {
  readonly value: JsonObject;
  /** The route that answered; null: others have written nothing of the answer. */
  readonly origin: string | null;
  readonly notes?: readonly string[];
};

const LIST_BYTES_MAX = 23_700;
const WRITING: readonly AccessRule[] = [
  { access: 'emit' }, { access: 'write', bound: { scope: 'resend' } },
];
/** Lengths of the sentences for arguments: the longest with which the list fits is taken. */
const SENTENCE_LENGTHS = [80, 70, 60, 50, 45, 40, 35, 30, 25, 20, 0];

/**
 * Describes the tools of a caller, as `tools/list` has them. It takes 15 ms to find the sentences
 * that fit: each list is made once, and there are as many as kinds of callers.
 */
export function createToolLists(
  tools: readonly Tool[],
): (caller: ToolCaller) => readonly JsonObject[] {
  const lists = new Map<string, readonly JsonObject[]>();
  return (caller) => {
    const callable = tools.filter((tool) => caller.mayCall(tool));
    const names = callable.map(({ name }) => name).join();
    const list = lists.get(names) ?? describeTools(callable, caller);
    lists.set(names, list);
    return list;
  };
}

function describeTools(tools: readonly Tool[], caller: ToolCaller): readonly JsonObject[] {
  const describeAll = (lengthMax: number): readonly JsonObject[] =>
    tools.map((tool) => describeTool(tool, caller, lengthMax));
  const length = SENTENCE_LENGTHS.find((lengthMax) =>
    Buffer.byteLength(JSON.stringify(describeAll(lengthMax))) <= LIST_BYTES_MAX);
  return describeAll(length ?? 0);
}

function describeTool(tool: Tool, caller: ToolCaller, lengthMax: number): JsonObject {
  const { name, description, outputSchema } = tool;
  // A caller who may only read changes nothing by any tool.
  const isReadOnly = tool.isReadOnly || !WRITING.some((rule) => caller.mayCall(rule));
  const isDestructive = tool.isDestructive && !isReadOnly;
  const visible = Object.entries(tool.arguments)
    .filter(([, { access = 'public' }]) => caller.mayCall({ access }));
  const required = visible.filter(([, { isRequired }]) => isRequired === true).map(([key]) => key);
  const properties = visible.map(([key, argument]) =>
    [key, summarise(argument, lengthMax)] as const);
  return {
    name, description,
    inputSchema: {
      type: 'object', properties: Object.fromEntries(properties),
      ...required.length === 0 ? {} : { required },
    },
    ...outputSchema === undefined ? {} : { outputSchema },
    annotations: {
      readOnlyHint: isReadOnly, destructiveHint: isDestructive,
      // A change or a removal comes to the same when it is done again.
      ...isDestructive ? { idempotentHint: true } : {},
    },
  };
}

/** Type and values, or else a sentence. */
function summarise(
  { schema, description = '', isBrief = false }: ToolArgument, lengthMax: number,
): JsonObject {
  const type = describeType(schema);
  const sentence = isBrief || JSON.stringify(type).includes('"enum"') ? ''
    : firstSentence(description, lengthMax);
  return sentence === '' ? type : { ...type, description: sentence };
}

function describeType(schema: Schema): JsonObject {
  if (schema.kind === 'json') return schema.isObject ? { type: 'object' } : {};
  if (schema.kind === 'array') return { type: 'array', items: describeType(schema.items) };
  const values = schema.kind === 'string' ? schema.values : undefined;
  return { type: schema.kind, ...values === undefined ? {} : { enum: values } };
}

/** Cuts the first sentence after the last clause that fits, or within its first clause. */
function firstSentence(text: string, lengthMax: number): string {
  const [sentence = ''] = text.split(/[.;](?:\s|$)/, 1);
  if (sentence.length <= lengthMax || lengthMax === 0) return lengthMax === 0 ? '' : sentence;
  const start = sentence.slice(0, lengthMax + 1);
  const clauseEnd = Math.max(...[', ', ': ', ' ('].map((mark) => start.lastIndexOf(mark)));
  return clauseEnd > 0 ? start.slice(0, clauseEnd)
    : `${start.slice(0, start.lastIndexOf(' '))} …`;
}
