/** A list of work as it happens: filtered, held still while one reads, and sent again in bulk. */
import { fill, h } from '../../base/dom.ts';
import { isWebhookCalled, loadWebhookLabels } from '../../base/webhook-labels.ts';
import { session } from '../../base/caller-session.ts';
import { listenToChanges } from '../../base/change-stream.ts';
import { heading } from '../facts.ts';
import { emptyState, showFailureIn } from '../notice.ts';
import { asyncButton } from '../async-button.ts';
import { openBulkDialog } from './bulk-dialog.ts';
import type { BulkOptions } from './bulk-dialog.ts';
import { FilterForm, appendQuery } from './filter-form.ts';
import type { FilterSpec } from './filter-form.ts';
import { JobWatch } from './job-watch.ts';
import { PagedList } from './paged-list.ts';
import type { RowColumn } from './virtual-rows.ts';

/** What all lists of work filter by. */
type WorkItem = {
  readonly hook: string | null; readonly event: string | null; readonly status: string;
  readonly eventId?: string | null;
  readonly receivedAt?: string; readonly createdAt?: string;
};

type LiveListOptions<Item extends WorkItem> = {
  readonly title: string;
  readonly path: string;
  /** What the stream calls them. */
  readonly topic: string;
  readonly nouns: readonly [string, string];
  /** Sent with every question for the list. */
  readonly baseQuery: Readonly<Record<string, string>>;
  readonly columns: readonly RowColumn<Item>[];
  readonly getKey: (item: Item) => string;
  readonly getHref: (item: Item) => string;
  /** The names of webhooks are known by then. */
  readonly filters: () => readonly FilterSpec[];
  /** What a list says in which nothing ever was, and a line to copy. */
  readonly empty: readonly [text: string, command: string];
  readonly bulk: Omit<BulkOptions, 'filter' | 'nouns'> & { readonly job: string };
};

/** Of more that came while the list was held still the list is read anew. */
const PENDING_CHANGES_MAX = 5000;

export function openLiveList<Item extends WorkItem>(
  container: HTMLElement, query: URLSearchParams, options: LiveListOptions<Item>,
): () => void {
  const actions = h('div', { class: 'actions' });
  const list = h('div');
  let close = (): void => {};
  let isClosed = false;
  const show = (): void => {
    fill(list, h('p', { class: 'count', role: 'status' }, 'Loading…'));
    loadWebhookLabels().then(() => {
      if (!isClosed) close = openWithLabels(list, actions, query, options);
    }, (thrown: unknown) => showFailureIn(list, thrown, show));
  };
  // The title stays what it is from the first: it has the focus.
  fill(container, heading(options.title, actions), list);
  show();
  return () => {
    isClosed = true;
    close();
  };
}

function openWithLabels<Item extends WorkItem>(
  container: HTMLElement, actions: HTMLElement, query: URLSearchParams,
  options: LiveListOptions<Item>,
): () => void {
  const { title, path, topic, nouns, getKey, bulk } = options;
  const list = new PagedList<Item>({
    ...options, label: `${title}, newest first`,
    empty: () => filters.isSet ? emptyState(`No ${nouns[0]} matches.`, null)
      : emptyState(...options.empty),
  });
  const read = (): void => {
    isStale = false;
    pendingChanges.clear();
    updatePauseButton();
    void list.read(appendQuery(path, { ...options.baseQuery, ...filters.readQuery() }));
  };
  const filters = new FilterForm(options.filters(), query, read);
  const applyItem = (item: Item): void => {
    if (matchesQuery(item, filters.readQuery())) list.put(item);
    else list.remove(getKey(item));
  };
  // null: it was deleted.
  const pendingChanges = new Map<string, Item | null>();
  let isPaused = false;
  /** It is to be read when it goes on; null: it has not been read yet. */
  let isStale: boolean | null = null;
  const pause = h('button', { type: 'button', onclick: () => {
    isPaused = !isPaused;
    if (isStale === true || pendingChanges.size > PENDING_CHANGES_MAX) read();
    for (const [key, item] of pendingChanges) {
      if (item === null) list.remove(key);
      else applyItem(item);
    }
    pendingChanges.clear();
    updatePauseButton();
  } });
  function updatePauseButton(): void {
    const arrivedCount = [...pendingChanges].filter(([key, item]) =>
      item !== null && !list.has(key) && matchesQuery(item, filters.readQuery())).length;
    pause.textContent = !isPaused ? 'Pause'
      : arrivedCount === 0 ? 'Resume' : `Resume: ${arrivedCount} came meanwhile`;
    pause.setAttribute('aria-pressed', String(isPaused));
  }
  const stop = listenToChanges(topic, '', {
    onEvent({ change, record }) {
      const item = record as unknown as Item;
      if (isPaused) {
        const pending = change === 'deleted' ? null : item;
        if (pendingChanges.size <= PENDING_CHANGES_MAX) pendingChanges.set(getKey(item), pending);
        updatePauseButton();
      } else if (change === 'deleted') list.remove(getKey(item));
      else applyItem(item);
    },
    onStart() {
      if (isPaused && isStale !== null) isStale = true;
      else read();
    },
  });
  const job = new JobWatch(bulk.job, read);
  const resendButton = asyncButton('Send many again…', () => openBulkDialog(container, {
    ...bulk, nouns, filter: filters.readQuery(),
  }, (id) => job.watch(id)));
  fill(actions, pause, session.may('write') ? resendButton : null);
  fill(container, job.element, filters.element, list.element);
  return () => {
    stop();
    job.close();
    list.close();
  };
}

/** Whether it belongs into the list, as the server would filter. */
function matchesQuery(item: WorkItem, query: Readonly<Record<string, string>>): boolean {
  const { hook, status, event, since, until, eventId } = query;
  const at = item.receivedAt ?? item.createdAt ?? '';
  return (hook === undefined || isWebhookCalled(item.hook, hook))
    && (status === undefined || item.status === status)
    && (event === undefined || item.event === event)
    && (eventId === undefined || item.eventId === eventId)
    && (since === undefined || at >= since) && (until === undefined || at < until);
}
