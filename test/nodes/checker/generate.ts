/**
 * Histories of a system that keeps every promise: each operation takes effect at one moment between
 * its begin and its end, in one log, of which each node has seen a prefix that is young enough. One
 * receiver is told of writes from the begin on, another is made later and is told what it missed.
 */
import { below } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { EMPTY } from './history.ts';
import type {
  Attempt, Cancellation, DeliveryState, Emission, Event, History, Image, LateHook, Read, Write,
} from './history.ts';

const NODES = ['a', 'b', 'c'] as const;
const STALE_MS = 200;
const KEYS = 4;
/** As many writes come before the late receiver is made. */
const MISSED = 15;
const ATTEMPT_MS = 20;
/** Of what begins at a time: how long it takes until that is done, at most. */
const BEGIN_MS = 10;

export function generate(random: Random, steps: number): History {
  const world = new World(random);
  for (let step = 0; step < steps; step += 1) world.step();
  return world.history();
}

class World {
  readonly #random: Random;
  readonly #writes: Write[] = [];
  readonly #reads: Read[] = [];
  readonly #images: Image[] = [];
  readonly #log: (Event & { readonly atMs: number })[] = [];
  readonly #current = new Map<string, Event>();
  readonly #names = new Map<string, string>();
  readonly #attempts: Attempt[] = [];
  readonly #deliveries: DeliveryState[] = [];
  /** When a receiver has been told of all that was written of a record, or begun for a key. */
  readonly #toldMs = new Map<string, number>();
  readonly #emissions: Emission[] = [];
  readonly #due: { readonly atMs: number; readonly key: string; readonly token: string }[] = [];
  /** What a receiver that is yet to be made misses; null once it is made. */
  #missed: { readonly key: string; readonly token: string }[] | null = [];
  #late: LateHook | null = null;
  #nowMs = 0;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  step(): void {
    this.#nowMs += this.#random() * 20;
    const kind = below(this.#random, 13);
    if (kind >= 10) this.#emit();
    else if (kind < 3) this.#create();
    else if (kind < 6) this.#change('replace');
    else if (kind < 7) this.#change('delete');
    else this.#read(kind === 9);
  }

  history(): History {
    if (this.#missed !== null) this.#makeLate(this.#missed);
    this.#nowMs += 1000;
    for (const node of NODES) this.#image(node);
    for (const { atMs, key, token } of this.#due.sort((left, right) => left.atMs - right.atMs)) {
      this.#tell('/events', key, token, atMs);
    }
    const events = this.#log.map(({ sequence, key, token, bytes }) =>
      ({ sequence, key, token, bytes }));
    return {
      ...EMPTY, writes: this.#writes, reads: this.#reads, images: this.#images,
      hooks: ['/', '/late'], orderedHooks: ['/', '/late'],
      lateHooks: this.#late === null ? [] : [this.#late],
      emissions: this.#emissions, emissionHooks: ['/events'], orderedEmissionHooks: ['/events'],
      attempts: this.#attempts, deliveries: this.#deliveries, records: this.#records(),
      followers: NODES.map((node) => ({ node, from: 0, events })),
    };
  }

  #create(): void {
    const name = below(this.#random, 3) === 0 ? `name-${below(this.#random, 5)}` : null;
    const isTaken = name !== null && this.#names.has(name);
    this.#finish('create', `key-${this.#count}`, null, name, isTaken ? 'taken' : null);
  }

  #change(kind: 'replace' | 'delete'): void {
    const versions = this.#writes.filter((write) => write.kind !== 'delete' && write.key !== null);
    const base = versions[below(this.#random, versions.length)];
    if (base === undefined || base.outcome !== 'ok') return;
    const key = base.key ?? '';
    const current = this.#current.get(key);
    const refusal = current === undefined ? 'missing' : 'mismatch';
    this.#finish(kind, key, base.token, null, current?.token === base.token ? null : refusal);
  }

  #finish(
    kind: Write['kind'], key: string, expected: string | null, name: string | null,
    refusal: Write['refusal'],
  ): void {
    const token = `token-${this.#count}`;
    this.#count += 1;
    const beginMs = this.#nowMs - this.#random() * 15;
    const isLost = below(this.#random, 12) === 0;
    const isDone = refusal === null && !(isLost && below(this.#random, 2) === 0);
    if (isDone) this.#commit(kind, key, token, name);
    const sequence = isDone && !isLost ? this.#log.length : null;
    const endMs = this.#nowMs + this.#random() * 15;
    this.#writes.push({
      node: this.#node(), beginMs, endMs: isLost ? Infinity : endMs, kind, token, expected, name,
      sequence, key: isLost && kind === 'create' ? null : key,
      outcome: isLost ? 'unknown' : this.#outcome(refusal), refusal: isLost ? null : refusal,
    });
  }

  #outcome(refusal: Write['refusal']): Write['outcome'] {
    return refusal === null ? 'ok' : 'refused';
  }

  #commit(kind: Write['kind'], key: string, token: string, name: string | null): void {
    const sequence = this.#log.length + 1;
    const isDeleted = kind === 'delete';
    const event = {
      sequence, key, token: isDeleted ? null : token, bytes: isDeleted ? '' : `{"${token}"}`,
    };
    this.#log.push({ ...event, atMs: this.#nowMs });
    if (name !== null) this.#names.set(name, key);
    if (isDeleted) {
      this.#current.delete(key);
      for (const [held, by] of this.#names) if (by === key) this.#names.delete(held);
      return;
    }
    this.#current.set(key, event);
    const attempts = this.#tell('/', key, token, this.#nowMs);
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      this.#deliveries.push({
        delivery: `/ of ${token}`, sequence: sequence + attempt, attempts: attempt,
        isFinal: attempt === attempts,
      });
    }
    if (this.#missed === null) this.#tell('/late', key, token, this.#nowMs);
    else {
      this.#missed.push({ key, token });
      if (this.#missed.length === MISSED) this.#makeLate(this.#missed);
    }
  }

  /** Makes one or two attempts, after what the receiver was told of that key. */
  #tell(hook: string, key: string, token: string, atMs: number): number {
    const attempts = 1 + below(this.#random, 2);
    const lane = `${hook} ${key}`;
    const fromMs = Math.max(atMs, this.#toldMs.get(lane) ?? 0);
    this.#toldMs.set(lane, fromMs + 1.5 * ATTEMPT_MS * attempts + ATTEMPT_MS);
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const beginMs = fromMs + 1.5 * ATTEMPT_MS * attempt;
      const endMs = beginMs + ATTEMPT_MS;
      this.#attempts.push({ delivery: `${hook} of ${token}`, hook, token, beginMs, endMs });
    }
    return attempts;
  }

  #makeLate(missed: readonly { readonly key: string; readonly token: string }[]): void {
    this.#missed = null;
    const endMs = this.#nowMs + this.#random() * 100;
    this.#late = { hook: '/late', beginMs: this.#nowMs - this.#random() * 10, endMs };
    for (const { key, token } of missed) this.#tell('/late', key, token, endMs);
  }

  #emit(): void {
    const token = `event-${this.#emissions.length}`;
    const key = `key-${below(this.#random, KEYS)}`;
    const isDelayed = below(this.#random, 2) === 0;
    const isLost = below(this.#random, 12) === 0;
    const isDone = !isLost || below(this.#random, 2) === 0;
    const beginMs = this.#nowMs - this.#random() * 15;
    const endMs = isLost ? Infinity : this.#nowMs + this.#random() * 15;
    const delayMs = isDelayed ? this.#random() * 400 : 0;
    const atMs = this.#nowMs + delayMs + this.#random() * (isDelayed ? BEGIN_MS : 0);
    const mayCancel = isDelayed && !isLost && below(this.#random, 2) === 0;
    const cancellation = mayCancel ? this.#cancel(endMs, atMs) : null;
    if (isDone && (cancellation?.endMs ?? Infinity) > atMs) this.#due.push({ atMs, key, token });
    this.#emissions.push({
      node: this.#node(), beginMs, endMs, outcome: isLost ? 'unknown' : 'ok', token, key,
      isDelayed, dueFromMs: beginMs + delayMs,
      dueToMs: endMs + delayMs + (isDelayed ? BEGIN_MS : 0), cancellation,
    });
  }

  /** Before or after the event begins, which ends it or is refused. */
  #cancel(fromMs: number, atMs: number): Cancellation {
    const beginMs = fromMs + this.#random() * 400;
    const isTooLate = beginMs + 1 >= atMs;
    return {
      beginMs, endMs: beginMs + 1, outcome: isTooLate ? 'refused' : 'ok',
      refusal: isTooLate ? 'begun' : null,
    };
  }

  #records(): History['records'] {
    const tokens = new Map(this.#attempts.map(({ delivery, hook, token }) =>
      [delivery, { delivery, hook, event: token, isDelivered: true }]));
    return [...tokens.values()];
  }

  #read(isFresh: boolean): void {
    const node = this.#node();
    const knownMs = this.#nowMs - this.#random() * STALE_MS;
    const known = this.#log.filter(({ atMs }) => atMs <= knownMs);
    const prefix = isFresh || this.#isBehind(node, known.length) ? this.#log : known;
    const seen = new Map<string, string | null>();
    for (const { key, token } of prefix) seen.set(key, token);
    const keys = [...new Set(this.#log.map(({ key }) => key))];
    const chosen = keys.filter(() => below(this.#random, 8) === 0);
    this.#reads.push({
      node, beginMs: this.#nowMs, endMs: this.#nowMs + this.#random() * 5,
      values: new Map(chosen.map((key) => [key, seen.get(key) ?? null])),
      atLeast: isFresh ? this.#log.length : null,
    });
    this.#floors.set(node, prefix.length);
  }

  readonly #floors = new Map<string, number>();

  /** A node never goes back behind what it has shown, or acknowledged. */
  #isBehind(node: string, length: number): boolean {
    const own = this.#writes.filter((write) => write.node === node).map(({ sequence }) => sequence);
    return length < Math.max(this.#floors.get(node) ?? 0, ...own.map((sequence) => sequence ?? 0));
  }

  #image(node: string): void {
    const records = new Map([...this.#current].map(([key, { token, bytes }]) =>
      [key, { token: token ?? '', bytes }]));
    this.#images.push({
      node, beginMs: this.#nowMs, endMs: this.#nowMs + 1, sequence: this.#log.length, records,
    });
  }

  #node(): string {
    return NODES[below(this.#random, NODES.length)] ?? 'a';
  }
}
