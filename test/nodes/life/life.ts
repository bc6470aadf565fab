/**
 * A life of some nodes over one engine: clients write and read, a receiver is sent deliveries, a
 * test breaks things meanwhile; in the end everything is whole again, and the history is checked.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import { createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { check } from '../checker/check.ts';
import { EMPTY } from '../checker/history.ts';
import type { DeliveryRecord, History, Image, Span, Violation } from '../checker/history.ts';
import { EMITTED_NAME, Emitters } from './emitters.ts';
import type { EngineRig } from './engine-rigs.ts';
import { StreamFollower } from './follower.ts';
import { LateHooks, PATCHY } from './late-hooks.ts';
import { Receiver } from './receiver.ts';
import { nowMs, Shelf } from './shelf.ts';
import { Workload } from './workload.ts';

export type LifeOptions = {
  readonly rig: EngineRig;
  readonly seed: number;
  readonly nodes?: number;
  /** Outgoing webhooks, each of which is told of every put. */
  readonly hooks?: number;
  readonly writers?: number;
  readonly readers?: number;
  /** Without any there are no webhooks that are made late either. Default: none without writers. */
  readonly emitters?: number;
  readonly pauseMs?: number;
};

/** Webhooks of their own belong to shards of their own. */
const HOOKS = 4;
const EMITTERS = 3;
/** Webhooks that are told of emissions; the second in the order of their keys. */
const EMISSION_HOOKS = ['/emitted0', '/emitted1'];
const PAGE = 1000;
/**
 * The promise is 250 ms. On two cores three nodes, their engine and their clients are late now and
 * then: by up to 500 ms in all runs with other work beside them (a load of 18). With five such
 * lives at once it was a second, which is no fault of the program.
 */
const STALE_MS_MAX = 1000;
/** The longest pause between two attempts to connect, 2 s, and what connecting takes. */
const CATCH_UP_MS_MAX = 4000;
const WHOLE_MS_MAX = 120_000;
const DRAIN_MS_MAX = 120_000;
const LOOK_MS = 100;
const MARK_AGAIN_MS = 5000;

export class Life {
  readonly shelves: readonly Shelf[];
  readonly workload: Workload;
  readonly emitters: Emitters;
  /** Null without emitters. */
  readonly lateHooks: LateHooks | null;
  readonly receiver: Receiver;
  readonly random: Random;
  readonly rig: EngineRig;
  /** By how much the wall clock of a node is off: see `moveClock`. */
  clockOffMs = 0;
  readonly #directory: string;
  readonly #followers: StreamFollower[] = [];
  readonly #frozen: Span[] = [];
  readonly #hooks: readonly string[];

  private constructor(options: LifeOptions, directory: string, receiver: Receiver) {
    const { rig, nodes = 3, hooks = HOOKS, seed } = options;
    const { writers = 12, readers = 4, pauseMs = 20 } = options;
    const { emitters = writers === 0 ? 0 : EMITTERS } = options;
    this.rig = rig;
    this.#directory = directory;
    this.#hooks = Array.from({ length: hooks }, (_, index) => `/hook${index}`);
    this.receiver = receiver;
    this.random = createRandom(seed);
    this.shelves = Array.from({ length: nodes }, (_, index) => new Shelf({
      name: `node${index}`, directory: join(directory, `node${index}`),
      environment: {
        HOOKSHELF_OUTGOING_RETRY_SCHEDULE: JSON.stringify(Array(100).fill(0.3)),
        HOOKSHELF_OUTGOING_RETENTION_COUNT: '1000000', HOOKSHELF_HTTP_TIMEOUT: '5',
        ...rig.environment(index),
      },
    }));
    this.workload = new Workload(
      { shelves: this.shelves, random: this.random, writers, readers, pauseMs });
    const { shelves, random } = this;
    this.emitters = new Emitters({ shelves, random, emitters });
    this.lateHooks = emitters === 0 ? null
      : new LateHooks({ shelves, random, describe: (path) => this.#describeHook(path) });
  }

  static async start(options: LifeOptions): Promise<Life> {
    const directory = createTemporaryFolder();
    const receiver = await Receiver.start(createRandom(options.seed + 1));
    const life = new Life(options, directory, receiver);
    try {
      await life.#begin();
      return life;
    } catch (error) {
      await life.close();
      throw error;
    }
  }

  shelf(index: number): Shelf {
    const shelf = this.shelves[index];
    assert.ok(shelf !== undefined, `there is a node ${index}`);
    return shelf;
  }

  /** Does harm; resolves once all nodes that are up are ready again. */
  async disturb<T>(work: () => Promise<T>): Promise<T> {
    this.lateHooks?.makeLate();
    const result = await work();
    await Promise.all(this.shelves.filter(({ isUp }) => isUp).map((shelf) => shelf.ready()));
    return result;
  }

  /** The wall clock of a node is off from now on. */
  moveClock(ms: number): void {
    this.clockOffMs = Math.max(this.clockOffMs, Math.abs(ms));
    this.emitters.isClockOff = true;
  }

  /** Stops a node where it stands for so long. */
  async freeze(shelf: Shelf, ms: number): Promise<void> {
    const beginMs = nowMs();
    shelf.freeze();
    await delay(ms);
    shelf.thaw();
    this.#frozen.push({ node: shelf.name, beginMs, endMs: nowMs() });
  }

  /** Resolves once so many more writes were acknowledged. */
  async progress(writes: number): Promise<void> {
    const from = this.workload.done;
    await until(`${writes} more writes`, () => this.workload.done >= from + writes,
      { msMax: WHOLE_MS_MAX });
  }

  /** Nobody writes any more, and every node has applied all of it. */
  async settle(): Promise<void> {
    await Promise.all([this.workload.end(), this.emitters.end()]);
    for (const shelf of this.shelves) if (!shelf.isUp) await shelf.start();
    for (const shelf of this.shelves) await shelf.ready();
    await this.lateHooks?.end();
    await this.#tellAll();
    await this.#tellEmissions();
    await this.#drain();
  }

  /** The books that each node holds, settled. */
  async images(): Promise<Image[]> {
    const images: Image[] = [];
    for (const shelf of this.shelves) {
      images.push(await imageOf(shelf, '/api/books', 'id', 'title', this.#sequence));
    }
    return images;
  }

  /** Ends it, whole; resolves with what is wrong. */
  async end(): Promise<readonly Violation[]> {
    await this.settle();
    const { books, names } = await this.#gather();
    keep({ books, names });
    const surprises = [
      ...this.workload.surprises, ...this.emitters.surprises, ...this.lateHooks?.surprises ?? [],
    ];
    return [
      ...surprises.map((message): Violation => ({ rule: 'read', message })),
      ...check(books), ...check(names),
    ];
  }

  async close(): Promise<void> {
    this.lateHooks?.close();
    await Promise.all([this.workload.end(), this.emitters.end()]);
    for (const follower of this.#followers) follower.close();
    await Promise.all(this.shelves.map((shelf) => shelf.stop('SIGKILL')));
    this.receiver.close();
    await this.rig.close();
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }

  async #begin(): Promise<void> {
    for (const shelf of this.shelves) await shelf.startReady();
    const first = this.shelf(0);
    const make = async (path: string, body: unknown): Promise<void> => {
      const answer = await first.ask('POST', path, body);
      assert.ok(typeof answer !== 'string' && answer.status === 201, JSON.stringify(answer));
    };
    await make('/api/action-configurations', { identifier: 'to-log', actionType: 'log' });
    const hooks: Readonly<Record<string, unknown>>[] = this.#hooks.map((hook, index) => ({
      ...this.#describeHook(hook),
      order: isOrdered(index) ? { key: 'payload.data.book.id' } : 'none',
    }));
    if (this.lateHooks !== null) {
      hooks.push({ ...this.#describeHook(PATCHY), order: 'none', name: PATCHY.slice(1) });
      hooks.push(...EMISSION_HOOKS.map((hook, index) => ({
        ...this.#describeHook(hook), triggerEvents: [EMITTED_NAME], payloadTemplate: null,
        order: isOrdered(index) ? { key: 'key' } : 'none',
      })));
    }
    for (const hook of hooks) await make('/api/outgoing-webhooks', hook);
    for (const shelf of this.shelves) {
      await until(`${shelf.name} has all webhooks`, async () => {
        const answer = await shelf.ask('GET', '/api/outgoing-webhooks');
        if (typeof answer === 'string') return false;
        return answer.body.split('"identifier"').length > hooks.length;
      }, { msMax: WHOLE_MS_MAX });
      this.#followers.push(new StreamFollower(shelf));
    }
    this.workload.begin();
    this.emitters.begin();
    this.lateHooks?.begin();
  }

  /** Members of a webhook that is told of each put. */
  #describeHook(path: string): Readonly<Record<string, unknown>> {
    return {
      targetUrl: `http://127.0.0.1:${this.receiver.port}${path}`,
      triggerEvents: ['book.created', 'book.updated'], maxInFlight: 8,
      // What has none bears no id.
      secret: 'a secret of tests',
      payloadTemplate: '{"token":"{{ data.book.title }}"}',
    };
  }

  /** Resolves when every event was told that must be, or it is late beyond measure. */
  async #tellEmissions(): Promise<void> {
    const hooks = this.lateHooks === null ? [] : EMISSION_HOOKS;
    await until('all events to be told', () => {
      const told = new Set(this.receiver.attempts.map(({ hook, token }) => `${hook} ${token}`));
      return hooks.every((hook) =>
        this.emitters.dueTokens.every((token) => told.has(`${hook} ${token}`)));
    }, { msMax: DRAIN_MS_MAX }).catch(() => {
      // The checker says which.
    });
  }

  /** A write that is acknowledged: everything before it is decided. */
  async #mark(shelf: Shelf): Promise<void> {
    await until(`${shelf.name} takes writes`, async () => {
      const write = await this.workload.create(shelf);
      return write.outcome === 'ok';
    }, { msMax: WHOLE_MS_MAX });
  }

  async #drain(): Promise<void> {
    for (const shelf of this.shelves) {
      await until(`${shelf.name} has nothing left to deliver`, async () => {
        await delay(LOOK_MS);
        const answer = await shelf.ask('GET', '/api/deliveries?status=pending&limit=1');
        return typeof answer !== 'string' && answer.status === 200
          && answer.body.trim() === '[]';
      }, { msMax: DRAIN_MS_MAX });
    }
  }

  /** Resolves once each stream has told of a write at each node that nothing follows. */
  async #tellAll(): Promise<void> {
    let markedMs = -Infinity;
    await until('all streams to have come to the end', async () => {
      // A stream that has begun anew is not told of what was written before.
      if (nowMs() > markedMs + MARK_AGAIN_MS) {
        for (const shelf of this.shelves) await this.#mark(shelf);
        markedMs = nowMs();
      }
      await delay(LOOK_MS);
      const marks = this.workload.books.slice(-this.shelves.length).map(({ key }) => key ?? '');
      return this.#followers.every(({ followers }) =>
        marks.every((key) => followers.at(-1)?.events.some((event) => event.key === key)));
    }, { msMax: WHOLE_MS_MAX });
  }

  /** That was seen by anybody. */
  get #sequence(): number {
    const { workload: { sequence } } = this;
    return Math.max(sequence, ...this.#followers.map((one) => one.sequence));
  }

  /** When nodes had no engine: it was not there, or the way of one to it was broken. */
  #cuts(): Span[] {
    return this.shelves.flatMap(({ name: node }, index) => [
      ...this.rig.outages, ...this.rig.proxies(index).flatMap(({ outages }) => outages),
    ].map((outage) => ({ node, ...outage })));
  }

  async #gather(): Promise<{ readonly books: History; readonly names: History }> {
    const { workload, receiver } = this;
    const names: Image[] = [];
    for (const shelf of this.shelves) {
      names.push(await imageOf(
        shelf, '/api/incoming-webhooks', 'identifier', 'allowedMethods', this.#sequence));
    }
    const late = this.lateHooks?.late ?? [];
    const lateHooks = this.lateHooks === null ? [] : [PATCHY, ...late.map(({ hook }) => hook)];
    const emissionHooks = this.lateHooks === null ? [] : EMISSION_HOOKS;
    const base = {
      ...EMPTY, staleMsMax: STALE_MS_MAX, catchUpMsMax: CATCH_UP_MS_MAX, cuts: this.#cuts(),
      frozen: this.#frozen,
    };
    return {
      books: {
        ...base, writes: workload.books, reads: workload.reads, images: await this.images(),
        followers: this.#followers.flatMap(({ followers }) => followers),
        attempts: receiver.attempts.filter(({ token }) => token !== ''),
        hooks: [...this.#hooks, ...lateHooks], lateHooks: late,
        orderedHooks: [
          ...this.#hooks.filter((_, index) => isOrdered(index)), ...late.map(({ hook }) => hook),
        ],
        emissions: this.emitters.emissions, emissionHooks,
        orderedEmissionHooks: emissionHooks.filter((_, index) => isOrdered(index)),
        records: await recordsOf(this.shelf(0)), clockOffMs: this.clockOffMs,
        deliveries: this.#followers[0]?.deliveries ?? [],
      },
      names: { ...base, writes: workload.names, images: names },
    };
  }
}

/** Every other webhook keeps the order of each book. */
function isOrdered(index: number): boolean {
  return index % 2 === 1;
}

/** NODES_HISTORY names a folder for it, to look into when a promise was broken. */
function keep(histories: Readonly<Record<string, History>>): void {
  const folder = process.env.NODES_HISTORY;
  if (folder === undefined) return;
  const path = join(folder, `${process.pid}-${Math.round(nowMs())}.json`);
  writeFileSync(path, JSON.stringify(histories, (_, value: unknown) =>
    value instanceof Map ? { map: [...value] } : value === Infinity ? 'Infinity' : value));
}

async function imageOf(
  shelf: Shelf, path: string, key: string, member: string, sequence: number,
): Promise<Image> {
  const beginMs = nowMs();
  const answer = await shelf.ask('GET', path);
  assert.ok(typeof answer !== 'string' && answer.status === 200, `${path} of ${shelf.name}`);
  const found: unknown = JSON.parse(answer.body);
  assert.ok(Array.isArray(found));
  const records = new Map(found.map((record) => {
    const token = Array.isArray(record[member]) ? record[member][0] : record[member];
    return [String(record[key]), { token: String(token), bytes: JSON.stringify(record) }];
  }));
  return { node: shelf.name, beginMs, endMs: nowMs(), sequence, records };
}

/** All deliveries, as a node lists them. */
async function recordsOf(shelf: Shelf): Promise<readonly DeliveryRecord[]> {
  const records: DeliveryRecord[] = [];
  let path: string | undefined = `/api/deliveries?kind=webhook&limit=${PAGE}`;
  while (path !== undefined) {
    const answer = await shelf.ask('GET', path);
    assert.ok(typeof answer !== 'string' && answer.status === 200, `deliveries of ${shelf.name}`);
    const found: unknown = JSON.parse(answer.body);
    assert.ok(Array.isArray(found));
    records.push(...found.map(({ identifier, hook, eventId, status }): DeliveryRecord => ({
      delivery: String(identifier), hook: String(hook), event: String(eventId),
      isDelivered: status === 'delivered',
    })));
    const [, next] = /<([^>]+)>; rel="next"/.exec(String(answer.headers['link'] ?? '')) ?? [];
    path = next?.replace(/^https?:\/\/[^/]+/, '');
  }
  return records;
}
