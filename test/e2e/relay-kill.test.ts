/**
 * Real processes: what was acknowledged arrives, though the target flaps and the server is killed
 * with -9 twice, in a long run a dozen times. Events, changes of books and
 * queued forwards come in at once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_LONG } from '../support/long.ts';
import { createRandom } from '../support/random.ts';
import { isSigned, type FlappingTarget } from './relay-target.ts';
import { liveThroughKills, make, withRelay, type Post } from './survivor.ts';

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
