/** What came in, live: filters, and many sent again at once. */
import type { ScreenAddress } from '../../base/address.ts';
import { href } from '../../base/address.ts';
import { fill, h } from '../../base/dom.ts';
import { duration, time } from '../../base/format.ts';
import { hookName, incomingNames, readHookNames } from '../../base/hooks.ts';
import { session } from '../../base/session.ts';
import { listen } from '../../base/stream.ts';
import { badge } from '../../parts/badge.ts';
import { runBulk } from '../../parts/lists/bulk.ts';
import { heading } from '../../parts/facts.ts';
import { Filters, pathWith } from '../../parts/lists/filters.ts';
import { emptyState, showFailure } from '../../parts/notice.ts';
import { PagedList } from '../../parts/lists/paged.ts';
import type { Screen } from '../../parts/screen.ts';
import { openRequest } from './one.ts';
import type { RequestRecord } from './record.ts';

const PAGE = 100;
const STATUSES = ['pending', 'done', 'failed', 'rejected', 'filtered', 'duplicate'];

export const requestsScreen: Screen = {
  name: 'requests', title: 'Requests', key: 'r',
  open(place, address) {
    const [, id] = address.path;
    if (id !== undefined) return openRequest(place, id, address);
    let close = (): void => {};
    let isClosed = false;
    const show = (): void => void readHookNames().then(() => {
      if (!isClosed) close = openList(place, address);
    }, (thrown: unknown) => showFailure(place, thrown, show));
    show();
    return () => {
      isClosed = true;
      close();
    };
  },
};

function openList(place: HTMLElement, { query }: ScreenAddress): () => void {
  const waiting: RequestRecord[] = [];
  let isPaused = false;
  const list = requestList(() => filters.isSet);
  const read = (): void => {
    waiting.length = 0;
    tellPause();
    void list.read(pathWith('/api/requests', { limit: String(PAGE), ...filters.query() }));
  };
  const filters = new Filters([
    { name: 'eventId', label: 'Event id' },
    { name: 'hook', label: 'Webhook', values: incomingNames() },
    { name: 'status', label: 'Status', values: STATUSES },
    { name: 'event', label: 'Event' },
    { name: 'since', label: 'Since', type: 'datetime-local' },
    { name: 'until', label: 'Until', type: 'datetime-local' },
  ], query, read);
  const pause = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    isPaused = !isPaused;
    pause.setAttribute('aria-pressed', String(isPaused));
    if (!isPaused) for (const record of waiting.splice(0)) list.put(record);
    tellPause();
  } }, 'Pause');
  function tellPause(): void {
    pause.textContent = !isPaused ? 'Pause'
      : waiting.length === 0 ? 'Resume' : `Resume: ${waiting.length} came meanwhile`;
  }
  const stop = listen('requests', '', {
    onEvent({ change, record }) {
      const request = record as unknown as RequestRecord;
      if (change === 'deleted') return list.remove(request.id);
      if (!matches(request, filters.query())) return;
      if (isPaused) waiting.push(request);
      else list.put(request);
      tellPause();
    },
    onGap: read,
  });
  const replay = h('button', { type: 'button', onclick: () => void runBulk({
    title: 'Send these requests again?', path: '/api/requests/replay', noun: 'request',
    filter: withoutEventId(filters.query()), command: 'request:replay', action: 'Send again',
  }, read) }, 'Send again…');
  fill(place, heading('Requests', pause, session.may('write') ? replay : null),
    filters.element, list.element);
  read();
  return () => {
    stop();
    list.close();
  };
}

function requestList(isFiltered: () => boolean): PagedList<RequestRecord> {
  return new PagedList<RequestRecord>({
    label: 'Requests, newest first', nouns: ['request', 'requests'],
    keyOf: ({ id }) => id,
    hrefOf: ({ id }) => href(['requests', id]),
    columns: [
      { title: 'Received', cell: ({ receivedAt }) => time(receivedAt) },
      { title: 'Webhook', kind: 'main', cell: ({ hook }) => hookName(hook) },
      { title: 'Event', cell: ({ event }) => event ?? '' },
      { title: 'Status', cell: ({ status }) => badge(status) },
      { title: 'Answered', kind: 'extra', cell: ({ answered }) => answered === null ? ''
        : `${answered.status} in ${duration(answered.afterMs)}` },
      { title: 'From', kind: 'extra', cell: ({ client }) => client },
    ],
    empty: () => isFiltered() ? emptyState('No request matches.', null)
      : emptyState('Nothing came in yet that is kept. A webhook keeps what failed; to keep every '
        + 'request of one:', 'hookshelf incomingwebhook:update --identifier <webhook> --inbox all'),
  });
}

/** Whether a request that came just now belongs into the list, as the server would filter. */
function matches(request: RequestRecord, query: Readonly<Record<string, string>>): boolean {
  const { hook, status, event, since, until, eventId } = query;
  return (hook === undefined || hookName(request.hook) === hook)
    && (status === undefined || request.status === status)
    && (event === undefined || request.event === event)
    && (eventId === undefined || request.eventId === eventId)
    && (since === undefined || request.receivedAt >= since)
    && (until === undefined || request.receivedAt < until);
}

function withoutEventId(query: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => name !== 'eventId'));
}
