/**
 * Real processes: what was acknowledged arrives, though the target flaps and the server is killed
 * with -9 twice, in a long run a dozen times. Events, changes of books and
 * queued forwards come in at once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { IS_LONG } from '../support/long.ts';
import { createRandom } from '../support/random.ts';
import { isSigned, MOODS, type FlappingTarget } from './relay-target.ts';
import { DRAIN_MS_MAX, liveThroughKills, make, withRelay, type Post } from './survivor.ts';

const SEED = 20261120;
const SECRET = 'It\'s a Secret to Everybody';
const ACCEPTED = new Set([200, 201, 202]);
const CONNECTIONS = 24;
const SETTINGS = {
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: JSON.stringify(Array(100).fill(0.3)),
  HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000',
};

const EVENTS = IS_LONG ? 5000 : 300;
const KILLS = IS_LONG ? 12 : 2;

/** The nth thing that is to arrive: three ways in, each with its own number in what it sends. */
function offer(post: Post, n: number): Promise<number> {
  if (n % 10 === 8) return post('/api/books', { title: `n${n}` });
  if (n % 10 === 9) return post('/webhook/in/later', { n });
  return post('/api/events', { name: 'order.paid', payload: { n, text: 'ünï'.repeat(n % 50) } });
}

function numberIn(body: string): number {
  const sent = JSON.parse(body);
  return sent.type === 'book.created' ? Number(sent.data.book.title.slice(1)) : sent.n;
}

test('what was acknowledged arrives, through kills and a flapping target', () =>
  withRelay(SETTINGS, async (server, target) => {
    const hook = { targetUrl: target.url, secret: SECRET };
    await make(server, '/api/outgoing-webhooks', { ...hook, triggerEvent: 'book.created' });
    await make(server, '/api/outgoing-webhooks', {
      ...hook, triggerEvent: 'order.*', payloadTemplate: '{"n":"{{ n }}","to":"<{{ text }}>"}',
    });
    await make(server, '/api/action-configurations', {
      identifier: 'later', actionType: 'http-forward',
      options: { url: `${target.url}forward`, mode: 'queue' },
    });
    await make(server, '/api/incoming-webhooks', {
      pathSegment: 'later', actionConfiguration: 'later',
    });
    const acknowledged = new Set<number>();
    const offers = {
      count: 0,
      async offerUntil(bound: number): Promise<void> {
        while (offers.count < bound && server.isUp) {
          const n = offers.count;
          offers.count += 1;
          if (ACCEPTED.has(await offer(server.post, n))) acknowledged.add(n);
        }
      },
    };
    await liveThroughKills(server, target, offers,
      { bound: EVENTS, kills: KILLS, connections: CONNECTIONS, random: createRandom(SEED) });
    const totals = await server.drain();
    const arrived = new Set(target.arrived.map(({ body }) => numberIn(body)));
    assert.deepEqual([...acknowledged].filter((n) => !arrived.has(n)), []);
    // What was under way at a kill got no answer; all else did.
    assert.ok(acknowledged.size >= EVENTS - KILLS * CONNECTIONS,
      `${acknowledged.size} of ${offers.count}`);
    assert.deepEqual([totals['problems'], totals['pending'], totals['failed']], [[], 0, 0]);
    assert.equal(totals['accepted'], totals['delivered']);
    assert.equal(totals['delivered'], arrived.size);
    checkWhatWasSent(target);
    await server.stop('SIGTERM');
  }));

/** One id has one body over all its attempts, one event one id, and every attempt is signed. */
function checkWhatWasSent({ arrived, bodiesById }: FlappingTarget): void {
  const changed = [...bodiesById].filter(([, bodies]) => bodies.size !== 1);
  assert.deepEqual(changed, []);
  const ids = new Map<number, string>();
  for (const arrival of arrived) {
    if (arrival.path === '/forward') continue;
    const n = numberIn(arrival.body);
    assert.equal(ids.get(n) ?? arrival.id, arrival.id, `event ${n} has two ids`);
    assert.ok(isSigned(arrival, SECRET), arrival.body);
    ids.set(n, arrival.id);
  }
}

const ORDERED = IS_LONG ? 400 : 100;
const ORDERED_KILLS = IS_LONG ? 4 : 1;
const ORDERED_SETTINGS = { ...SETTINGS, HOOKSHELF_OUTGOING_MAX_IN_FLIGHT_PER_HOOK: '1' };

test('with one at once, deliveries arrive in order of acknowledgement, whatever happens', () =>
  withRelay(ORDERED_SETTINGS, async (server, target) => {
    await make(server, '/api/outgoing-webhooks', { targetUrl: target.url, triggerEvent: 'n' });
    const acknowledged: number[] = [];
    const offerAll = async (bound: number): Promise<void> => {
      for (let n = acknowledged.length; n < bound; n = acknowledged.length) {
        // Without an answer it may or may not be accepted: the same number comes again.
        const status = await server.post('/api/events', { name: 'n', payload: { n } });
        if (status === 202) acknowledged.push(n);
        else return;
      }
    };
    for (let life = 0; life <= ORDERED_KILLS; life += 1) {
      const bound = Math.round(ORDERED / (ORDERED_KILLS + 1) * (life + 1));
      await target.turn(life === ORDERED_KILLS ? 'up' : MOODS[life] ?? 'up');
      const offering = offerAll(bound);
      if (life === ORDERED_KILLS) continue;
      await until('it is time to kill', () => acknowledged.length >= bound - 20,
        { msMax: DRAIN_MS_MAX });
      await server.stop('SIGKILL');
      await offering;
      await server.start();
    }
    await offerAll(ORDERED);
    const totals = await server.drain();
    const order = target.arrived.map(({ body }) => numberIn(body));
    const firsts = order.filter((n, index) => index === 0 || n !== order[index - 1]);
    assert.deepEqual(firsts, Array.from({ length: ORDERED }, (_, n) => n));
    assert.deepEqual([totals['problems'], totals['failed']], [[], 0]);
    await server.stop('SIGTERM');
  }));
