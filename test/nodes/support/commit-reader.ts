/**
 * Finds commits in the bytes that a client sends to an engine.
 *
 * PostgreSQL's protocol, version 3: a start message of a length (4 bytes, itself included) and its
 * content, then messages of a type (1 byte), a length (4 bytes, itself included) and content. `Q`
 * holds a statement; `P` a name, NUL, and the statement that it stands for; `B` a portal's name,
 * NUL, and the statement's name; `S` ends what belongs together. What asks for TLS has no content
 * but its code. A connection that goes on in TLS cannot be read.
 *
 * etcd's gateway: HTTP/1.1; a commit is a POST to /v3/kv/txn, complete with its Content-Length.
 */

/** Told all bytes in order; true when a commit was completed by them. */
export interface CommitReader {
  push(chunk: Buffer): boolean;
}

const TLS_CODES = [80877103, 80877104];
/** What commits: the append of a batch in one statement, or a transaction's end. */
const COMMITS = /^\s*commit\b|update\s+hookshelf\.head\s+set\s+sequence/i;
/** Within `begin … commit` the update commits nothing yet. */
const BEGINS = /^\s*(begin|start transaction)\b/i;
const ENDS = /^\s*(commit|rollback)\b/i;

export class PostgresCommits implements CommitReader {
  #rest = Buffer.alloc(0);
  #isStarted = false;
  #isOpen = false;
  #isCommitting = false;
  readonly #statements = new Map<string, string>();

  push(chunk: Buffer): boolean {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    let isCommit = false;
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#rest.length < head + 4) return isCommit;
      const end = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < end) return isCommit;
      const content = this.#rest.subarray(head + 4, end);
      if (this.#isStarted) {
        isCommit = this.#read(String.fromCharCode(this.#rest[0] ?? 0), content) || isCommit;
      } else this.#isStarted = !TLS_CODES.includes(content.readUInt32BE(0));
      this.#rest = this.#rest.subarray(end);
    }
  }

  #read(type: string, content: Buffer): boolean {
    if (type === 'Q') {
      this.#run(content.toString());
      return this.#take();
    }
    if (type === 'P') {
      const [name = '', text = ''] = content.toString().split('\0');
      this.#statements.set(name, text);
    }
    if (type === 'B') {
      const [, name = ''] = content.toString('latin1', 0, 512).split('\0');
      this.#run(this.#statements.get(name) ?? '');
    }
    return type === 'S' && this.#take();
  }

  #run(text: string): void {
    if (BEGINS.test(text)) this.#isOpen = true;
    const isEnd = ENDS.test(text);
    if (COMMITS.test(text) && (isEnd || !this.#isOpen)) this.#isCommitting = true;
    if (isEnd) this.#isOpen = false;
  }

  #take(): boolean {
    const isCommit = this.#isCommitting;
    this.#isCommitting = false;
    return isCommit;
  }
}

export class EtcdCommits implements CommitReader {
  #rest = Buffer.alloc(0);

  push(chunk: Buffer): boolean {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    let isCommit = false;
    for (;;) {
      const headEnd = this.#rest.indexOf('\r\n\r\n');
      if (headEnd < 0) return isCommit;
      const head = this.#rest.toString('latin1', 0, headEnd);
      const [, length = '0'] = /^content-length: *(\d+)\r?$/im.exec(head) ?? [];
      const end = headEnd + 4 + Number(length);
      if (this.#rest.length < end) return isCommit;
      if (head.startsWith('POST /v3/kv/txn ')) isCommit = true;
      this.#rest = this.#rest.subarray(end);
    }
  }
}
