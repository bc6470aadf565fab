/** A list of work as it happens: filtered, held still while one reads, and sent again in bulk. */
import { fill, h } from '../../base/dom.ts';
import { isHookCalled, readHookNames } from '../../base/hooks.ts';
import { session } from '../../base/session.ts';
import { listen } from '../../base/stream.ts';
import { heading } from '../facts.ts';
import { emptyState, showFailure } from '../notice.ts';
import { workButton } from '../work-button.ts';
import { askForBulk } from './bulk.ts';
import type { Bulk } from './bulk.ts';
import { Filters, pathWith } from './filters.ts';
import type { Filter } from './filters.ts';
import { JobWatch } from './job.ts';
import { PagedList } from './paged.ts';
import type { RowColumn } from './rows.ts';

/** What all lists of work filter by. */
type Work = {
  readonly hook: string | null; readonly event: string | null; readonly status: string;
  readonly eventId?: string | null;
  readonly receivedAt?: string; readonly createdAt?: string;
};

type LiveOptions<Item extends Work> = {
  readonly title: string;
  readonly path: string;
  /** What the stream calls them. */
  readonly topic: string;
  readonly nouns: readonly [string, string];
  /** Sent with every question for the list. */
  readonly always: Readonly<Record<string, string>>;
  readonly columns: readonly RowColumn<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly hrefOf: (item: Item) => string;
  /** The names of webhooks are known by then. */
  readonly filters: () => readonly Filter[];
  /** What a list says in which nothing ever was, and a line to copy. */
  readonly empty: readonly [text: string, command: string];
  readonly bulk: Omit<Bulk, 'filter' | 'nouns'> & { readonly job: string };
};

/** Of more that came while the list was held still the list is read anew. */
const HELD_MAX = 5000;

export function openLiveList<Item extends Work>(
  place: HTMLElement, query: URLSearchParams, options: LiveOptions<Item>,
): () => void {
  const actions = h('div', { class: 'actions' });
  const list = h('div');
  let close = (): void => {};
  let isClosed = false;
  const show = (): void => {
    fill(list, h('p', { class: 'count', role: 'status' }, 'Loading…'));
    readHookNames().then(() => {
      if (!isClosed) close = openNamed(list, actions, query, options);
    }, (thrown: unknown) => showFailure(list, thrown, show));
  };
  // The title stays what it is from the first: it has the focus.
  fill(place, heading(options.title, actions), list);
  show();
  return () => {
    isClosed = true;
    close();
  };
}

function openNamed<Item extends Work>(
  place: HTMLElement, actions: HTMLElement, query: URLSearchParams, options: LiveOptions<Item>,
): () => void {
  const { title, path, topic, nouns, keyOf, bulk } = options;
  const list = new PagedList<Item>({
    ...options, label: `${title}, newest first`,
    empty: () => filters.isSet ? emptyState(`No ${nouns[0]} matches.`, null)
      : emptyState(...options.empty),
  });
  const read = (): void => {
    isStale = false;
    held.clear();
    tellHeld();
    void list.read(pathWith(path, { ...options.always, ...filters.query() }));
  };
  const filters = new Filters(options.filters(), query, read);
  const put = (item: Item): void => {
    if (matches(item, filters.query())) list.put(item);
    else list.remove(keyOf(item));
  };
  // null: it was deleted.
  const held = new Map<string, Item | null>();
  let isHeld = false;
  /** It is to be read when it goes on; null: it has not been read yet. */
  let isStale: boolean | null = null;
  const pause = h('button', { type: 'button', onclick: () => {
    isHeld = !isHeld;
    if (isStale === true || held.size > HELD_MAX) read();
    for (const [key, item] of held) {
      if (item === null) list.remove(key);
      else put(item);
    }
    held.clear();
    tellHeld();
  } });
  function tellHeld(): void {
    const came = [...held].filter(([key, item]) =>
      item !== null && !list.has(key) && matches(item, filters.query())).length;
    pause.textContent = !isHeld ? 'Pause'
      : came === 0 ? 'Resume' : `Resume: ${came} came meanwhile`;
    pause.setAttribute('aria-pressed', String(isHeld));
  }
  const stop = listen(topic, '', {
    onEvent({ change, record }) {
      const item = record as unknown as Item;
      if (isHeld) {
        if (held.size <= HELD_MAX) held.set(keyOf(item), change === 'deleted' ? null : item);
        tellHeld();
      } else if (change === 'deleted') list.remove(keyOf(item));
      else put(item);
    },
    onStart() {
      if (isHeld && isStale !== null) isStale = true;
      else read();
    },
  });
  const job = new JobWatch(bulk.job, read);
  const again = workButton('Send many again…', () => askForBulk(place, {
    ...bulk, nouns, filter: filters.query(),
  }, (id) => job.watch(id)));
  fill(actions, pause, session.may('write') ? again : null);
  fill(place, job.element, filters.element, list.element);
  return () => {
    stop();
    job.close();
    list.close();
  };
}

/** Whether it belongs into the list, as the server would filter. */
function matches(item: Work, query: Readonly<Record<string, string>>): boolean {
  const { hook, status, event, since, until, eventId } = query;
  const at = item.receivedAt ?? item.createdAt ?? '';
  return (hook === undefined || isHookCalled(item.hook, hook))
    && (status === undefined || item.status === status)
    && (event === undefined || item.event === event)
    && (eventId === undefined || item.eventId === eventId)
    && (since === undefined || at >= since) && (until === undefined || at < until);
}
