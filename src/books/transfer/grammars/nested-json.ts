/**
 * Records that stand deeper in a JSON file than its values: the members of one object
 * (`{"123": {…}, "124": {…}}`), and the nodes of JSON-LD, which are an array, one object, several
 * values one after another, or what the `@graph` of an object holds.
 *
 * A record is valid when it is JSON (RFC 8259) and an object. Others are told, and reading goes on
 * as `json-splitter.ts` says. No more is held than a record, and as much of a `@graph` before its
 * `@context`.
 */
import { messageOf } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJsonRecord } from '../../../base/json/parse.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { JsonSplitter } from '../json-splitter.ts';
import type { SplitElement } from '../json-splitter.ts';
import { mapSplitter } from '../mapping/format-table.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter } from '../mapping/format-table.ts';
import { RECORD_BYTES_MAX, TOO_LONG } from '../record-splitter.ts';

/** One object, each member a record: its name is the key, the members of its value the fields. */
export function createKeyedObjectSplitter(): FieldSplitter {
  return mapSplitter(new JsonSplitter({ splitsObjects: true }), readElement);
}

function readElement(element: SplitElement): readonly (FieldRecord | BrokenRecord)[] {
  const { line, json } = element;
  if (json === undefined) return [{ line, key: null, problem: element.problem }];
  if (json.length === 0) return [];
  const { name: key, value, problem } =
    element.part === 'member' ? parseMember(json) : { name: null, ...parseText(json) };
  if (problem !== undefined) return [{ line, key, problem }];
  if (!isJsonObject(value)) return [{ line, key, problem: NO_OBJECT }];
  return [{ line, key, type: '', fields: new Map(Object.entries(value)) }];
}

/** A context around nodes, which share it, and the one that is around it. */
export type JsonScope = { readonly outer: JsonScope | null; readonly context: JsonValue };

/** An object of JSON-LD, with the contexts around it. */
export type JsonNode = {
  readonly line: number;
  readonly node: JsonObject;
  readonly scope: JsonScope | null;
};

type NodeOrProblem = JsonNode | BrokenRecord;

/** How much of a `@graph` waits for a `@context` behind it: all is then read in one step. */
const WAITING_BYTES_MAX = RECORD_BYTES_MAX;
/** The bytes of a waiting node besides its text. */
const NODE_BYTES = 256;
/** How deep graphs may stand in each other. */
const GRAPH_DEPTH_MAX = 8;

/** The nodes of JSON-LD. What their names mean by the contexts is left to the caller. */
export class JsonNodeSplitter {
  readonly #splitter = new JsonSplitter({ splitsObjects: true, arrayMember: '@graph' });
  /** The object that is being read. */
  #object = new GraphObject();

  push(chunk: Buffer): readonly NodeOrProblem[] {
    return this.#read(this.#splitter.push(chunk));
  }

  end(): readonly NodeOrProblem[] {
    const nodes = this.#read(this.#splitter.end());
    this.#object.release(nodes);
    return nodes;
  }

  #read(elements: readonly SplitElement[]): NodeOrProblem[] {
    const nodes: NodeOrProblem[] = [];
    for (const element of elements) {
      const { line, json } = element;
      if (json === undefined) {
        nodes.push({ line, key: null, problem: element.problem });
      } else if (element.part === 'value') {
        readNode(line, json, null, nodes);
      } else if (element.part === 'objectStart') {
        // A mistake may have ended the object before: what is known of its graph is read.
        this.#object.release(nodes);
        this.#object = new GraphObject();
      } else if (element.part === 'item') {
        this.#object.addNode(line, json, nodes);
      } else if (element.part === 'member') {
        this.#object.addMember(line, json, nodes);
      } else {
        this.#object.end(line, nodes);
      }
    }
    return nodes;
  }
}

/** An object at the top of a file: a node itself, or around the nodes of its `@graph`. */
class GraphObject {
  /** Null after a broken member, or where all are too long, which has been told. */
  #members: [name: string, value: JsonValue][] | null = [];
  #membersBytes = 0;
  /** Null until its context has come. */
  #scope: JsonScope | null = null;
  #hasGraph = false;
  /** The nodes of the graph that wait for the context; null: none does any more. */
  #waiting: { readonly line: number; readonly json: Buffer }[] | null = [];
  #waitingBytes = 0;

  addNode(line: number, json: Buffer, nodes: NodeOrProblem[]): void {
    this.#hasGraph = true;
    if (this.#waiting === null) {
      readNode(line, json, this.#scope, nodes);
      return;
    }
    this.#waiting.push({ line, json });
    this.#waitingBytes += json.length + NODE_BYTES;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.release(nodes);
  }

  addMember(line: number, json: Buffer, nodes: NodeOrProblem[]): void {
    const { name, value, problem } = parseMember(json);
    this.#membersBytes += json.length;
    if (problem !== undefined) {
      this.#break(line, name === null ? problem : `in \`${name}\`: ${problem}`, nodes);
      return;
    }
    if (name === '@context') this.#setContext(line, value, nodes);
    if (this.#membersBytes > RECORD_BYTES_MAX) this.#break(line, TOO_LONG, nodes);
    else this.#members?.push([name, value]);
  }

  end(line: number, nodes: NodeOrProblem[]): void {
    this.release(nodes);
    if (this.#members === null) return;
    const names = this.#members.map(([name]) => name);
    const isFrame = this.#hasGraph ? names.every((name) => FRAME_MEMBERS.has(name))
      : names.length > 0 && names.every((name) => name === '@context');
    if (!isFrame) expandNode({ line, node: Object.fromEntries(this.#members), scope: null }, nodes);
  }

  /** Reads the nodes that wait for a context, by what has come of it. */
  release(nodes: NodeOrProblem[]): void {
    for (const { line, json } of this.#waiting ?? []) readNode(line, json, this.#scope, nodes);
    this.#waiting = null;
  }

  #setContext(line: number, context: JsonValue, nodes: NodeOrProblem[]): void {
    // A name alone says nothing that is not supposed without it.
    if (this.#waiting === null && typeof context !== 'string') {
      nodes.push({ line, key: null, problem: LATE_CONTEXT });
    }
    this.#scope = { outer: null, context };
    this.release(nodes);
  }

  #break(line: number, problem: string, nodes: NodeOrProblem[]): void {
    if (this.#members !== null) nodes.push({ line, key: null, problem });
    this.#members = null;
  }
}

const LATE_CONTEXT = 'this @context stands behind more than 2 MiB of its @graph, which was read '
  + 'without it: write it first';

/** The members of an object that say nothing but what its graph is. */
const FRAME_MEMBERS: ReadonlySet<string> = new Set(['@context', '@id']);

function readNode(
  line: number, json: Buffer, scope: JsonScope | null, nodes: NodeOrProblem[],
): void {
  const { value, problem } = parseText(json);
  if (problem !== undefined) nodes.push({ line, key: null, problem });
  else if (!isJsonObject(value)) nodes.push({ line, key: null, problem: NO_OBJECT });
  else expandNode({ line, node: value, scope }, nodes);
}

/** Adds the node, or the nodes of its `@graph` where it has one. */
function expandNode({ line, node, scope }: JsonNode, nodes: NodeOrProblem[], depth = 0): void {
  const { '@graph': graph, ...members } = node;
  if (graph === undefined || graph === null) {
    nodes.push({ line, node, scope });
    return;
  }
  if (depth === GRAPH_DEPTH_MAX) {
    nodes.push({ line, key: null, problem: 'graphs stand in each other too deep' });
    return;
  }
  const { '@context': context } = members;
  const inner = context === undefined ? scope : { outer: scope, context };
  for (const item of Array.isArray(graph) ? graph : [graph]) {
    if (isJsonObject(item)) expandNode({ line, node: item, scope: inner }, nodes, depth + 1);
    else nodes.push({ line, key: null, problem: NO_OBJECT });
  }
  if (Object.keys(members).every((name) => FRAME_MEMBERS.has(name))) return;
  nodes.push({ line, node: members, scope });
}

const NO_OBJECT = 'the record is no JSON object';

type ParsedText =
  | { readonly value: JsonValue; readonly problem?: never }
  | { readonly value?: never; readonly problem: string };

/** The value of a JSON text, or what is wrong with it. */
export function parseText(json: Buffer): ParsedText {
  try {
    return { value: parseJsonRecord(json) as JsonValue };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

type ParsedMember =
  | { readonly name: string; readonly value: JsonValue; readonly problem?: never }
  | { readonly name: string | null; readonly value?: never; readonly problem: string };

/** `json` is the name and the value; the name of a broken member as it stands. */
function parseMember(json: Buffer): ParsedMember {
  const { value, problem } = parseText(Buffer.concat([OBJECT_OPEN, json, OBJECT_CLOSE]));
  const [member] = isJsonObject(value) ? Object.entries(value) : [];
  if (member !== undefined) return { name: member[0], value: member[1] };
  const name = /^"([^"\\]+)"/.exec(json.toString('utf8', 0, NAME_BYTES_MAX))?.[1] ?? null;
  return { name, problem: problem ?? NO_OBJECT };
}

const OBJECT_OPEN = Buffer.from('{');
const OBJECT_CLOSE = Buffer.from('}');
/** Enough for the name of a broken member. */
const NAME_BYTES_MAX = 400;
