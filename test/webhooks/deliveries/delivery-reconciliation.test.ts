/** What stands beside events and deliveries has them, and the other way round. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulation } from './sending/simulation.ts';

const EVENT = '019ab000-0000-7000-8000-000000000001';
const DELIVERY = '019ab000-0000-7000-8000-000000000002';
const JOB = '019ab000-0000-7000-8000-000000000003';
const LATER = '2026-01-01T01:00:00.000Z';

type Records = readonly (readonly [collection: string, id: string, json: string])[];

const delayedEvent = (more = ''): Records[number] => ['events', EVENT,
  `{"identifier":"${EVENT}","createdAt":"2026-01-01T00:00:00.000Z","name":"thing.happened",`
  + `"source":"api","depth":1,"deliverAt":"${LATER}"${more},"hooks":[],"payload":{}}`];
const entry: Records[number] =
  ['delayed-events', EVENT, `{"identifier":"${EVENT}","deliverAt":"${LATER}"}`];
const lateDeliveries: Records[number] = ['event-receivers', EVENT,
  `{"identifier":"${EVENT}","deliveries":["${DELIVERY}"],"hooks":["h1"]}`];
const hold: Records[number] = ['backfills', 'h1', `{"identifier":"h1","job":"${JOB}"}`];
const job = (status: string): Records[number] => ['jobs', JOB, JSON.stringify({
  id: JOB, kind: 'unknown', status, hook: 'h1', total: 1, done: 0, failed: 0, after: null, upTo: '',
  filter: {},
})];

const CASES: readonly (readonly [what: string, records: Records, problems: readonly string[]])[] = [
  ['a delayed event', [delayedEvent(), entry], []],
  ['one that has begun, by a clock that was ahead', [delayedEvent(), lateDeliveries], []],
  ['a send to one webhook, which has its delivery', [delayedEvent(',"to":"h1"')], []],
  ['a delayed event that nothing will begin', [delayedEvent()],
    [`event ${EVENT} is to begin at ${LATER}, and nothing will begin it`]],
  ['an entry without its event', [entry], [`delayed event ${EVENT} has lost its payload`]],
  ['late deliveries without their event', [lateDeliveries],
    [`the late deliveries of event ${EVENT} have lost it`]],
  ['a backfill', [hold, job('running')], []],
  ['a hold without its job', [hold],
    [`the deliveries of webhook h1 wait for job ${JOB}, which does not run`]],
  ['a hold of a job that has ended', [hold, job('done')],
    [`the deliveries of webhook h1 wait for job ${JOB}, which does not run`]],
];
for (const [what, records, expected] of CASES) {
  test(`the reconciliation ${expected.length === 0 ? 'accepts' : 'finds'} ${what}`, async () => {
    const simulation = new Simulation();
    await simulation.run(simulation.store.transact((transaction) => {
      for (const [collection, id, json] of records) transaction.put(collection, id, json);
    }));
    const { problems, isReconciled } = 
      await simulation.run(simulation.webhooks.deliveries.reconcile());
    assert.deepEqual([problems, isReconciled], [expected, expected.length === 0]);
  });
}

test('reconciliation accepts a delayed event past its time: nobody may have heard it', async () => {
  const simulation = new Simulation();
  simulation.clock.standStill(2 * 3_600_000);
  await simulation.run(simulation.store.transact((transaction) =>
    transaction.put(...delayedEvent())));
  const { problems } = await simulation.run(simulation.webhooks.deliveries.reconcile());
  assert.deepEqual(problems, []);
});
