/** The screen of events: a live list with filters. */
import { callerSession } from '../../base/caller-session.ts';
import { h } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { SEARCH_FILTERS, TIME_FILTERS } from '../../parts/lists/filter-form.ts';
import { openLiveList } from '../../parts/lists/live-list.ts';
import { openOnDemand, type Screen } from '../../parts/screen.ts';
import type { KeptEvent } from '../../../app/api-types.ts';
import { loadScript } from '../script-loader.ts';

const SOURCES = ['catalog', 'api', 'command', 'action', 'own'];

export const eventsScreen: Screen = {
  name: 'events', title: 'Events', key: 'e',
  open(container, { path: [, id], query }) {
    if (id !== undefined) {
      return openOnDemand(container, async () => (await loadScript('records')).openEvent, id);
    }
    return openLiveList<KeptEvent>(container, query, {
      title: 'Events', name: 'events', nouns: ['event', 'events'],
      baseQuery: { limit: '100' },
      getKey: ({ id: eventId }) => eventId,
      columns: [
        { title: 'Created', kind: 'short', cell: ({ createdAt }) => timeElement(createdAt) },
        { title: 'Name', kind: 'wide event', cell: ({ name }) => name },
        { title: 'Key', kind: 'extra', cell: ({ key }) => key ?? '' },
        { title: 'Source', kind: 'extra', cell: ({ source }) => source ?? '' },
        { title: 'State', cell: formatHeard },
      ],
      filters: () => [
        ...SEARCH_FILTERS,
        { name: 'name', label: 'Name' },
        { name: 'source', label: 'Source', values: SOURCES },
        {
          name: 'heard', label: 'Heard', values: ['true', 'false'],
          formatLabel: (value) => value === 'true' ? 'by a webhook' : 'by nobody',
        },
        { name: 'key', label: 'Key' },
        ...TIME_FILTERS,
      ],
      empty: ['No event is kept. Events that no webhook hears are kept where the setting '
        + 'events.keep is all. This makes one:',
      'hookshelf event:emit --name order.created --payload \'{"id":1}\''],
      rules: { name: (event, name) => name === '' || isCalled(event.name, name) },
      bulk: null,
      actions: (refresh) =>
        callerSession.may('write') ? [createEmitButton(container, refresh)] : [],
    });
  },
};

function createEmitButton(container: HTMLElement, refresh: () => void): HTMLElement {
  return asyncButton('Emit an event…', async () => {
    const { openEmitDialog } = await loadScript('webhooks');
    await openEmitDialog(container, refresh);
  }, 'primary');
}

/** Says whether a webhook got the event, or when it begins. */
function formatHeard({ heard, deliverAt }: KeptEvent): string | HTMLElement {
  if (heard) return 'heard by a webhook';
  return deliverAt !== null && Date.parse(deliverAt) > Date.now()
    ? h('span', 'due ', timeElement(deliverAt)) : 'heard by nobody';
}

/** A name may be a prefix, as in a trigger: `order.*`, or `*`. */
function isCalled(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
