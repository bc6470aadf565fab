/** One record of work, looked at while it changes. */
import { get } from '../base/api.ts';
import { fill, h, renew } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { readHookNames } from '../base/hooks.ts';
import { listen } from '../base/stream.ts';
import { showFailure, tellFailure } from './notice.ts';

type RecordScreen<Item> = {
  readonly topic: string;
  readonly path: string;
  readonly isIt: (item: Item) => boolean;
  /** What changes; `again` reads it anew. */
  readonly renderHead: (item: Item, again: () => void) => readonly Child[];
  /** What stays as it is until `versionOf` the record is another. */
  readonly renderRest: (item: Item) => Promise<readonly Child[]>;
  readonly versionOf: (item: Item) => number;
  readonly onDeleted: () => void;
};

export function openRecord<Item>(place: HTMLElement, screen: RecordScreen<Item>): () => void {
  const head = h('div', {}, h('p', { class: 'count', role: 'status' }, 'Loading…'));
  const rest = h('div', { 'aria-busy': 'true' });
  let version = -1;
  let shown = '';
  let isReading = false;
  let isStale = false;
  const read = async (): Promise<void> => {
    const [item] = await Promise.all([get<Item>(screen.path), readHookNames()]);
    // Two may tell of one change: what stands there is not taken from under a click.
    const text = JSON.stringify(item);
    if (text === shown) return;
    renew(head, ...screen.renderHead(item, again));
    if (head.parentNode === null) fill(place, head, rest);
    if (version !== screen.versionOf(item)) {
      renew(rest, ...await screen.renderRest(item));
      version = screen.versionOf(item);
    }
    shown = text;
  };
  const again = (): void => {
    isStale = true;
    if (!isReading) void readAll();
  };
  async function readAll(): Promise<void> {
    isReading = true;
    try {
      // What changes while it is read is read once more.
      while (isStale) {
        isStale = false;
        await read();
      }
    } catch (thrown) {
      if (version !== -1) tellFailure(thrown);
      else {
        head.remove();
        showFailure(place, thrown, again);
      }
    }
    isReading = false;
    rest.removeAttribute('aria-busy');
  }
  fill(place, head, rest);
  return listen(screen.topic, '', {
    onEvent({ change, record }) {
      if (!screen.isIt(record as unknown as Item)) return;
      if (change === 'deleted') screen.onDeleted();
      else again();
    },
    onStart: again,
  });
}
