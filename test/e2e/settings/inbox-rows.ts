/** What each setting of the inbox changes. */
import { until } from '../../support/until.ts';
import type { Place } from './place.ts';
import { comesTrue } from './relay-rows.ts';
import type { Rows } from './row.ts';

const ACCEPTED = { inbox: 'all', answer: 'accepted' };

const statuses = async (place: Place): Promise<readonly string[]> =>
  (JSON.parse((await place.ask('/api/requests')).text) as { readonly status: string }[])
    .map(({ status }) => status);

/** Whether the failed one of three requests is left when one has to go. */
const keepsFailed = (targetStatuses: readonly number[]) => async (
  place: Place,
): Promise<boolean> => {
  await place.hookTo(place.target.url, { inbox: 'all' });
  for (const status of targetStatuses) {
    place.target.status = status;
    await place.callHook();
  }
  await until('one has gone', async () => (await statuses(place)).length <= 2);
  return (await statuses(place)).includes('failed');
};

/** What two requests are answered that stay pending. */
const acceptTwo = async (place: Place): Promise<readonly number[]> => {
  place.target.status = 503;
  await place.hookTo(place.target.url, ACCEPTED);
  const body = { long: 'x'.repeat(10_000) };
  return [(await place.callHook()).status, (await place.callHook({ body })).status];
};

const TWO = { 'inbox.maxCount': 2 };

/** The status of a request whose every run fails, and how often it has run. */
const runs = async (place: Place): Promise<unknown> => {
  place.target.status = 503;
  await place.hookTo(place.target.url, ACCEPTED);
  await place.callHook();
  const look = async (): Promise<{ readonly status: string; readonly count: number }> => {
    const [request] = JSON.parse((await place.ask('/api/requests')).text);
    return { status: request.status, count: request.routes[0].attempts.length };
  };
  await until('it has run once', async () => (await look()).count > 0);
  await comesTrue(async () => (await look()).status === 'failed');
  return look();
};

/** Whether the target had to do with several of four requests at once. */
const runsSeveral = async (place: Place): Promise<boolean> => {
  place.target.delayMs = 100;
  await place.hookTo(place.target.url, ACCEPTED);
  await Promise.all(Array.from({ length: 4 }, () => place.callHook()));
  await until('all have arrived', () => place.target.hits === 4);
  return place.target.mostAtOnce > 1;
};

/** How many of a delivery and a kept request reach the target, soon. */
const arrivals = async (place: Place): Promise<number> => {
  await place.make('/api/outgoing-webhooks',
    { targetUrl: place.target.url, triggerEvent: 'it' });
  await place.ask('/api/events', { method: 'POST', body: { name: 'it', payload: {} } });
  await place.hookTo(place.target.url, ACCEPTED);
  await place.callHook();
  await comesTrue(async () => place.target.hits === 2);
  return place.target.hits;
};

export const INBOX_ROWS: Rows = {
  'server.paused': { value: true, observe: arrivals, changed: 0, standard: 2 },
  'incoming.retrySchedule': {
    value: [0.05], observe: runs, changed: { status: 'failed', count: 2 },
    standard: { status: 'pending', count: 1 },
  },
  'incoming.maxInFlightPerHook': {
    value: 1, observe: runsSeveral, changed: false, standard: true,
  },
  'inbox.retentionDays': {
    value: 0, beside: TWO, observe: keepsFailed([503, 200, 200]), changed: true, standard: false,
  },
  'inbox.failedRetentionDays': {
    value: 0, beside: TWO, observe: keepsFailed([200, 503, 200]), changed: false, standard: true,
  },
  'inbox.maxCount': { value: 1, observe: acceptTwo, changed: [200, 503], standard: [200, 200] },
  'inbox.maxBytes': {
    value: 5000, observe: acceptTwo, changed: [200, 413], standard: [200, 200],
  },
};
