/** What each setting of incoming and outgoing webhooks, events and actions changes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import type { Place } from './place.ts';
import type { Rows } from './row.ts';

const folder = createTemporaryFolder();
const action = join(folder, 'own.mjs');
writeFileSync(action, `export default class Own {
  static identifier() { return 'own-action'; }
  static label() { return 'Own'; }
  execute() { return { success: true, message: null, data: {} }; }
}`, { mode: 0o600 });

const listen = (place: Place, triggerEvent: string): Promise<string> =>
  place.make('/api/outgoing-webhooks', { targetUrl: place.target.url, triggerEvent });

const emit = async (place: Place, payload: unknown = {}): Promise<number> =>
  (await place.ask('/api/events', { method: 'POST', body: { name: 'it', payload } })).status;

type Shown = { readonly status: string; readonly attempts: readonly unknown[] };

const deliveries = async (place: Place): Promise<readonly Shown[]> =>
  JSON.parse((await place.ask('/api/deliveries')).text);

/** Emits an event and waits until its delivery was tried: the `count`th with that outcome. */
async function deliver(
  place: Place, outcome: 'delivered' | 'failed', count: number,
): Promise<void> {
  place.target.status = outcome === 'delivered' ? 200 : 500;
  await emit(place);
  const line = `hookshelf_delivery_attempts_total{outcome="${outcome}"} ${count}\n`;
  await until(`${count} ${outcome}`, async () => (await place.ask('/metrics')).text.includes(line));
}

/** Whether fewer than `count` of four delivered ones are left, soon. */
const keepsFewerThan = (count: number) => async (place: Place): Promise<boolean> => {
  await listen(place, 'it');
  for (const turn of [1, 2, 3, 4]) await deliver(place, 'delivered', turn);
  return comesTrue(async () => (await deliveries(place)).length < count);
};

/** Whether a failed one is gone, once a delivered one has had the old ones removed. */
const forgetsFailed = async (place: Place): Promise<boolean> => {
  await listen(place, 'it');
  await deliver(place, 'failed', 1);
  await deliver(place, 'delivered', 1);
  return comesTrue(async () => (await deliveries(place)).every(({ status }) =>
    status !== 'failed'));
};

/** Whether something that happens soon, if at all, does. */
export async function comesTrue(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 50; look += 1) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/** The most deliveries that the target had to do with at once. */
const mostAtOnce = async (place: Place): Promise<boolean> => {
  place.target.delayMs = 100;
  await listen(place, 'it');
  await Promise.all(Array.from({ length: 4 }, () => emit(place)));
  await until('all have arrived', () => place.target.hits === 4);
  return place.target.mostAtOnce > 1;
};

const pendingStatuses = async (place: Place): Promise<readonly number[]> => {
  place.target.status = 503;
  await listen(place, 'it');
  return [await emit(place), await emit(place, { long: 'x'.repeat(20_000) })];
};

/** The payloads of the events that are kept, newest first, of three that nobody hears. */
const keptPayloads = async (place: Place): Promise<readonly unknown[]> => {
  for (const payload of [1, 2, 3]) await emit(place, payload);
  const list = async (): Promise<readonly { readonly id: string }[]> =>
    JSON.parse((await place.ask('/api/events?name=it')).text);
  await comesTrue(async () => (await list()).length === 0);
  return Promise.all((await list()).map(async ({ id }): Promise<unknown> =>
    JSON.parse((await place.ask(`/api/events/${id}/payload`)).text)));
};

/** Whether the second of three events that nobody hears goes, too, once the first had to. */
const forgetsSecond = async (place: Place): Promise<boolean> => {
  for (let count = 0; count < 3; count += 1) await emit(place, 'x'.repeat(1000));
  return comesTrue(async () =>
    JSON.parse((await place.ask('/api/events?name=it')).text).length < 2);
};

const callTwice = async ({ target, hookTo, callHook }: Place): Promise<readonly number[]> => {
  await hookTo(target.url);
  return [(await callHook()).status, (await callHook()).status];
};

export const RELAY_ROWS: Rows = {
  'incoming.defaultAllowedMethods': {
    value: ['PUT'],
    observe: async ({ target, hookTo, callHook }) => {
      await hookTo(target.url);
      return [(await callHook()).status, (await callHook({ method: 'PUT' })).status];
    },
    changed: [405, 200], isShared: true, standard: [200, 405],
  },
  'incoming.allowUnsignedWhenSecretMissing': {
    value: false, observe: callTwice, changed: [401, 401], isShared: true, standard: [200, 200],
  },
  'incoming.actionTimeout': {
    value: 0.2,
    observe: async ({ target, hookTo, callHook }) => {
      target.delayMs = 1000;
      await hookTo(target.url);
      return (await callHook()).message;
    },
    changed: 'Action timed out', isShared: true, standard: '',
  },
  'incoming.rateLimit': {
    value: 0.001, observe: callTwice, changed: [200, 429], isShared: true, standard: [200, 200],
  },
  'incoming.maxConcurrent': {
    value: 1,
    observe: async ({ target, hookTo, callHook }) => {
      target.delayMs = 500;
      await hookTo(target.url);
      const first = callHook();
      await until('the first is under way', () => target.hits === 1);
      const second = await callHook();
      return [(await first).status, second.status];
    },
    changed: [200, 503], isShared: true, standard: [200, 200],
  },
  'outgoing.retrySchedule': {
    value: [0.05],
    observe: async (place) => {
      place.target.status = 503;
      await listen(place, 'it');
      await emit(place);
      await comesTrue(async () => (await deliveries(place))[0]?.status === 'failed');
      return (await deliveries(place)).map(({ status, attempts }) => [status, attempts.length]);
    },
    changed: [['failed', 2]], standard: [['pending', 1]],
  },
  'outgoing.retentionDays': {
    value: 0, beside: { 'outgoing.retentionCount': 2 }, observe: keepsFewerThan(2),
    changed: true, standard: false,
  },
  'outgoing.retentionCount': {
    value: 0, observe: keepsFewerThan(4), changed: true, standard: false,
  },
  'outgoing.retentionBytes': {
    value: 0, observe: keepsFewerThan(4), changed: true, standard: false,
  },
  'outgoing.failedRetentionDays': {
    value: 0, beside: { 'outgoing.retrySchedule': [], 'outgoing.retentionCount': 0 },
    observe: forgetsFailed, changed: true, standard: false,
  },
  'outgoing.maxPending': {
    value: 1, observe: pendingStatuses, changed: [202, 503], standard: [202, 202],
  },
  'outgoing.maxPendingBytes': {
    value: 10_000, observe: pendingStatuses, changed: [202, 503], standard: [202, 202],
  },
  'outgoing.maxInFlight': { value: 1, observe: mostAtOnce, changed: false, standard: true },
  'outgoing.maxInFlightPerHook': { value: 1, observe: mostAtOnce, changed: false, standard: true },
  'catalog.events': {
    value: false,
    observe: async (place) => {
      await listen(place, 'book.created');
      await place.ask('/api/books', { method: 'POST', body: { title: 'A' } });
      return (await deliveries(place)).length;
    },
    changed: 0, standard: 1,
  },
  'events.keep': {
    value: 'all', observe: keptPayloads, changed: [3, 2, 1], isShared: true, standard: [],
  },
  'events.retentionDays': {
    value: 0, beside: { 'events.keep': 'all', 'events.maxBytes': 2900 }, observe: forgetsSecond,
    changed: true, isShared: true, standard: false,
  },
  'events.maxBytes': {
    value: 300, beside: { 'events.keep': 'all' }, observe: keptPayloads,
    changed: [3], isShared: true, standard: [3, 2, 1],
  },
  'actions.modules': {
    value: [action],
    observe: async ({ ask }) => (await ask('/api/actions')).text.includes('own-action'),
    changed: true, isShared: true, standard: false,
  },
};
