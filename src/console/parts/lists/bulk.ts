/** Many records sent again: counted first, then done by a job. */
import { call } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted } from '../../base/format.ts';
import { shellQuote } from '../../base/shell-quote.ts';
import { openDialog } from '../dialog.ts';
import { codeBlock } from '../code.ts';
import { tell, tellFailure } from '../notice.ts';

export type Bulk = {
  readonly path: string;
  readonly nouns: readonly [string, string];
  readonly filter: Readonly<Record<string, string>>;
  /** What the same is called on the command line. */
  readonly command: string;
};

/** How they are sent: by the value that the API takes. */
const MANNERS = [
  ['retry', 'Under the same id: who has it already may drop it'], ['new', 'As a new one'],
] as const;

/** Two choices; `onChange` is told the chosen one. */
export function mannerChoice(onChange: (manner: string) => void): HTMLElement {
  return h('fieldset', {}, h('legend', {}, 'How'), ...MANNERS.map(([value, label], index) => {
    const input = h('input', { type: 'radio', name: 'as', onchange: () => onChange(value) });
    input.checked = index === 0;
    return h('label', { class: 'choice' }, input, label);
  }));
}

/** `onJob` is told the id of the job. Whoever has left `place` is asked nothing. */
export async function askForBulk(
  place: HTMLElement, bulk: Bulk, onJob: (id: string) => void,
): Promise<void> {
  const { path, nouns, command } = bulk;
  const { eventId, ...filter } = bulk.filter;
  if (eventId !== undefined) {
    return tell('Many are chosen by the other filters: empty the event id first.', 'bad');
  }
  const { body: { count } } = await call<{ readonly count: number }>('POST', path, {
    body: { ...filter, dryRun: true },
  });
  if (!place.isConnected) return;
  if (count === 0) return tell(`No ${nouns[0]} matches.`, 'bad');
  let manner = 'retry';
  const line = h('div');
  const show = (): void => {
    const options = Object.entries({ ...filter, as: manner })
      .map(([name, value]) => ` --${name} ${shellQuote(value)}`).join('');
    fill(line, codeBlock(`hookshelf ${command}${options}`));
  };
  show();
  const chosen = Object.entries(filter).map(([name, value]) => `${name} ${value}`).join(', ');
  const start = async (): Promise<void> => {
    dialog.close();
    try {
      const { body } = await call<{ readonly id: string }>('POST', path, {
        body: { ...filter, as: manner },
      });
      onJob(body.id);
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  const dialog = openDialog(`Send ${counted(count, ...nouns)} again?`, [
    h('p', {}, chosen === '' ? `These are all ${nouns[1]}: no filter is set.`
      : `These are all with ${chosen}.`),
    mannerChoice((value) => {
      manner = value;
      show();
    }),
    h('details', {}, h('summary', {}, 'As a command'), line),
    h('div', { class: 'actions' },
      h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
      h('button', { type: 'button', class: 'primary', onclick: () => void start() },
        'Send again')),
  ]);
}
