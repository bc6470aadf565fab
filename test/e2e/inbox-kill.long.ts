/**
 * Real processes: what was answered with 200 is done, though the target flaps, the server is killed
 * with -9 again and again under load, and the sender sends again what got no answer.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { IS_LONG } from '../support/long.ts';
import { createRandom, type Random } from '../support/random.ts';
import { MOODS, type FlappingTarget } from './relay-target.ts';
import { DRAIN_MS_MAX, make, withRelay, type Survivor } from './survivor.ts';

const SEED = 20261122;
const REQUESTS = IS_LONG ? 1500 : 400;
const KILLS = IS_LONG ? 10 : 3;
const CONNECTIONS = 24;
const ROUTES = ['first', 'second'];
const SETTINGS = {
  HOOKSHELF_INCOMING_RETRY_SCHEDULE: JSON.stringify(Array(100).fill(0.3)),
  HOOKSHELF_INCOMING_MAX_IN_FLIGHT_PER_HOOK: '32',
};

type Shown = { readonly id: string; readonly status: string; readonly eventId: string | null };

/** Sends numbered requests until each has its 200; some it sends again after that. */
class Sender {
  /** The requests that it was told, by number. */
  readonly answered = new Map<number, string>();
  readonly #server: Survivor;
  readonly #random: Random;
  #next = 0;
  readonly #again: number[] = [];

  constructor(server: Survivor, random: Random) {
    this.#server = server;
    this.#random = random;
  }

  /** What is answered, or waits for the next life. */
  get offered(): number {
    return this.#next;
  }

  async sendUntil(bound: number): Promise<void> {
    while (this.#server.isUp) {
      const n = this.#again.shift() ?? (this.#next < bound ? this.#next++ : null);
      if (n === null) return;
      await this.#send(n);
      if (this.#random() < 0.05) await this.#send(n);
    }
  }

  async #send(n: number): Promise<void> {
    // Some have a body that is kept in a record of its own.
    const body = JSON.stringify({ n, text: 'x'.repeat(n % 10 === 0 ? 20_000 : n % 500) });
    const headers = { 'x-event-id': `event-${n}` };
    const { status, text } = await this.#server.call('/webhook/in/inbox', body, headers);
    if (status !== 200) return void this.#again.push(n);
    const { success, data } = JSON.parse(text);
    assert.equal(success, true);
    this.answered.set(n, this.answered.get(n) ?? String(data.request));
  }
}

async function makeWebhook(server: Survivor, target: FlappingTarget): Promise<void> {
  for (const name of ROUTES) {
    await make(server, '/api/action-configurations', {
      identifier: name, actionType: 'http-forward', options: { url: `${target.url}${name}` },
    });
  }
  await make(server, '/api/incoming-webhooks', {
    pathSegment: 'inbox', inbox: 'all', answer: 'accepted', deduplicate: { header: 'x-event-id' },
    routes: ROUTES.map((name) => ({ name, actionConfiguration: name })),
  });
}

/** How often each route of each request has succeeded at the target. */
function successes({ arrived }: FlappingTarget): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path, headers } of arrived) {
    const key = `${String(headers['x-hookshelf-request'])} ${path.slice(1)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** What is done by its record, with how often it had succeeded then. */
class Recorded {
  readonly #counts = new Map<string, number>();

  /** How many these are by now. */
  async look(server: Survivor, target: FlappingTarget): Promise<number> {
    const done = await server.list<Shown>('/api/requests?status=done');
    const counts = successes(target);
    for (const key of done.flatMap(({ id }) => ROUTES.map((route) => `${id} ${route}`))) {
      if (!this.#counts.has(key)) this.#counts.set(key, counts.get(key) ?? 0);
    }
    return this.#counts.size;
  }

  /** What has succeeded again since it was seen to be done. */
  repeated(target: FlappingTarget): string[] {
    const counts = successes(target);
    return [...this.#counts].filter(([key, count]) => counts.get(key) !== count)
      .map(([key]) => key);
  }
}

test('what was answered with 200 is done, through kills and a flapping target', () =>
  withRelay(SETTINGS, async (server, target) => {
    await makeWebhook(server, target);
    const random = createRandom(SEED);
    const sender = new Sender(server, random);
    const recorded = new Recorded();
    for (let life = 0; life <= KILLS; life += 1) {
      const isLast = life === KILLS;
      const share = REQUESTS / (KILLS + 1);
      const bound = Math.round(share * (life + 1));
      await target.turn(isLast ? 'up' : MOODS[life % MOODS.length] ?? 'up');
      const sending =
        Promise.all(Array.from({ length: CONNECTIONS }, () => sender.sendUntil(bound)));
      if (isLast) {
        await sending;
        break;
      }
      const killAt = bound - share * (0.1 + 0.6 * random());
      await until('it is time to kill', () => sender.offered >= killAt, { msMax: DRAIN_MS_MAX });
      // In the first life the target is well, and later on there are some.
      await until('some are done', async () => await recorded.look(server, target) > 0);
      await server.stop('SIGKILL');
      await sending;
      await server.start();
    }
    const totals = await server.drain('requests');
    assert.deepEqual([totals['problems'], totals['pending'], totals['failed']], [[], 0, 0]);
    await checkAnswered(server, target, sender);
    assert.deepEqual(recorded.repeated(target), [], 'what was recorded as done ran again');
    await server.stop('SIGTERM');
  }));

/** Every 200 is on record, is done, and has reached both targets with what it sent. */
async function checkAnswered(
  server: Survivor, target: FlappingTarget, { answered }: Sender,
): Promise<void> {
  assert.equal(answered.size, REQUESTS, 'the sender was told 200 of each in the end');
  const shown = await server.list<Shown>('/api/requests');
  const statuses = new Map(shown.map(({ id, status }) => [id, status]));
  const undone = [...answered.values()].filter((id) => statuses.get(id) !== 'done');
  assert.deepEqual(undone, []);
  const first = shown.filter(({ status }) => status === 'done').map(({ eventId }) => eventId);
  assert.equal(first.length, REQUESTS, 'what the sender sent again is a duplicate');
  assert.equal(new Set(first).size, REQUESTS);
  assert.ok(shown.some(({ status }) => status === 'duplicate'));
  const numbers = new Map(ROUTES.map((name) => [`/${name}`, new Set<number>()]));
  for (const { path, body } of target.arrived) numbers.get(path)?.add(JSON.parse(body).n);
  for (const found of numbers.values()) assert.equal(found.size, REQUESTS);
}
