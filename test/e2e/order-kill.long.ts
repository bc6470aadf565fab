/**
 * Real processes: deliveries and requests keep the order that their webhooks ask for, though the
 * target flaps and the server is killed with -9 again and again under load.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_LONG } from '../support/long.ts';
import { createRandom } from '../support/random.ts';
import type { FlappingTarget } from './relay-target.ts';
import { liveThroughKills, make, withRelay, type Survivor } from './survivor.ts';

const SEED = 20261124;
const OFFERS = IS_LONG ? 3000 : 500;
const KILLS = IS_LONG ? 10 : 3;
/** A connection sends one after the other, under a key of its own. */
const CONNECTIONS = 12;
const SCHEDULE = JSON.stringify(Array(100).fill(0.2));
const SETTINGS = {
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: SCHEDULE, HOOKSHELF_INCOMING_RETRY_SCHEDULE: SCHEDULE,
  HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000',
};
const BY_KEY = { key: 'payload.key' };
/** Where the target is told of what, in which order. */
const KEYED_PATHS = ['/event', '/keyed'];
const STRICT_PATHS = ['/all', '/strict'];

type Sent = { readonly key: number; readonly n: number };

async function makeWebhooks(server: Survivor, target: FlappingTarget): Promise<void> {
  const event = { triggerEvent: 'thing.*' };
  await make(server, '/api/outgoing-webhooks',
    { ...event, targetUrl: `${target.url}event`, order: BY_KEY });
  await make(server, '/api/outgoing-webhooks',
    { ...event, targetUrl: `${target.url}all`, order: 'strict' });
  for (const identifier of ['keyed', 'strict']) {
    await make(server, '/api/action-configurations', {
      identifier, actionType: 'http-forward', options: { url: `${target.url}${identifier}` },
    });
  }
  await make(server, '/api/incoming-webhooks', {
    pathSegment: 'inbox', inbox: 'all', answer: 'accepted', routes: [
      { name: 'keyed', actionConfiguration: 'keyed', order: BY_KEY },
      { name: 'strict', actionConfiguration: 'strict', order: 'strict' },
    ],
  });
}

/** Sends as an event and to the inbox what comes next of a key; what has an answer arrives. */
class Offers {
  readonly acknowledged = new Map<string, Sent[]>([['event', []], ['inbox', []]]);
  readonly #nextByKey = new Map<number, number>();
  readonly #server: Survivor;
  count = 0;

  constructor(server: Survivor) {
    this.#server = server;
  }

  async offerUntil(bound: number, key: number): Promise<void> {
    while (this.#server.isUp && this.count < bound) {
      this.count += 1;
      const sent = { key, n: this.#nextByKey.get(key) ?? 0 };
      this.#nextByKey.set(key, sent.n + 1);
      const [event, inbox] = [
        await this.#server.post('/api/events', { name: 'thing.x', payload: sent }),
        await this.#server.post('/webhook/in/inbox', sent),
      ];
      if (event === 202) this.acknowledged.get('event')?.push(sent);
      if (inbox === 200) this.acknowledged.get('inbox')?.push(sent);
    }
  }
}

function arrivedAt(target: FlappingTarget, path: string): Sent[] {
  return target.arrived.filter((arrival) => arrival.path === path)
    .map(({ body }): Sent => JSON.parse(body));
}

test('deliveries and requests keep their order, through kills and a flapping target', () =>
  withRelay(SETTINGS, async (server, target) => {
    await makeWebhooks(server, target);
    const offers = new Offers(server);
    await liveThroughKills(server, target, offers,
      { bound: OFFERS, kills: KILLS, connections: CONNECTIONS, random: createRandom(SEED) });
    for (const what of ['deliveries', 'requests'] as const) {
      const { problems, pending, failed } = await server.drain(what);
      assert.deepEqual([problems, pending, failed], [[], 0, 0], what);
    }
    for (const path of [...KEYED_PATHS, ...STRICT_PATHS]) {
      const arrived = arrivedAt(target, path);
      assertInOrder(arrived, path);
      const all = offers.acknowledged.get(path === '/event' || path === '/all' ? 'event' : 'inbox');
      const texts = new Set(arrived.map((sent) => JSON.stringify(sent)));
      assert.deepEqual(all?.filter((sent) => !texts.has(JSON.stringify(sent))), [], path);
    }
    for (const path of STRICT_PATHS) assertTogether(arrivedAt(target, path), path);
    await server.stop('SIGTERM');
  }));

/** What has succeeded may come again, as nobody heard of it, but not after a later one. */
function assertInOrder(arrived: readonly Sent[], path: string): void {
  const last = new Map<number, number>();
  for (const { key, n } of arrived) {
    assert.ok(n >= (last.get(key) ?? -1), `${path}: ${n} of ${key} came after ${last.get(key)}`);
    last.set(key, n);
  }
}

/** In strict order all repetitions of one stand together. */
function assertTogether(arrived: readonly Sent[], path: string): void {
  const seen = new Set<string>();
  let before = '';
  for (const sent of arrived.map((one) => JSON.stringify(one))) {
    assert.ok(sent === before || !seen.has(sent), `${path}: ${sent} came again after ${before}`);
    seen.add(sent);
    before = sent;
  }
}
