/** One record of work, looked at while it changes. */
import { getJson } from '../base/api-calls.ts';
import { fill, h, refill } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { loadWebhookLabels } from '../base/webhook-labels.ts';
import { listenToChanges } from '../base/change-stream.ts';
import { showFailureIn, showFailureNotice } from './notice.ts';

type RecordViewOptions<Item> = {
  readonly topic: string;
  readonly path: string;
  readonly matches: (item: Item) => boolean;
  /** What changes; `again` reads it anew. */
  readonly renderHead: (item: Item, again: () => void) => readonly Child[];
  /** What stays as it is until `versionOf` the record is another. */
  readonly renderBody: (item: Item) => Promise<readonly Child[]>;
  readonly getVersion: (item: Item) => number;
  readonly onDeleted: () => void;
};

export function openRecordView<Item>(
  container: HTMLElement, options: RecordViewOptions<Item>,
): () => void {
  const head = h('div', {}, h('p', { class: 'count', role: 'status' }, 'Loading…'));
  const body = h('div', { 'aria-busy': 'true' });
  let version = -1;
  let renderedText = '';
  let isReading = false;
  let isStale = false;
  const read = async (): Promise<void> => {
    const [item] = await Promise.all([getJson<Item>(options.path), loadWebhookLabels()]);
    // Two may tell of one change: what stands there is not taken from under a click.
    const text = JSON.stringify(item);
    if (text === renderedText) return;
    refill(head, ...options.renderHead(item, refresh));
    if (head.parentNode === null) fill(container, head, body);
    if (version !== options.getVersion(item)) {
      refill(body, ...await options.renderBody(item));
      version = options.getVersion(item);
    }
    renderedText = text;
  };
  const refresh = (): void => {
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
      if (version !== -1) showFailureNotice(thrown);
      else {
        head.remove();
        showFailureIn(container, thrown, refresh);
      }
    }
    isReading = false;
    body.removeAttribute('aria-busy');
  }
  fill(container, head, body);
  return listenToChanges(options.topic, '', {
    onEvent({ change, record }) {
      if (!options.matches(record as unknown as Item)) return;
      if (change === 'deleted') options.onDeleted();
      else refresh();
    },
    onStart: refresh,
  });
}
