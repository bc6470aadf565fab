/** What a list of a customer costs, whatever others have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveriesOf, emit, inWorld, parse, parseList, type Ask } from '../support/customers.ts';
import { until } from '../support/until.ts';

const OTHERS = 250;
const EVENTS = 400;
/** Of each place and round: the median of all is compared, as the machine has other work too. */
const LOOKS = 15;
const ROUNDS = 8;

const PLACES = [
  '/api/deliveries?limit=50', '/api/deliveries?limit=50&order=newest',
  '/api/deliveries?limit=50&status=failed', '/api/deliveries?q=needle', '/api/events?limit=50',
  '/api/events?q=needle', '/api/outgoing-webhooks', '/api/jobs',
];

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

async function measure(askBound: Ask): Promise<ReadonlyMap<string, number>> {
  const times = new Map(PLACES.map((place) => [place, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [place, own] of times) {
      for (let look = 0; look < LOOKS; look += 1) {
        const startMs = performance.now();
        assert.equal((await askBound('GET', place)).status, 200);
        own.push(performance.now() - startMs);
      }
    }
  }
  return new Map([...times].map(([place, own]) => [place, median(own)]));
}

test('the lists of a customer cost what his own rows cost beside 100,000 deliveries of others',
  (context) => inWorld({
    acme: {},
    ...Object.fromEntries(Array.from({ length: OTHERS }, (_, index) => [`other-${index}`, {
      triggerEvent: 'other.*', targetUrl: 'http://127.0.0.1:9/', retrySchedule: [3600],
    }])),
  }, async ({ operator, customer }) => {
    for (let total = 0; total < 10; total += 1) {
      await emit(operator, 'order.paid', { payload: { total, text: 'needle' } });
    }
    const askAcme = await customer('read', 'acme');
    await measure(askAcme);
    const alone = await measure(askAcme);
    for (let index = 0; index < EVENTS; index += 1) {
      const { status } = await operator('POST', '/api/events', {
        name: 'other.done', payload: { text: 'needle' },
      });
      assert.equal(status, 202);
    }
    await until('all deliveries are there', async () => Number((await operator('GET',
      '/api/deliveries?limit=1')).headers['x-total-count']) === 10 + OTHERS * EVENTS);
    assert.equal((await deliveriesOf(operator, 'acme')).length, 10);
    await measure(askAcme);
    const beside = await measure(askAcme);
    const rows = PLACES.map((place) => {
      const [before, after] = [alone.get(place) ?? 0, beside.get(place) ?? 0];
      return { place, before: before.toFixed(2), after: after.toFixed(2), ratio: after / before };
    });
    const text = JSON.stringify(rows);
    context.diagnostic(text);
    assert.ok(rows.every(({ ratio }) => ratio < 2.5), text);
  }, { HOOKSHELF_OUTGOING_MAX_PENDING: '200000' }));

test('a foreign identifier is answered as fast as one that there is not', (context) =>
  inWorld({ acme: {}, bolt: {} }, async ({ operator, customer, ids }) => {
    await emit(operator, 'order.paid', { payload: 'x'.repeat(50_000) });
    const [foreign] = await deliveriesOf(operator, 'bolt');
    const askAcme = await customer('write', 'acme');
    const time = async (path: string): Promise<number> => {
      const startMs = performance.now();
      assert.equal((await askAcme('GET', path)).status, 404);
      return performance.now() - startMs;
    };
    for (const [path, foreignId] of [
      ['/api/deliveries/', String(foreign?.['identifier'])],
      ['/api/outgoing-webhooks/', ids['bolt'] ?? ''],
    ] as const) {
      const [ofForeign, ofMissing]: [number[], number[]] = [[], []];
      const missing = foreignId.replace(/.{12}$/, '0'.repeat(12));
      // In turns, so that other work of the machine counts for both, and so does who is first.
      for (let look = 0; look < 400; look += 1) {
        const [first, second] = look % 2 === 0 ? [foreignId, missing] : [missing, foreignId];
        const times = new Map([[first, await time(path + first)]]);
        times.set(second, await time(path + second));
        ofForeign.push(times.get(foreignId) ?? 0);
        ofMissing.push(times.get(missing) ?? 0);
      }
      const difference = Math.abs(median(ofForeign) - median(ofMissing));
      context.diagnostic(`${path} ${median(ofForeign)} ms, ${median(ofMissing)} ms`);
      // A tenth of a millisecond is less than a network tells apart.
      assert.ok(difference < 0.1, `${path}: ${difference} ms`);
    }
  }));

test('each of 500 customers sees his own of 500 webhooks', () => {
  const names = Array.from({ length: 500 }, (_, index) => `customer-${index}`);
  return inWorld(Object.fromEntries(names.map((name) => [name, {}])),
    async ({ operator, customer, ids }) => {
      const askers = new Map<string, Ask>();
      for (const name of names) askers.set(name, await customer('read', name));
      const event = await emit(operator, 'order.paid', { payload: {} });
      for (const [name, askBound] of askers) {
        const id = ids[name];
        const hooks = parseList(await askBound('GET', '/api/outgoing-webhooks'));
        assert.deepEqual(hooks.map(({ identifier }) => identifier), [id]);
        const deliveries = parseList(await askBound('GET', '/api/deliveries'));
        assert.deepEqual(deliveries.map(({ hook }) => hook), [id]);
        const { deliveries: named } = parse(await askBound('GET', `/api/events/${event}`));
        assert.deepEqual((named as readonly { hook: string }[]).map(({ hook }) => hook), [id]);
        const { hooks: counted } = parse(await askBound('GET', '/api/statistics'));
        assert.deepEqual((counted as readonly { hook: string }[]).map(({ hook }) => hook), [id]);
      }
    });
});
