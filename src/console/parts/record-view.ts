/** Shows one request or delivery, and follows its changes. */
import { encodeJson } from '../base/json-text.ts';
import { fill, h, refill, type Child } from '../base/dom.ts';
import { loadWebhookLabels } from '../base/webhook-labels.ts';
import { listenToChanges } from '../base/change-stream.ts';
import { loadingLine, showFailureIn, showFailureNotice } from './notice.ts';

type RecordViewOptions<Item> = {
  readonly topic: string;
  readonly fetchRecord: () => Promise<Item>;
  readonly matches: (item: Item) => boolean;
  /** Renders the part that changes; `again` fetches the record again. */
  readonly renderHead: (item: Item, again: () => void) => readonly Child[];
  /** Renders the part that stays the same as long as `getVersion` of the record does. */
  readonly renderBody: (item: Item) => Promise<readonly Child[]>;
  readonly getVersion: (item: Item) => number;
  readonly onDeleted: () => void;
};

export function openRecordView<Item>(
  container: HTMLElement, options: RecordViewOptions<Item>,
): () => void {
  const head = h('div', loadingLine());
  const body = h('div', { 'aria-busy': 'true' });
  let version = -1;
  let renderedText = '';
  let isReading = false;
  let isStale = false;
  const read = async (): Promise<void> => {
    const [item] = await Promise.all([options.fetchRecord(), loadWebhookLabels()]);
    // Two events may announce one change: an equal record is not redrawn, as for a click on it.
    const text = encodeJson(item);
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
      // A change during the fetch makes another fetch necessary.
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
  return listenToChanges(options.topic, {
    onEvent({ change, record }) {
      if (!options.matches(record as unknown as Item)) return;
      if (change === 'deleted') options.onDeleted();
      else refresh();
    },
    onStart: refresh,
  });
}
