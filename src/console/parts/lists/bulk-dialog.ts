/** Sends many records again: counts them, asks, and adds a job. */
import { callApi } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { formatQuantity } from '../../base/format.ts';
import { shellQuote } from '../../base/shell-quote.ts';
import { commandDetails, openDialog } from '../dialog.ts';
import { codeBlock } from '../code-block.ts';
import { showNotice, showFailureNotice } from '../notice.ts';

export type BulkOptions = {
  readonly path: string;
  readonly nouns: readonly [string, string];
  readonly filter: Readonly<Record<string, string>>;
  /** The command that does the same: `request:replay`. */
  readonly command: string;
};

/** The API's values of `as`, and their labels. */
const SEND_MODES = [
  ['retry', 'Under the same id: who has it already may drop it'], ['new', 'As a new one'],
] as const;

/** Radio buttons of the two modes; `onChange` gets the chosen one. */
export function sendModeChoice(onChange: (mode: string) => void): HTMLElement {
  return h('fieldset', h('legend', 'How'), ...SEND_MODES.map(([value, label], index) => {
    const input = h('input', { type: 'radio', name: 'as', onchange: () => onChange(value) });
    input.checked = index === 0;
    return h('label.choice', input, label);
  }));
}

/** `onJob` gets the id of the job. Does not ask when the user has left the screen meanwhile. */
export async function openBulkDialog(
  container: HTMLElement, options: BulkOptions, onJob: (id: string) => void,
): Promise<void> {
  const { path, nouns, command } = options;
  const { eventId, ...filter } = options.filter;
  if (eventId !== undefined) {
    return showNotice('Many are chosen by the other filters: empty the event id first.', 'bad');
  }
  const { body: { count } } = await callApi<{ readonly count: number }>('POST', path, {
    body: { ...filter, dryRun: true },
  });
  if (!container.isConnected) return;
  if (count === 0) return showNotice(`No ${nouns[0]} matches.`, 'bad');
  let mode = 'retry';
  const line = h('div');
  const show = (): void => {
    const flags = Object.entries({ ...filter, as: mode })
      .map(([name, value]) => ` --${name} ${shellQuote(value)}`).join('');
    fill(line, codeBlock(`hookshelf ${command}${flags}`));
  };
  show();
  const criteria = Object.entries(filter).map(([name, value]) => `${name} ${value}`).join(', ');
  const start = async (): Promise<void> => {
    dialog.close();
    try {
      const { body } = await callApi<{ readonly id: string }>('POST', path, {
        body: { ...filter, as: mode },
      });
      onJob(body.id);
    } catch (thrown) {
      showFailureNotice(thrown);
    }
  };
  const dialog = openDialog(`Send ${formatQuantity(count, ...nouns)} again?`, [
    h('p', criteria === '' ? `These are all ${nouns[1]}: no filter is set.`
      : `These are all with ${criteria}.`),
    sendModeChoice((value) => {
      mode = value;
      show();
    }),
    commandDetails(line),
    h('div.actions',
      h('button', { onclick: () => dialog.close() }, 'Cancel'),
      h('button.primary', { onclick: () => void start() },
        'Send again')),
  ]);
}
