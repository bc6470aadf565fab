/**
 * A model of a node: an image fed by the engine's log, one append in flight, and the protocol's
 * answers to conflicts, lost connections and warnings. Each planted bug leaves one of them out.
 */
import { below } from '../../support/random.ts';
import type { Event, Follower } from '../checker/history.ts';
import type { Bug } from './bugs.ts';
import { Connection, Lost, chainOf } from './engine.ts';
import type { Change, Entry, Position } from './engine.ts';
import { ImageModel } from './image.ts';
import type { Answer, Passed, Prepare, Refused, Request, Staged, World } from './request.ts';

const BATCH_MAX = 6;
const UNDECIDED_MS = 400;
const RARELY_MS = 600;

export class NodeModel {
  readonly name: string;
  image = new ImageModel();
  readonly followers: Follower[] = [];
  isFrozen = false;
  readonly #world: World;
  #events: Event[] = [];
  #connection: Connection | null = null;
  #waiting: Request[] = [];
  #batches = 0;

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
    this.#follow();
    void this.#tail();
    void this.#write();
  }

  /** Resolves with the answer, in whatever time it takes. */
  ask(prepare: Prepare): Promise<Answer> {
    return new Promise((settle) => this.#waiting.push({ prepare, settle }));
  }

  /** Resolves once the process goes on. */
  async gate(): Promise<void> {
    while (this.isFrozen) await this.#world.clock.sleep(1);
  }

  async #write(): Promise<void> {
    for (;;) {
      await this.#world.clock.sleep(1);
      await this.gate();
      const requests = this.#waiting.splice(0, BATCH_MAX);
      if (requests.length > 0) await this.#commit(requests);
    }
  }

  async #commit(requests: readonly Request[]): Promise<void> {
    let kept: Staged | null = null;
    for (;;) {
      const staged: Staged = kept ?? await this.#stage(requests);
      const { passed, refused } = staged;
      if (this.#has('keep results after a conflict')) kept = { passed: staged.passed, refused: [] };
      const refuse = (): void => {
        for (const { request, refusal } of refused) {
          request.settle({ outcome: 'refused', refusal, sequence: null });
        }
      };
      if (passed.length === 0) return refuse();
      const entry = this.#entry(passed.map(({ change }) => change));
      if (this.#has('acknowledge before commit')) this.#acknowledge(passed, entry);
      const result = await this.#append(entry, requests);
      if (result === 'conflict') {
        await this.#retry(() => this.#catchUp());
        continue;
      }
      if (result === 'refused') {
        for (const { settle } of requests) {
          settle({ outcome: 'refused', refusal: 'unavailable', sequence: null });
        }
        return;
      }
      if (entry.first === this.image.position.sequence + 1) this.#applyOwn(entry);
      this.#acknowledge(passed, entry);
      return refuse();
    }
  }

  /** Who is refused is so by a state that is no older than its request. */
  async #stage(requests: readonly Request[]): Promise<Staged> {
    for (let isFresh = this.#has('refuse from an old image'); ; isFresh = true) {
      const staged = new ImageModel(this.image);
      const passed: Passed[] = [];
      const refused: Refused[] = [];
      for (const request of requests) {
        const result = request.prepare(staged);
        if (typeof result === 'string') refused.push({ request, refusal: result });
        else {
          staged.apply(result);
          passed.push({ request, change: result });
        }
      }
      if (refused.length === 0 || isFresh) return { passed, refused };
      await this.#retry(async () => {
        await this.#connected().then((connection) => connection.barrier());
        await this.#catchUp();
      });
    }
  }

  #entry(changes: readonly Change[]): Entry {
    const { sequence, chain } = this.image.position;
    this.#batches += 1;
    const batch = `${this.name}-${this.#batches}`;
    return {
      first: sequence + 1, sequence: sequence + changes.length, batch, changes,
      chain: chainOf(chain, batch, changes),
    };
  }

  #acknowledge(passed: readonly Passed[], { first }: Entry): void {
    passed.forEach(({ request }, index) =>
      request.settle({ outcome: 'ok', refusal: null, sequence: first + index }));
  }

  async #append(
    entry: Entry, requests: readonly Request[],
  ): Promise<'committed' | 'conflict' | 'refused'> {
    const { position } = this.image;
    try {
      const result = await (await this.#connected()).append(position, entry);
      await this.gate();
      if (result !== 'warning') return result;
      if (this.#has('take a warning for success')) return 'committed';
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
    }
    if (this.#has('answer a lost connection as refused')) return 'refused';
    if (this.#has('resend as a new batch')) return 'conflict';
    let isOver = false;
    void this.#world.clock.sleep(UNDECIDED_MS).then(() => {
      if (isOver) return;
      for (const { settle } of requests) {
        settle({ outcome: 'unknown', refusal: null, sequence: null });
      }
    });
    const result = await this.#decide(position, entry);
    isOver = true;
    return result;
  }

  /** Whether an append whose answer was lost has been committed; it is sent again if not. */
  async #decide(position: Position, entry: Entry): Promise<'committed' | 'conflict'> {
    let result: 'committed' | 'conflict' | null = null;
    this.#connection = null;
    await this.#retry(async () => {
      const connection = await this.#connected();
      const isThere = async (): Promise<boolean> =>
        (await connection.read()).some(({ batch }) => batch === entry.batch);
      if (await isThere()) {
        result = 'committed';
        return;
      }
      const again = await connection.append(position, entry);
      if (again === 'warning') throw new Lost();
      // The first one may have been on its way still.
      result = again === 'conflict' && await isThere() ? 'committed' : again;
    });
    return result ?? 'conflict';
  }

  async #retry(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await this.gate();
        return await work();
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        this.#connection = null;
        await this.#world.clock.sleep(5);
      }
    }
  }

  async #connected(): Promise<Connection> {
    if (this.#connection !== null) return this.#connection;
    const connection = this.#world.engine.connect(this.name);
    if (!this.#has('drop the barrier') && !this.#has('drop the barrier and the chain check')) {
      await connection.barrier();
    }
    this.#connection = connection;
    return connection;
  }

  async #tail(): Promise<void> {
    for (;;) {
      const pauseMs = this.#has('follow too rarely') ? RARELY_MS : 5;
      await this.#world.clock.sleep(pauseMs + below(this.#world.random, 20));
      await this.#retry(() => this.#catchUp());
    }
  }

  async #catchUp(): Promise<void> {
    if (this.#has('tail a standby')) return this.#take(this.#world.engine.standbyLog());
    for (;;) {
      const connection = await this.#connected();
      const log = await connection.read();
      // What a connection showed that was given up since needs another barrier.
      if (connection === this.#connection) return this.#take(log);
    }
  }

  /** Applies what follows our position; where it does not follow, begins from a snapshot. */
  async #take(log: readonly Entry[]): Promise<void> {
    await this.gate();
    const { sequence, chain } = this.image.position;
    const own = log.find((entry) => entry.sequence === sequence);
    const isOn = sequence === 0 || own?.chain === chain;
    if (this.#has('drop the barrier and the chain check')) {
      const head = log.at(-1) ?? { sequence: 0, chain: '' };
      this.image.position = own ?? (head.sequence < sequence ? head : this.image.position);
    } else if (!isOn) {
      // Read anew: an answer to an earlier question lacks what was applied since.
      return this.#has('tail a standby') ? undefined : this.#check();
    }
    const { floor } = this.#world.engine;
    for (const entry of log) {
      if (entry.sequence <= this.image.position.sequence) continue;
      if (entry.first <= floor) {
        if (this.#has('skip what was trimmed')) continue;
        return this.#reload(log);
      }
      if (this.#has('apply a batch in pieces, last first')) await this.#applyInPieces(entry);
      else this.#apply(entry);
    }
  }

  async #check(): Promise<void> {
    const { position } = this.image;
    const log = await (await this.#connected()).read();
    if (this.image.position !== position) return;
    const own = log.find(({ sequence }) => sequence === position.sequence);
    if (own?.chain !== position.chain) this.#reload(log);
  }

  #reload(log: readonly Entry[]): void {
    this.image = new ImageModel();
    for (const { changes, sequence, chain } of log) {
      for (const change of changes) this.image.apply(change);
      this.image.position = { sequence, chain };
    }
    this.#follow();
  }

  #follow(): void {
    this.#events = [];
    const from = this.image.position.sequence;
    this.followers.push({ node: this.name, from, events: this.#events });
  }

  #applyOwn(entry: Entry): void {
    const before = this.image.position;
    this.#apply(entry);
    if (this.#has('apply an entry twice') && below(this.#world.random, 4) === 0) {
      this.image.position = before;
    }
  }

  #apply({ first, sequence, chain, changes }: Entry): void {
    changes.forEach((change, index) => this.#applyChange(change, first + index));
    this.image.position = { sequence, chain };
  }

  async #applyInPieces({ first, sequence, chain, changes }: Entry): Promise<void> {
    for (let index = changes.length - 1; index >= 0; index -= 1) {
      const change = changes[index];
      if (change !== undefined) this.#applyChange(change, first + index);
      await this.#world.clock.sleep(4);
    }
    if (sequence > this.image.position.sequence) this.image.position = { sequence, chain };
  }

  #applyChange(change: Change, sequence: number): void {
    this.image.apply(change);
    if (change.kind !== 'put' && change.kind !== 'delete') return;
    const token = change.kind === 'put' ? change.token : null;
    this.#events.push({ sequence, key: change.key, token, bytes: token ?? '' });
  }

  #has(bug: Bug): boolean {
    return this.#world.bug === bug;
  }
}
