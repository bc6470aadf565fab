/** A list of incoming or outgoing webhooks, searched, sorted, and refreshed by a timer. */
import { LatestCall } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h } from '../../base/dom.ts';
import { formatQuantity } from '../../base/format.ts';
import { appendQuery, href, type ScreenAddress } from '../../base/screen-address.ts';
import {
  emptyState, hasFailure, loadingLine, showFailureIn, showFailureNotice,
} from '../notice.ts';
import { heading, linkButton, repeatWhileSeen } from '../screen.ts';
import { WEBHOOK_STATES } from '../webhook-cells.ts';
import { FilterForm, sortFilter, type FilterSpec } from './filter-form.ts';
import { VirtualRows, type RowColumn } from './virtual-rows.ts';

type WebhookListOptions<Row> = {
  readonly title: string;
  /** The first step of the screen's address. */
  readonly screen: 'incoming' | 'outgoing';
  readonly getId: (row: Row) => string;
  readonly columns: readonly RowColumn<Row>[];
  /** Fetches the webhooks that this path of the API lists. */
  readonly fetchRows: (path: string, signal: AbortSignal) => Promise<readonly Row[]>;
  /** Stands behind the number of webhooks, of which there are some. */
  readonly describeFigures?: (rows: readonly Row[]) => string;
  /** Shown when there is no webhook: a text, and a command to copy. */
  readonly empty: readonly [text: string, command: string | null];
};

/** An outgoing webhook has no requests to reject; an incoming one hears no events. */
function listFilters(screen: WebhookListOptions<unknown>['screen']): readonly FilterSpec[] {
  const isOutgoing = screen === 'outgoing';
  return [
    { name: 'q', label: 'Search' },
    {
      name: 'state', label: 'State',
      values: WEBHOOK_STATES.filter((state) => !isOutgoing || state !== 'rejecting'),
    },
    sortFilter({
      state: 'the most urgent first', '-since': 'the latest change of state', name: 'name',
    }),
    ...isOutgoing ? [{ name: 'event', label: 'Hears the event', isPaired: true }] : [],
  ];
}

export function openWebhookList<Row>(
  container: HTMLElement, { query }: ScreenAddress, options: WebhookListOptions<Row>,
): () => void {
  const { title, screen, getId, columns, fetchRows, empty, describeFigures = () => '' } = options;
  const rows = new VirtualRows<Row>({
    label: title, columns, getKey: getId, getHref: (row) => href([screen, getId(row)]),
  });
  const count = loadingLine();
  const table = h('div');
  const noWebhooks = emptyState(...empty);
  const noMatches = emptyState('No webhook matches.', null);
  const call = new LatestCall();
  const filters = new FilterForm(listFilters(screen), query, () => void reload());
  async function show(): Promise<void> {
    const { signal } = call;
    const path = appendQuery(`/api/${screen}-webhooks`, filters.readQuery());
    const webhooks = await fetchRows(path, signal);
    if (signal.aborted) return;
    count.textContent = webhooks.length === 0 ? ''
      : formatQuantity(webhooks.length, 'webhook') + describeFigures(webhooks);
    // Content that is there already is not replaced: the user may be using it.
    const placeholder = filters.isSet ? noMatches : noWebhooks;
    filters.element.hidden = webhooks.length === 0 && !filters.isSet;
    const content = webhooks.length > 0 ? rows.element : placeholder;
    if (content.parentElement !== table) fill(table, content);
    rows.set(webhooks);
  }
  async function reload(): Promise<void> {
    const signal = call.begin();
    try {
      await show();
    } catch (thrown) {
      if (signal.aborted) return;
      count.textContent = '';
      showFailureIn(table, thrown, () => void reload());
    }
  }
  const add = callerSession.may('admin')
    ? linkButton('Add a webhook', [screen, 'new'], { style: 'primary' }) : null;
  fill(container, heading(title, add), filters.element, count, table);
  void reload();
  const endRefresh = repeatWhileSeen(() => {
    if (!hasFailure(table)) void show().catch(showFailureNotice);
  });
  return () => {
    endRefresh();
    call.abort();
    rows.close();
  };
}
