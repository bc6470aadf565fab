/**
 * Records that stand deeper in a JSON file than `JsonSplitter` looks by itself: the members of one
 * object (`{"123": {…}, "124": {…}}`), and the nodes of JSON-LD, which are an array, one object,
 * several values one after another, or what the `@graph` of an object holds.
 *
 * A record is valid when it is JSON (RFC 8259) and an object. One that is no JSON within matching
 * brackets is told, and reading goes on behind it; where brackets or quotes do not match, at the
 * next line that begins with `{`, and among the members of one object not at all. No more is held
 * than a record, and as much of a `@graph` before its `@context`.
 */
import { messageOf } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJson } from '../../../base/json/parse.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { JsonSplitter } from '../json-splitter.ts';
import type { SplitElement } from '../json-splitter.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter } from '../mapping/format-table.ts';
import { RECORD_BYTES_MAX, TOO_LONG } from '../record-splitter.ts';

/** One object, each member a record: its name is the key, the members of its value the fields. */
export class KeyedObjectSplitter implements FieldSplitter {
  readonly #splitter = new JsonSplitter({ splitsObjects: true });

  push(chunk: Buffer): readonly (FieldRecord | BrokenRecord)[] {
    return this.#splitter.push(chunk).flatMap(readMember);
  }

  end(): readonly (FieldRecord | BrokenRecord)[] {
    return this.#splitter.end().flatMap(readMember);
  }
}

function readMember(element: SplitElement): readonly (FieldRecord | BrokenRecord)[] {
  if (element.json === undefined) return [{ ...element, key: null }];
  if (element.isObjectEnd) return [];
  const { line } = element;
  const key = element.name === null ? null : readName(element.name);
  const record = parseRecord(element.json);
  if ('problem' in record) return [{ line, key, problem: record.problem }];
  return [{ line, key, type: '', fields: new Map(Object.entries(record.value)) }];
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
  #object = new GraphObject(0);

  push(chunk: Buffer): readonly NodeOrProblem[] {
    return this.#read(this.#splitter.push(chunk));
  }

  end(): readonly NodeOrProblem[] {
    const nodes = [...this.#read(this.#splitter.end())];
    this.#object.release(nodes);
    return nodes;
  }

  #read(elements: readonly SplitElement[]): readonly NodeOrProblem[] {
    const nodes: NodeOrProblem[] = [];
    for (const element of elements) {
      if (element.json === undefined) {
        nodes.push({ ...element, key: null });
      } else if (element.object === 0) {
        readNode(element, null, nodes);
      } else {
        if (element.object !== this.#object.number) {
          // A mistake has ended the object before. What is known of its graph is read all the same.
          this.#object.release(nodes);
          this.#object = new GraphObject(element.object);
        }
        this.#object.add(element, nodes);
      }
    }
    return nodes;
  }
}

type JsonElement = SplitElement & { readonly json: Buffer };

/** An object at the top of a file: a node itself, or around the nodes of its `@graph`. */
class GraphObject {
  readonly number: number;
  readonly #members: [name: string, value: JsonValue][] = [];
  #membersBytes = 0;
  /** Whether a member is broken, or all are too long, which has been told. */
  #isBroken = false;
  /** Null until its context has come. */
  #scope: JsonScope | null = null;
  #hasGraph = false;
  /** The nodes of the graph that wait for the context; null: none does any more. */
  #waiting: JsonElement[] | null = [];
  #waitingBytes = 0;

  constructor(number: number) {
    this.number = number;
  }

  add(element: JsonElement, nodes: NodeOrProblem[]): void {
    if (element.isObjectEnd) this.#end(element.line, nodes);
    else if (element.name === null) this.#addNode(element, nodes);
    else this.#addMember(element, readName(element.name), nodes);
  }

  /** Reads the nodes that wait for a context, by what has come of it. */
  release(nodes: NodeOrProblem[]): void {
    for (const element of this.#waiting ?? []) readNode(element, this.#scope, nodes);
    this.#waiting = null;
  }

  #addNode(element: JsonElement, nodes: NodeOrProblem[]): void {
    this.#hasGraph = true;
    if (this.#waiting === null) {
      readNode(element, this.#scope, nodes);
      return;
    }
    this.#waiting.push(element);
    this.#waitingBytes += element.json.length + NODE_BYTES;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.release(nodes);
  }

  #addMember({ line, json }: JsonElement, name: string, nodes: NodeOrProblem[]): void {
    const member = parseMember(json);
    if ('problem' in member) {
      this.#break(line, `in \`${name}\`: ${member.problem}`, nodes);
      return;
    }
    if (name === '@context') {
      // A name alone says nothing that is not supposed without it.
      if (this.#waiting === null && typeof member.value !== 'string') {
        nodes.push({ line, key: null, problem: LATE_CONTEXT });
      }
      this.#scope = { outer: null, context: member.value };
      this.release(nodes);
    }
    this.#membersBytes += name.length + json.length;
    if (this.#membersBytes > RECORD_BYTES_MAX) this.#break(line, TOO_LONG, nodes);
    else if (!this.#isBroken) this.#members.push([name, member.value]);
  }

  #break(line: number, problem: string, nodes: NodeOrProblem[]): void {
    if (!this.#isBroken) nodes.push({ line, key: null, problem });
    this.#isBroken = true;
    this.#members.length = 0;
  }

  #end(line: number, nodes: NodeOrProblem[]): void {
    this.release(nodes);
    if (this.#isBroken) return;
    const names = this.#members.map(([name]) => name);
    const isFrame = this.#hasGraph ? names.every((name) => FRAME_MEMBERS.has(name))
      : names.length > 0 && names.every((name) => name === '@context');
    if (isFrame) return;
    expandNode({ line, node: Object.fromEntries(this.#members), scope: null }, nodes, 0);
  }
}

const LATE_CONTEXT = 'this @context stands behind more than 2 MiB of its @graph, which was read '
  + 'without it: write it first';

/** The members of an object that say nothing but what its graph is. */
const FRAME_MEMBERS: ReadonlySet<string> = new Set(['@context', '@id']);

function readNode(
  { line, json }: JsonElement, scope: JsonScope | null, nodes: NodeOrProblem[],
): void {
  const record = parseRecord(json);
  if ('problem' in record) nodes.push({ line, key: null, problem: record.problem });
  else expandNode({ line, node: record.value, scope }, nodes, 0);
}

/** Adds the node, or the nodes of its `@graph` where it has one. */
function expandNode(
  { line, node, scope }: JsonNode, nodes: NodeOrProblem[], depth: number,
): void {
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

type ValueOrProblem = { readonly value: JsonValue } | { readonly problem: string };
type ObjectOrProblem = { readonly value: JsonObject } | { readonly problem: string };

function parseRecord(json: Buffer): ObjectOrProblem {
  const member = parseMember(json);
  if ('problem' in member) return member;
  return isJsonObject(member.value) ? { value: member.value } : { problem: NO_OBJECT };
}

function parseMember(json: Buffer): ValueOrProblem {
  try {
    return { value: parseJson(json) as JsonValue };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** The name that the JSON text of a string gives; the text itself where it is broken. */
function readName(json: Buffer): string {
  const name = parseMember(json);
  return 'value' in name && typeof name.value === 'string' ? name.value : json.toString();
}
