/**
 * The load generator, a process of its own: `connections` sockets, one request under way on each,
 * on node:net alone so that it costs less than what it measures. Reads its plan as JSON from
 * argv[2]; prints one JSON line of type LoadResult.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export type LoadPlan = {
  /** Of servers that get the same number of connections each. */
  readonly ports: readonly number[];
  /** To all of them together. */
  readonly connections: number;
  readonly warmupMs: number;
  /** It goes on until so many are answered, a minute at most. */
  readonly warmupRequests?: number;
  readonly durationMs: number;
  /** A file of whole raw HTTP requests as a JSON array of strings, used in turn. */
  readonly requestsPath: string;
  readonly expectedStatus: number;
};

export type LoadResult = {
  readonly requests: number;
  readonly wrong: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
};

const READ_BUFFER_BYTES = 1 << 20;
const WARMUP_STEP_MS = 100;
const WARMUP_MS_MAX = 60_000;
const NOTHING = Buffer.alloc(0);

/** Finds the ends of responses in a byte stream: Content-Length and chunked bodies. */
export class ResponseReader {
  #carry = NOTHING;
  #bodyLeft = 0;
  #isChunked = false;
  #line = '';
  #state: 'head' | 'body' | 'size' | 'data' | 'data-end' | 'trailer' = 'head';
  readonly #done: (status: number) => void;
  #status = 0;

  constructor(done: (status: number) => void) {
    this.#done = done;
  }

  read(bytes: Buffer): void {
    const all = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    this.#carry = NOTHING;
    let offset = 0;
    while (offset < all.length) offset = this.#step(all, offset);
  }

  #step(bytes: Buffer, offset: number): number {
    switch (this.#state) {
      case 'head': return this.#readHead(bytes, offset);
      case 'body':
      case 'data': {
        const taken = Math.min(this.#bodyLeft, bytes.length - offset);
        this.#bodyLeft -= taken;
        if (this.#bodyLeft === 0) this.#endPart();
        return offset + taken;
      }
      default: return this.#readLine(bytes, offset);
    }
  }

  #endPart(): void {
    if (this.#state === 'body') this.#finish();
    else this.#state = 'data-end';
  }

  #finish(): void {
    this.#state = 'head';
    this.#done(this.#status);
  }

  #readHead(bytes: Buffer, offset: number): number {
    const end = bytes.indexOf('\r\n\r\n', offset, 'latin1');
    if (end < 0) {
      this.#carry = Buffer.from(bytes.subarray(offset));
      return bytes.length;
    }
    const head = bytes.toString('latin1', offset, end);
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    this.#isChunked = length === null && /\r\ntransfer-encoding: *chunked/i.test(head);
    this.#bodyLeft = Number(length?.[1] ?? 0);
    this.#state = this.#isChunked ? 'size' : 'body';
    if (!this.#isChunked && this.#bodyLeft === 0) this.#finish();
    return end + 4;
  }

  #readLine(bytes: Buffer, offset: number): number {
    const end = bytes.indexOf(10, offset);
    if (end < 0) {
      this.#line += bytes.toString('latin1', offset);
      return bytes.length;
    }
    const line = (this.#line + bytes.toString('latin1', offset, end)).trim();
    this.#line = '';
    if (this.#state === 'data-end') {
      this.#state = 'size';
    } else if (this.#state === 'size') {
      this.#bodyLeft = Number.parseInt(line, 16);
      this.#state = this.#bodyLeft === 0 ? 'trailer' : 'data';
    } else if (line === '') {
      this.#finish();
    }
    return end + 1;
  }
}

async function run(plan: LoadPlan): Promise<LoadResult> {
  const texts: readonly string[] = JSON.parse(readFileSync(plan.requestsPath, 'utf8'));
  const requests = texts.map((text) => Buffer.from(text));
  const latencies: number[] = [];
  const sockets: Socket[] = [];
  let next = 0;
  let wrong = 0;
  let isMeasuring = false;
  let isOver = false;

  const open = (port: number | undefined): void => {
    let sentAt = 0;
    const send = (): void => {
      sentAt = performance.now();
      socket.write(requests[next % requests.length] ?? '');
      next += 1;
    };
    const reader = new ResponseReader((status) => {
      if (isMeasuring) latencies.push(performance.now() - sentAt);
      if (status !== plan.expectedStatus) wrong += 1;
      if (!isOver) send();
    });
    const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
    const socket = connect({
      port: port ?? 0,
      host: '127.0.0.1',
      onread: {
        buffer,
        callback: (count) => {
          reader.read(buffer.subarray(0, count));
          return true;
        },
      },
    }, send);
    socket.setNoDelay(true);
    socket.on('error', () => { wrong += isOver ? 0 : 1; });
    sockets.push(socket);
  };
  for (let count = 0; count < plan.connections; count += 1) {
    open(plan.ports[count % plan.ports.length]);
  }
  await pause(plan.warmupMs);
  const { warmupRequests = 0 } = plan;
  for (let waited = 0; waited < WARMUP_MS_MAX && next < warmupRequests; waited += WARMUP_STEP_MS) {
    await pause(WARMUP_STEP_MS);
  }
  isMeasuring = true;
  process.stdout.write('measuring\n');
  const startedAt = performance.now();
  await pause(plan.durationMs);
  isOver = true;
  const elapsedMs = performance.now() - startedAt;
  for (const socket of sockets) socket.destroy();
  return summarise(latencies, wrong, elapsedMs);
}

function summarise(latencies: number[], wrong: number, elapsedMs: number): LoadResult {
  latencies.sort((left, right) => left - right);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    wrong,
    perSecond: latencies.length / (elapsedMs / 1000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: at(1),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

if (process.argv[2] !== undefined && import.meta.filename === process.argv[1]) {
  const result = await run(JSON.parse(process.argv[2]));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
