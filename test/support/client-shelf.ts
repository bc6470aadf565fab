/**
 * A client that adds, changes and deletes books of its own and remembers what it was told, so that
 * it knows what the server must hold after it was killed: every book as last acknowledged, or, for
 * the one whose request was cut off, as that request would have left it.
 */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';

type Book = { readonly id: string; readonly title: string; readonly publisher: string };

const DELETED = null;

export class ClientShelf {
  acknowledged = 0;
  readonly #name: string;
  readonly #books = new Map<string, { readonly title: string; readonly etag: string }>();
  /** Left alone from here on: their requests were cut off, so their tags are not known. */
  readonly #settled = new Map<string, string>();
  /** A request without an answer: the title it sets, or DELETED; `id` is null for an addition. */
  #unanswered: { readonly id: string | null; readonly title: string | null } | null = null;
  #count = 0;
  readonly #waiting: { readonly target: number; readonly resolve: () => void }[] = [];

  constructor(writer: number) {
    this.#name = `writer ${writer}`;
  }

  /** Resolves once `more` further requests were acknowledged. */
  waitFor(more: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ target: this.acknowledged + more, resolve });
    });
  }

  async writeUntilCut(call: Caller): Promise<void> {
    try {
      for (;;) await this.#write(call);
    } catch (error) {
      // Only the connection may fail; an answer that is not expected is a failure of the test.
      if (error instanceof assert.AssertionError) throw error;
    }
  }

  /** Checks its own among all books, takes over what it finds, and returns how many are its own. */
  check(all: readonly unknown[]): number {
    const found = all.filter(isBook).filter(({ publisher }) => publisher === this.#name);
    const unanswered = this.#unanswered;
    this.#unanswered = null;
    const titles = new Map(found.map(({ id, title }) => [id, title]));
    for (const [id, { title }] of this.#books) {
      const isOpen = unanswered?.id === id;
      const now = titles.get(id) ?? DELETED;
      assert.ok(now === title || (isOpen && now === unanswered.title),
        `${this.#name}: ${id} is ${now}, was acknowledged as ${title}`);
    }
    for (const [id, title] of this.#settled) assert.equal(titles.get(id), title);
    for (const [id, title] of titles) {
      const isAdded = unanswered?.id === null && unanswered.title === title;
      const isOwn = this.#books.has(id) || this.#settled.has(id) || isAdded;
      assert.ok(isOwn, `${this.#name}: ${id} ${title} is unexpected`);
      if (isAdded || unanswered?.id === id) this.#settled.set(id, title);
    }
    if (typeof unanswered?.id === 'string') this.#books.delete(unanswered.id);
    return found.length;
  }

  async #write(call: Caller): Promise<void> {
    const title = `${this.#name}, ${this.#count++}`;
    const [oldest] = this.#books;
    if (oldest === undefined || this.#count % 3 === 0) return this.#add(call, title);
    const [id, { etag }] = oldest;
    const isDeletion = this.#books.size > 5;
    this.#unanswered = { id, title: isDeletion ? DELETED : title };
    const answer = isDeletion
      ? await call('DELETE', `/api/books/${id}`, undefined, { 'if-match': etag })
      : await call('PUT', `/api/books/${id}`, this.#body(title), { 'if-match': etag });
    assert.equal(answer.status, isDeletion ? 204 : 200, answer.body);
    this.#books.delete(id);
    if (!isDeletion) this.#books.set(id, { title, etag: answer.etag });
    this.#acknowledge();
  }

  async #add(call: Caller, title: string): Promise<void> {
    this.#unanswered = { id: null, title };
    const answer = await call('POST', '/api/books', this.#body(title));
    assert.equal(answer.status, 201, answer.body);
    const book: unknown = JSON.parse(answer.body);
    assert.ok(isBook(book));
    this.#books.set(book.id, { title, etag: answer.etag });
    this.#acknowledge();
  }

  #body(title: string): unknown {
    return { title, publisher: this.#name };
  }

  #acknowledge(): void {
    this.#unanswered = null;
    this.acknowledged += 1;
    for (const { target, resolve } of this.#waiting) {
      if (target <= this.acknowledged) resolve();
    }
  }
}

type Answer = {
  readonly status: number; readonly etag: string; readonly body: string;
};
type Caller = (
  method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** Sends requests over `connections` kept-alive connections. A lost connection rejects. */
export function createCaller(url: string, connections: number): { call: Caller; end(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const call: Caller = (method, path, body, headers = {}) => new Promise((resolve, reject) => {
    const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const bodyHeaders = bytes === null ? {} : {
      'content-type': 'application/json', 'content-length': String(bytes.length),
    };
    const sent = request(new URL(path, url), {
      agent, method, headers: { ...bodyHeaders, ...headers },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({
        status: response.statusCode ?? 0,
        etag: response.headers.etag ?? '',
        body: Buffer.concat(chunks).toString(),
      }));
    });
    sent.end(bytes ?? undefined);
  });
  return { call, end: () => agent.destroy() };
}

function isBook(value: unknown): value is Book {
  return typeof value === 'object' && value !== null && 'id' in value && 'title' in value
    && 'publisher' in value && typeof value.id === 'string' && typeof value.title === 'string';
}
