/** Clients of all nodes at once, and what they were answered: the writes and reads of a history. */
import { below } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import type { Read, Write } from '../checker/history.ts';
import { nowMs, outcomeOf, pickShelf } from './shelf.ts';
import type { Answer, Failure, Shelf } from './shelf.ts';

export type WorkloadOptions = {
  readonly shelves: readonly Shelf[];
  readonly random: Random;
  readonly writers: number;
  readonly readers: number;
  /** Between two requests of a client, at most. */
  readonly pauseMs: number;
};

type Version = { readonly key: string; readonly token: string; readonly etag: string };

const HOT = 12;
const NAMES = 6;
const BOOKS = '/api/books';
const HOOKS = '/api/incoming-webhooks';

export class Workload {
  /** Of books, and of incoming webhooks, whose path segments are unique. */
  readonly books: Write[] = [];
  readonly names: Write[] = [];
  readonly reads: Read[] = [];
  /** Answers that no fault excuses. */
  readonly surprises: string[] = [];
  readonly #options: WorkloadOptions;
  readonly #current = new Map<string, Version>();
  readonly #held: Version[] = [];
  #count = 0;
  #isOver = false;
  #highest = 0;
  #clients: Promise<unknown> = Promise.resolve();

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  get sequence(): number {
    return this.#highest;
  }

  /** Acknowledged writes. */
  get done(): number {
    return [...this.books, ...this.names].filter(({ outcome }) => outcome === 'ok').length;
  }

  begin(): void {
    const { writers, readers } = this.#options;
    const loops = [
      ...Array.from({ length: writers }, () => this.#loop((shelf) => this.#write(shelf))),
      ...Array.from({ length: readers }, () => this.#loop((shelf) => this.#read(shelf))),
    ];
    this.#clients = Promise.all(loops);
  }

  /** Resolves once the last answer has come, or its time is over. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#clients;
  }

  /** One book: all that was acknowledged before stands before it. */
  create(shelf: Shelf, members: Readonly<Record<string, unknown>> = {}): Promise<Write> {
    const token = this.#token('b');
    return this.#ask(shelf, 'POST', BOOKS, { title: token, ...members },
      { kind: 'create', key: null, token, expected: null, name: null }, this.books);
  }

  /** Replaces a book, or deletes it, in the version that was acknowledged last. */
  async change(shelf: Shelf, kind: 'replace' | 'delete', key: string): Promise<Write | null> {
    const base = this.#current.get(key);
    if (base === undefined) return null;
    const isDelete = kind === 'delete';
    const token = this.#token(isDelete ? 'd' : 'b');
    return this.#ask(shelf, isDelete ? 'DELETE' : 'PUT', `${BOOKS}/${key}`,
      isDelete ? undefined : { title: token },
      { kind, key, token, expected: base.token, name: null }, this.books, base.etag);
  }

  /** An incoming webhook, which takes a name that no other may have. */
  takeName(shelf: Shelf, name: string): Promise<Write> {
    const token = methodOf(this.#token('n'));
    const body = { pathSegment: name, actionConfiguration: 'to-log', allowedMethods: [token] };
    return this.#ask(shelf, 'POST', HOOKS, body,
      { kind: 'create', key: null, token, expected: null, name }, this.names);
  }

  /** Deletes an incoming webhook: its name is free again. */
  async giveName(shelf: Shelf, key: string): Promise<Write | null> {
    const index = this.#held.findIndex((version) => version.key === key);
    const [base] = index < 0 ? [] : this.#held.splice(index, 1);
    if (base === undefined) return null;
    return this.#ask(shelf, 'DELETE', `${HOOKS}/${key}`, undefined,
      { kind: 'delete', key, token: this.#token('x'), expected: base.token, name: null },
      this.names, base.etag);
  }

  async #loop(act: (shelf: Shelf) => Promise<unknown>): Promise<void> {
    const { shelves, random, pauseMs } = this.#options;
    while (!this.#isOver) {
      await new Promise((resolve) => void setTimeout(resolve, random() * pauseMs));
      const shelf = pickShelf(shelves, random);
      if (shelf !== null) await act(shelf);
    }
  }

  #write(shelf: Shelf): Promise<unknown> {
    const { random } = this.#options;
    const kind = below(random, 20);
    if (kind < 7) return this.create(shelf);
    if (kind < 14) return this.#changeSome(shelf, 'replace');
    if (kind < 15) return this.#changeSome(shelf, 'delete');
    if (kind < 18) return this.takeName(shelf, `name-${below(random, NAMES)}`);
    const held = this.#held[below(random, this.#held.length)];
    return held === undefined ? Promise.resolve() : this.giveName(shelf, held.key);
  }

  async #changeSome(shelf: Shelf, kind: 'replace' | 'delete'): Promise<void> {
    const { random } = this.#options;
    const all = [...this.#current.values()];
    // Few records get most of it, so that clients meet.
    const hot = all.slice(0, HOT);
    const base = kind === 'delete' ? all[HOT + below(random, all.length)]
      : (random() < 0.7 ? hot : all)[below(random, random() < 0.7 ? hot.length : all.length)];
    if (base !== undefined) await this.change(shelf, kind, base.key);
  }

  async #ask(
    shelf: Shelf, method: string, path: string, body: unknown,
    what: Pick<Write, 'kind' | 'key' | 'token' | 'expected' | 'name'>, into: Write[], etag = '',
  ): Promise<Write> {
    const beginMs = nowMs();
    const index = into.length;
    const base: Write = { ...what, node: shelf.name, beginMs, endMs: Infinity, outcome: 'unknown',
      refusal: null, sequence: null };
    into.push(base);
    const answer = await shelf.ask(method, path, body, etag === '' ? {} : { 'if-match': etag });
    const write = this.#settled(base, answer);
    into[index] = write;
    if (write.outcome === 'ok') this.#remember(write, answer, into === this.books);
    return write;
  }

  #settled(base: Write, answer: Answer | Failure): Write {
    const outcome = outcomeOf(answer);
    if (outcome === 'unknown') return base;
    const endMs = nowMs();
    if (typeof answer === 'string') {
      return { ...base, endMs, outcome, refusal: 'unavailable' };
    }
    const { status, body, headers } = answer;
    if (outcome === 'ok') {
      const sequence = Number(headers['hookshelf-sequence'] ?? NaN);
      const key = base.key ?? idIn(body);
      return { ...base, key, endMs, outcome,
        sequence: Number.isInteger(sequence) ? sequence : null };
    }
    const refusal = status === 412 ? 'mismatch' : status === 409 ? 'taken'
      : status === 404 ? 'missing' : 'unavailable';
    if (refusal === 'unavailable' && status !== 503) {
      this.surprises.push(`${base.kind} at ${base.node}: ${status} ${body}`);
    }
    return { ...base, endMs, outcome, refusal };
  }

  #remember(write: Write, answer: Answer | Failure, isBook: boolean): void {
    const { key, token, kind, sequence } = write;
    this.#highest = Math.max(this.#highest, sequence ?? 0);
    if (key === null || typeof answer === 'string') return;
    const version = { key, token, etag: String(answer.headers['etag'] ?? '') };
    if (!isBook) {
      if (kind === 'create') this.#held.push(version);
    } else if (kind === 'delete') this.#current.delete(key);
    else this.#current.set(key, version);
  }

  async #read(shelf: Shelf): Promise<void> {
    const { random } = this.#options;
    const keys = [...this.#current.keys()];
    const key = keys[Math.max(0, keys.length - 1 - below(random, 2 * HOT))];
    if (key === undefined) return;
    const isList = below(random, 3) === 0;
    const atLeast = below(random, 4) === 0 && this.#highest > 0 ? this.#highest : null;
    const beginMs = nowMs();
    const answer = await shelf.ask('GET', isList ? `${BOOKS}?limit=40` : `${BOOKS}/${key}`,
      undefined, atLeast === null ? {} : { 'hookshelf-sequence': String(atLeast) });
    if (typeof answer === 'string') return;
    const values = valuesIn(answer, isList ? null : key);
    if (values === null) {
      if (answer.status !== 503) {
        this.surprises.push(`read at ${shelf.name}: ${answer.status} ${answer.body}`);
      }
      return;
    }
    // A list is streamed: each record is as it was at some moment of it.
    const endMs = nowMs();
    for (const one of values) {
      this.reads.push({ node: shelf.name, beginMs, endMs, values: new Map([one]), atLeast });
    }
  }

  #token(letter: string): string {
    this.#count += 1;
    return `${letter}${this.#count}`;
  }
}

/** A token as a method, which is letters alone. */
export function methodOf(token: string): string {
  const letters = [...token.slice(1)].map((digit) => String.fromCharCode(65 + Number(digit)));
  return `T-${letters.join('')}`;
}

function valuesIn({ status, body }: Answer, key: string | null): Map<string, string | null> | null {
  if (key !== null && status === 404) return new Map([[key, null]]);
  if (status !== 200) return null;
  const found: unknown = JSON.parse(body);
  const values = new Map<string, string | null>();
  for (const book of Array.isArray(found) ? found : [found]) {
    values.set(String(book.id), String(book.title));
  }
  return values;
}

function idIn(body: string): string | null {
  const { id, identifier } = JSON.parse(body);
  return typeof id === 'string' ? id : typeof identifier === 'string' ? identifier : null;
}
