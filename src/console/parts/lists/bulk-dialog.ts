/** Asks how to send records again: one, or all that match the filters of a list, by a job. */
import { callApi } from '../../base/api-calls.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { formatQuantity } from '../../base/format.ts';
import { codeBlock } from '../code-block.ts';
import { commandDetails, formatCommand, openDialog } from '../dialog.ts';
import { showNotice, showFailureNotice } from '../notice.ts';

export type BulkOptions = {
  readonly path: string;
  readonly nouns: readonly [string, string];
  readonly filter: Readonly<Record<string, string>>;
  /** The filter in words; '' where none is set. */
  readonly criteria: string;
  /** The command that does the same: `request:replay`. */
  readonly command: string;
};

/** The API's values of `as`, and their labels. */
const SEND_MODES = [
  ['retry', 'Under the same id: who has it already may drop it'],
  ['new', 'As a new one: who has it already gets one more'],
] as const;

type ResendQuestion = {
  readonly title: string;
  /** Stands first. */
  readonly intro?: Child;
  /** Whether there is no choice of modes: it can be sent as a new one alone. */
  readonly isCopied?: boolean;
  /** Stands before the modes; calls `onChange` when the command is another. */
  readonly createChoices?: (onChange: () => void) => Child;
  /** The command that does the same. */
  readonly formatLine: (mode: string) => string;
  readonly send: (mode: string) => Promise<void>;
};

/** Lets the user choose the mode, and sends in that mode. */
export function openResendDialog(
  { title, intro = null, isCopied = false, createChoices = () => null, formatLine, send }:
  ResendQuestion,
): void {
  let mode = isCopied ? 'new' : 'retry';
  const line = h('div');
  const showLine = (): void => fill(line, codeBlock(formatLine(mode)));
  showLine();
  const createModes = (): HTMLElement => createChoice('How', 'as', SEND_MODES, (value) => {
    mode = value;
    showLine();
  });
  const dialog = openDialog(title, [
    intro, createChoices(showLine), isCopied ? null : createModes(), commandDetails(line),
  ], {
    close: 'Cancel', buttons: [h('button.primary', { onclick: () => {
      dialog.close();
      void send(mode).catch(showFailureNotice);
    } }, 'Send again')],
  });
}

/** Radio buttons, of which the first is chosen. */
function createChoice(
  legend: string, name: string, choices: readonly (readonly [value: string, label: string])[],
  onChoose: (value: string) => void,
): HTMLElement {
  return h('fieldset', h('legend', legend),
    ...choices.map(([value, label], index) => h('label.choice', h('input', {
      type: 'radio', name, checked: index === 0, onchange: () => onChoose(value),
    }), label)));
}

/**
 * Where the filter asks for no status and some have failed, these are sent unless the user chooses
 * all. `onJob` gets the id of the job. Does not ask when the user has left the screen meanwhile.
 */
export async function openBulkDialog(
  container: HTMLElement, options: BulkOptions, onJob: (id: string) => void,
): Promise<void> {
  const { path, nouns, command, criteria, filter } = options;
  const failedFilter = { ...filter, status: 'failed' };
  const failedCount = 'status' in filter ? 0 : await countMatches(path, failedFilter);
  const count = await countMatches(path, filter);
  if (!container.isConnected) return;
  if (count === 0) return showNotice(`No ${nouns[0]} matches.`, 'bad');
  const hasChoice = failedCount > 0 && failedCount < count;
  let chosenFilter: BulkOptions['filter'] = hasChoice ? failedFilter : filter;
  openResendDialog({
    title: `Send ${hasChoice ? nouns[1] : formatQuantity(count, ...nouns)} again?`,
    intro: h('p', hasChoice ? 'Of' : 'These are', criteria === ''
      ? ` all ${nouns[1]}: no filter is set.` : ` all with ${criteria}.`),
    createChoices: (onChange) => hasChoice && createChoice('Which', 'which', [
      ['failed', `${formatQuantity(failedCount, ...nouns)} that failed`], ['', `All ${count}`],
    ], (status) => {
      chosenFilter = status === '' ? filter : failedFilter;
      onChange();
    }),
    formatLine: (mode) => formatCommand(command, { ...chosenFilter, as: mode }),
    send: async (mode) => {
      const { body } = await callApi<{ readonly id: string }>('POST', path, {
        body: { ...chosenFilter, as: mode },
      });
      onJob(body.id);
    },
  });
}

async function countMatches(path: string, filter: BulkOptions['filter']): Promise<number> {
  const { body } = await callApi<{ readonly count: number }>('POST', path, {
    body: { ...filter, dryRun: true },
  });
  return body.count;
}
