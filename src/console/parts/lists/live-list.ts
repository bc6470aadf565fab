/** A live list of requests, deliveries or events, with filters, pause, and sending many again. */
import { fill, h, type Child } from '../../base/dom.ts';
import { appendQuery } from '../../base/screen-address.ts';
import { isWebhookCalled, loadWebhookLabels } from '../../base/webhook-labels.ts';
import { callerSession } from '../../base/caller-session.ts';
import { listenToChanges } from '../../base/change-stream.ts';
import { heading, openOnDemand } from '../screen.ts';
import { emptyState, showNotice } from '../notice.ts';
import { asyncButton } from '../buttons.ts';
import type { BulkOptions, openBulkDialog } from './bulk-dialog.ts';
import { FilterForm, type FilterSpec } from './filter-form.ts';
import { JobWatch } from './job-watch.ts';
import { PagedList } from './paged-list.ts';
import type { RowColumn } from './virtual-rows.ts';

/** The members that the filters of several lists use. */
type LiveItem = {
  readonly hook?: string | null; readonly receivedAt?: string; readonly createdAt?: string;
};

/**
 * Whether an item meets a filter, by the filter's name; the value is '' where it is not set. The
 * rules are the server's.
 */
type FilterRules<Item> = Readonly<Record<string, (item: Item, value: string) => boolean>>;

type LiveListOptions<Item extends LiveItem> = {
  readonly title: string;
  /** The name of the screen, of the list in the API, and of the topic of the change stream. */
  readonly name: string;
  readonly nouns: readonly [string, string];
  /** Query parameters of every request for the list. */
  readonly baseQuery: Readonly<Record<string, string>>;
  readonly columns: readonly RowColumn<Item>[];
  readonly getKey: (item: Item) => string;
  /** Called once the labels of webhooks are loaded. */
  readonly filters: () => readonly FilterSpec[];
  /** Shown when there are no records at all: a text, and a command to copy. */
  readonly empty: readonly [text: string, command: string | null];
  /** Of filters that ask for more than that the item's member of their name has their value. */
  readonly rules?: FilterRules<Item>;
  /** null: many are not sent again. */
  readonly bulk: ListBulk | null;
  /** What is to be said above the rows, by the filters that are set. */
  readonly readNote?: (query: Readonly<Record<string, string>>) => Promise<Child>;
  /** More buttons of the screen. `refresh` reads the list again. */
  readonly actions?: (refresh: () => void) => readonly HTMLElement[];
};

type ListBulk = Omit<BulkOptions, 'filter' | 'criteria' | 'nouns'> & {
  /** The kind of its jobs. */
  readonly job: string;
  readonly loadDialog: () => Promise<typeof openBulkDialog>;
  /** Says why a job cannot choose by these filters; null: it can. None can search. */
  readonly findObstacle: (query: Readonly<Record<string, string>>) => string | null;
};

/** After more changes during a pause, the list is read again instead. */
const PENDING_CHANGES_MAX = 5000;

export function openLiveList<Item extends LiveItem>(
  container: HTMLElement, query: URLSearchParams, options: LiveListOptions<Item>,
): () => void {
  const actions = h('div.actions');
  const list = h('div');
  // The title is not redrawn later, as it has the focus.
  fill(container, heading(options.title, actions), list);
  return openOnDemand(list, async () => {
    await loadWebhookLabels();
    const rules = { ...COMMON_RULES, ...options.rules };
    return () => openWithLabels(list, actions, query, { ...options, rules });
  });
}

function openWithLabels<Item extends LiveItem>(
  container: HTMLElement, actions: HTMLElement, query: URLSearchParams,
  options: LiveListOptions<Item>,
): () => void {
  const { name, nouns, getKey, bulk, rules = COMMON_RULES } = options;
  // The server alone can search an item that came, so of a search only what was found matches.
  const matches = (item: Item): boolean =>
    (!filters.isSearch || list.has(getKey(item))) && meetsFilters(item, filters.readQuery(), rules);
  const list = createPagedList(options, () => filters);
  const read = (): void => {
    isStale = false;
    pendingChanges.clear();
    updatePauseButton();
    void list.read(appendQuery(`/api/${name}`,
      { ...options.baseQuery, ...filters.readSearch(), ...filters.readQuery() }));
  };
  const filters = new FilterForm(options.filters(), query, read);
  const applyItem = (item: Item): void => {
    if (matches(item)) list.put(item);
    else list.remove(getKey(item));
  };
  // Changes during a pause, by key; null: the record was deleted.
  const pendingChanges = new Map<string, Item | null>();
  let isPaused = false;
  /** Whether the list must be read again after the pause; null: it was not read yet. */
  let isStale: boolean | null = null;
  const pause = h('button', { onclick: () => {
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
      item !== null && !list.has(key) && matches(item)).length;
    const resumeText = arrivedCount === 0 ? 'Resume' : `Resume: ${arrivedCount} came meanwhile`;
    pause.textContent = isPaused ? resumeText : 'Pause';
    pause.setAttribute('aria-pressed', String(isPaused));
  }
  const resend = bulk === null ? null
    : createResend(container, { ...bulk, nouns }, filters, read);
  const stop = listenToChanges(name, {
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
  fill(actions, pause, callerSession.may('write', 'resend') ? resend?.button ?? null : null,
    ...options.actions?.(read) ?? []);
  fill(container, resend?.job.element ?? null, filters.element, list.element);
  return () => {
    stop();
    resend?.job.close();
    list.close();
  };
}

function createPagedList<Item extends LiveItem>(
  options: LiveListOptions<Item>, getFilters: () => FilterForm,
): PagedList<Item> {
  return new PagedList<Item>({
    ...options, label: `${options.title}, newest first`, screen: options.name,
    readNote: async () => await options.readNote?.(getFilters().readQuery()) ?? null,
    empty: () => getFilters().isSet ? emptyState(`No ${options.nouns[0]} matches.`, null)
      : emptyState(...options.empty),
  });
}

/**
 * The button that sends many again, and the job that does it. Where the filters choose what the
 * job does not take, the button says so.
 */
function createResend(
  container: HTMLElement, bulk: ListBulk & Pick<BulkOptions, 'nouns'>, filters: FilterForm,
  onEnd: () => void,
): { readonly button: HTMLElement; readonly job: JobWatch } {
  const { job: kind, findObstacle, loadDialog } = bulk;
  const job = new JobWatch({ kind, verbs: ['Sending again', 'Sent again'], onEnd });
  const button = asyncButton('Send many again…', async () => {
    const filter = filters.readQuery();
    const obstacle = filters.isSearch
      ? 'Many are chosen by the other filters: empty “Search” and “Where” first.'
      : findObstacle(filter);
    if (obstacle !== null) return showNotice(obstacle, 'bad');
    const openDialog = await loadDialog();
    await openDialog(
      container, { ...bulk, filter, criteria: filters.describe() }, (id) => job.watch(id));
  });
  return { button, job };
}

/** The rules of filters that several lists have. */
const COMMON_RULES: FilterRules<LiveItem> = {
  hook: ({ hook = null }, name) => name === '' || isWebhookCalled(hook, name),
  since: (item, since) => findTime(item) >= since,
  until: (item, until) => until === '' || findTime(item) < until,
};

function findTime({ receivedAt, createdAt = '' }: LiveItem): string {
  return receivedAt ?? createdAt;
}

/** Whether an item that came meets the filters, none of which is a search. */
function meetsFilters<Item extends LiveItem>(
  item: Item, query: Readonly<Record<string, string>>, rules: FilterRules<Item>,
): boolean {
  return Object.entries(rules).every(([name, rule]) => rule(item, query[name] ?? ''))
    && Object.entries(query).every(([name, value]) =>
      name in rules || String(Reflect.get(item, name) ?? '') === value);
}
