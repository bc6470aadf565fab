/** A list of the webhooks of one kind: by their state, which is read anew while one looks. */
import { href } from '../../base/address.ts';
import type { ScreenAddress } from '../../base/address.ts';
import { fill, h } from '../../base/dom.ts';
import { counted } from '../../base/format.ts';
import { session } from '../../base/session.ts';
import { heading } from '../facts.ts';
import { HOOK_STATES } from '../hook-state.ts';
import { emptyState, showFailure, tellFailure } from '../notice.ts';
import { Filters, pathWith } from './filters.ts';
import { Rows } from './rows.ts';
import type { RowColumn } from './rows.ts';

type HookListOptions<Row> = {
  readonly title: string;
  /** The first step of the screen's address. */
  readonly screen: 'incoming' | 'outgoing';
  readonly idOf: (row: Row) => string;
  readonly columns: readonly RowColumn<Row>[];
  /** The webhooks that this path of the API lists. */
  readonly read: (path: string, signal: AbortSignal) => Promise<readonly Row[]>;
  /** What the list says where there is no webhook, and a line to copy. */
  readonly empty: readonly [text: string, command: string];
};

const REFRESH_MS = 10_000;

/** The states that a webhook may be in; an outgoing one has no requests to reject. */
function statesOf(screen: HookListOptions<unknown>['screen']): readonly string[] {
  return screen === 'incoming' ? HOOK_STATES : HOOK_STATES.filter((state) => state !== 'rejecting');
}

export function openHookList<Row>(
  place: HTMLElement, { query }: ScreenAddress, options: HookListOptions<Row>,
): () => void {
  const { title, screen, idOf, columns, read, empty } = options;
  const rows = new Rows<Row>({
    label: title, columns, keyOf: idOf, hrefOf: (row) => href([screen, idOf(row)]),
  });
  const count = h('p', { class: 'count', role: 'status' }, 'Loading…');
  const table = h('div');
  const none = emptyState(...empty);
  const noMatch = emptyState('No webhook is in this state.', null);
  // What was asked for before the filter changed is not shown any more.
  let controller = new AbortController();
  const filters = new Filters([
    { name: 'state', label: 'State', values: statesOf(screen) },
  ], query, () => void readAnew());
  async function show(): Promise<void> {
    const { signal } = controller;
    const found = await read(pathWith(`/api/${screen}-webhooks`, filters.query()), signal);
    if (signal.aborted) return;
    count.textContent = found.length === 0 ? '' : counted(found.length, 'webhook');
    // What is there already stays: somebody may be using it.
    const shown = found.length > 0 ? rows.element : filters.isSet ? noMatch : none;
    if (shown.parentElement !== table) fill(table, shown);
    rows.set(found);
  }
  async function readAnew(): Promise<void> {
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    try {
      await show();
    } catch (thrown) {
      if (signal.aborted) return;
      count.textContent = '';
      showFailure(table, thrown, () => void readAnew());
    }
  }
  const add = session.may('admin')
    ? h('a', { href: href([screen, 'new']), class: 'button primary' }, 'Add a webhook') : null;
  fill(place, heading(title, add), filters.element, count, table);
  void readAnew();
  const timer = setInterval(() => {
    const hasFailed = table.querySelector('.failure') !== null;
    if (!document.hidden && !hasFailed) void show().catch(tellFailure);
  }, REFRESH_MS);
  return () => {
    clearInterval(timer);
    controller.abort();
    rows.close();
  };
}
