/**
 * Who may start next. A lane is one hook's deliveries (or one host's queued forwards); lanes take
 * turns, within bounds for all, for a lane and for a host. No I/O and no time.
 *
 * A host earns its share: each answer lets one more attempt run beside the others (a few, while it
 * is slow), and each time there is none halves that. Hosts that have not answered soon last time
 * (or ever) may together hold half of all attempts, so that targets that are dead or slow never
 * hold up those that are well.
 */
import { Heap } from './priority-queue.ts';
import { Line } from './ordered-queue.ts';

/** `gone`: finished or removed; it is dropped where it is met. */
export type EntryState = 'waiting' | 'ready' | 'running' | 'gone';

export type Entry = {
  readonly id: string;
  readonly lane: Lane;
  dueAtMs: number;
  state: EntryState;
};

export type Lane = {
  readonly key: string;
  readonly ready: Line<Entry>;
  /** Every entry in order of creation, where order is strict. */
  readonly all: Heap<Entry> | null;
  host: Host;
  /** False: what it holds waits. */
  isOpen: boolean;
  inFlight: number;
  /** Entries that are not gone. */
  size: number;
};

export type Host = {
  readonly name: string;
  readonly parked: Set<Lane>;
  inFlight: number;
  allowance: number;
  isTrusted: boolean;
  /** Left alone for a while. */
  isPaused: boolean;
  lanes: number;
};

/** What an attempt says of its host; null when it says nothing. */
export type Verdict = 'well' | 'slow' | 'dead' | null;

/** What is under way; to be handed back. The host is the one it began with. */
export type Ticket = { readonly entry: Entry; readonly host: Host };

const FIRST_ALLOWANCE = 4;
const SLOW_ALLOWANCE_MAX = 8;
/** What is known of so many hosts is kept while they are idle. */
const HOSTS_MAX = 1000;

export class Lanes {
  readonly #inFlightMax: number;
  readonly #inFlightPerLaneMax: number;
  readonly #untrustedMax: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #hosts = new Map<string, Host>();
  /** Lanes that may be able to start, in order of turn. */
  readonly #runnable = new Set<Lane>();
  /** Lanes that wait until fewer attempts at untrusted hosts are under way. */
  readonly #parked = new Set<Lane>();
  #inFlight = 0;
  #untrustedInFlight = 0;

  constructor(options: { readonly inFlightMax: number; readonly inFlightPerLaneMax: number }) {
    this.#inFlightMax = options.inFlightMax;
    this.#inFlightPerLaneMax = options.inFlightPerLaneMax;
    this.#untrustedMax = Math.max(1, Math.floor(options.inFlightMax / 2));
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  find(key: string): Lane | undefined {
    return this.#lanes.get(key);
  }

  hosts(): Iterable<Host> {
    return this.#hosts.values();
  }

  /** The lane of that key, made when there is none. */
  open(key: string, hostName: string, isOpen: boolean): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const isStrict = this.#inFlightPerLaneMax === 1;
    const lane: Lane = {
      key, ready: new Line(isOlder), all: isStrict ? new Heap(isOlder) : null,
      host: this.#enter(hostName), isOpen, inFlight: 0, size: 0,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  /** Says where a lane goes now, and whether it may. */
  update(lane: Lane, hostName: string, isOpen: boolean): void {
    if (lane.host.name !== hostName) {
      lane.host.parked.delete(lane);
      this.#leave(lane.host);
      lane.host = this.#enter(hostName);
    }
    lane.isOpen = isOpen;
    this.#runnable.add(lane);
  }

  add(id: string, lane: Lane, dueAtMs: number): Entry {
    const entry: Entry = { id, lane, dueAtMs, state: 'waiting' };
    lane.all?.push(entry);
    lane.size += 1;
    return entry;
  }

  makeReady(entry: Entry): void {
    entry.state = 'ready';
    entry.lane.ready.push(entry);
    this.#runnable.add(entry.lane);
  }

  remove(entry: Entry): void {
    if (entry.state === 'gone') return;
    entry.state = 'gone';
    entry.lane.size -= 1;
    this.#runnable.add(entry.lane);
    this.#dropIfIdle(entry.lane);
  }

  /** The next entry to start, marked as running; null when none may. */
  next(): Ticket | null {
    while (this.#inFlight < this.#inFlightMax) {
      const [lane] = this.#runnable;
      if (lane === undefined) return null;
      this.#runnable.delete(lane);
      const { host } = lane;
      if (!this.#canStart(lane)) {
        this.#unpark(host);
      } else if (host.isPaused || host.inFlight >= host.allowance) {
        host.parked.add(lane);
      } else if (!host.isTrusted && this.#untrustedInFlight >= this.#untrustedMax) {
        this.#parked.add(lane);
      } else {
        const entry = lane.ready.pop();
        if (entry !== undefined) return this.#start(entry, host);
      }
    }
    return null;
  }

  /** The attempt is over. */
  release({ entry, host }: Ticket, verdict: Verdict): void {
    const { lane } = entry;
    lane.inFlight -= 1;
    host.inFlight -= 1;
    this.#inFlight -= 1;
    if (!host.isTrusted) this.#untrustedInFlight -= 1;
    if (verdict !== null) this.#judge(host, verdict);
    this.#runnable.add(lane);
    this.#unpark(host);
    this.#unparkUntrusted();
    this.#dropIfIdle(lane);
    this.#dropHostIfIdle(host);
  }

  pause(host: Host): void {
    host.isPaused = true;
  }

  resume(host: Host): void {
    host.isPaused = false;
    this.#unpark(host);
  }

  #start(entry: Entry, host: Host): Ticket {
    const { lane } = entry;
    entry.state = 'running';
    lane.inFlight += 1;
    host.inFlight += 1;
    this.#inFlight += 1;
    if (!host.isTrusted) this.#untrustedInFlight += 1;
    this.#runnable.add(lane);
    return { entry, host };
  }

  #canStart(lane: Lane): boolean {
    if (!lane.isOpen || lane.inFlight >= this.#inFlightPerLaneMax) return false;
    dropWhile(lane.ready, (entry) => entry.state !== 'ready');
    const first = lane.ready.peek();
    if (first === undefined) return false;
    if (lane.all === null) return true;
    dropWhile(lane.all, (entry) => entry.state === 'gone');
    return lane.all.peek() === first;
  }

  #judge(host: Host, verdict: 'well' | 'slow' | 'dead'): void {
    const isWell = verdict === 'well';
    if (host.isTrusted !== isWell) {
      this.#untrustedInFlight += isWell ? -host.inFlight : host.inFlight;
      host.isTrusted = isWell;
    }
    const most = isWell ? this.#inFlightMax : Math.min(SLOW_ALLOWANCE_MAX, this.#inFlightMax);
    host.allowance = verdict === 'dead'
      ? Math.max(1, host.allowance >> 1) : Math.min(host.allowance + 1, most);
  }

  #unpark(host: Host): void {
    let free = host.isPaused ? 0 : host.allowance - host.inFlight;
    for (const lane of host.parked) {
      if (free <= 0) return;
      free -= 1;
      host.parked.delete(lane);
      this.#runnable.add(lane);
    }
  }

  #unparkUntrusted(): void {
    let free = this.#untrustedMax - this.#untrustedInFlight;
    for (const lane of this.#parked) {
      if (free <= 0) return;
      free -= 1;
      this.#parked.delete(lane);
      this.#runnable.add(lane);
    }
  }

  #enter(name: string): Host {
    const host = this.#hosts.get(name) ?? {
      name, parked: new Set(), inFlight: 0, allowance: FIRST_ALLOWANCE, isTrusted: false,
      isPaused: false, lanes: 0,
    };
    this.#hosts.set(name, host);
    host.lanes += 1;
    return host;
  }

  #leave(host: Host): void {
    host.lanes -= 1;
    this.#dropHostIfIdle(host);
  }

  #dropIfIdle(lane: Lane): void {
    if (lane.size > 0 || lane.inFlight > 0 || this.#lanes.get(lane.key) !== lane) return;
    this.#lanes.delete(lane.key);
    this.#runnable.delete(lane);
    this.#parked.delete(lane);
    lane.host.parked.delete(lane);
    this.#leave(lane.host);
  }

  #dropHostIfIdle(host: Host): void {
    const isIdle = host.lanes === 0 && host.inFlight === 0;
    if (isIdle && this.#hosts.size > HOSTS_MAX) this.#hosts.delete(host.name);
  }
}

/** The key of a hook's lane. */
export function laneKey(hook: string): string {
  return `hook ${hook}`;
}

export function hookOfLane(key: string): string {
  return key.slice(laneKey('').length);
}

/** What a lane's deliveries come from, for the metrics: the hook, or `forward` for all others. */
export function sourceOfLane(key: string): string {
  return key.startsWith(laneKey('')) ? hookOfLane(key) : 'forward';
}

/** Identifiers rise with creation. */
function isOlder(left: Entry, right: Entry): boolean {
  return left.id < right.id;
}

function dropWhile(
  heap: Pick<Heap<Entry>, 'peek' | 'pop'>, isDropped: (entry: Entry) => boolean,
): void {
  for (let first = heap.peek(); first !== undefined && isDropped(first); first = heap.peek()) {
    heap.pop();
  }
}
