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
  ['retry', 'Under the same id: who has it already may drop it'], ['new', 'As a new one'],
] as const;

type ResendQuestion = {
  readonly title: string;
  /** Stands before the modes. */
  readonly intro?: Child;
  /** Whether there is no choice of modes: it can be sent as a new one alone. */
  readonly isCopied?: boolean;
  /** Stands behind the modes; calls `onChange` when the command is another. */
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
  const createModes = (): HTMLElement => h('fieldset', h('legend', 'How'),
    ...SEND_MODES.map(([value, label], index) => h('label.choice', h('input', {
      type: 'radio', name: 'as', checked: index === 0, onchange: () => {
        mode = value;
        showLine();
      },
    }), label)));
  const dialog = openDialog(title, [
    intro, isCopied ? null : createModes(), createChoices(showLine), commandDetails(line),
  ], {
    close: 'Cancel', buttons: [h('button.primary', { onclick: () => {
      dialog.close();
      void send(mode).catch(showFailureNotice);
    } }, 'Send again')],
  });
}

/** `onJob` gets the id of the job. Does not ask when the user has left the screen meanwhile. */
export async function openBulkDialog(
  container: HTMLElement, options: BulkOptions, onJob: (id: string) => void,
): Promise<void> {
  const { path, nouns, command, criteria, filter } = options;
  const { body: { count } } = await callApi<{ readonly count: number }>('POST', path, {
    body: { ...filter, dryRun: true },
  });
  if (!container.isConnected) return;
  if (count === 0) return showNotice(`No ${nouns[0]} matches.`, 'bad');
  openResendDialog({
    title: `Send ${formatQuantity(count, ...nouns)} again?`,
    intro: h('p', criteria === '' ? `These are all ${nouns[1]}: no filter is set.`
      : `These are all with ${criteria}.`),
    formatLine: (mode) => formatCommand(command, { ...filter, as: mode }),
    send: async (mode) => {
      const { body } = await callApi<{ readonly id: string }>('POST', path, {
        body: { ...filter, as: mode },
      });
      onJob(body.id);
    },
  });
}
