/** Reads a node's event stream from the begin of the log on, and after each break from there on. */
import { get } from 'node:http';
import type { ClientRequest } from 'node:http';
import type { DeliveryState, Event, Follower } from '../checker/history.ts';
import type { Shelf } from './shelf.ts';

const AGAIN_MS = 100;

export class StreamFollower {
  readonly #shelf: Shelf;
  readonly #followers: { readonly node: string; from: number; readonly events: Event[] }[] = [];
  readonly deliveries: DeliveryState[] = [];
  #lastId = '0';
  #request: ClientRequest | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
    this.#begin(0);
    this.#connect();
  }

  get followers(): readonly Follower[] {
    return this.#followers;
  }

  get sequence(): number {
    return sequenceOf(this.#lastId);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#request?.destroy();
  }

  #begin(from: number): void {
    this.#followers.push({ node: this.#shelf.name, from, events: [] });
  }

  #connect(): void {
    const { url } = this.#shelf;
    if (url === '') return this.#again();
    const id = this.#lastId === '' ? '' : `&lastEventId=${this.#lastId}`;
    const request = get(`${url}/api/stream?topics=books,deliveries${id}`, (response) => {
      if (response.statusCode === 410) {
        // What was trimmed while it was away is not told any more.
        this.#lastId = '';
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if (response.statusCode !== 200) return;
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#read(block);
      });
      response.once('error', () => {});
      response.once('close', () => this.#again());
    });
    this.#request = request;
    request.once('error', () => this.#again());
  }

  #again(): void {
    if (this.#isClosed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#connect();
    }, AGAIN_MS);
  }

  #read(block: string): void {
    const fields = new Map(block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    }));
    const id = fields.get('id');
    if (id === undefined) return;
    if (this.#lastId === '') this.#begin(sequenceOf(id));
    this.#lastId = id;
    const data: unknown = JSON.parse(fields.get('data') ?? 'null');
    const event = fields.get('event');
    if (event === 'book') this.#change(sequenceOf(id), data);
    if (event === 'delivery') this.#delivery(sequenceOf(id), data);
  }

  #change(sequence: number, data: unknown): void {
    if (!isRecord(data)) return;
    // Whether a change made the record is told by who saw it, not by the log.
    const { change, ...book } = data;
    const isDeleted = change === 'deleted';
    this.#followers.at(-1)?.events.push({
      sequence, key: String(book['id']), token: isDeleted ? null : String(book['title']),
      bytes: isDeleted ? '' : JSON.stringify(book),
    });
  }

  #delivery(sequence: number, data: unknown): void {
    if (!isRecord(data) || data['change'] === 'deleted') return;
    const { identifier, status, attempts } = data;
    const isFinal = status === 'delivered';
    const count = Array.isArray(attempts) ? attempts.length : Number(attempts ?? 0);
    this.deliveries.push({ delivery: String(identifier), sequence, attempts: count, isFinal });
  }
}

function sequenceOf(id: string): number {
  return Number(id.split('.')[0]);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
