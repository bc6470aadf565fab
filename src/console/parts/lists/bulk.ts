/** Something done with many records: counted first, then run as a job that is watched. */
import { call, get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { counted } from '../../base/format.ts';
import { openDialog } from '../dialog.ts';
import { codeBlock } from '../code.ts';
import { tell, tellFailure } from '../notice.ts';

type Bulk = {
  readonly title: string;
  readonly path: string;
  readonly noun: string;
  readonly plural?: string;
  readonly filter: Readonly<Record<string, string>>;
  /** What the same is called on the command line. */
  readonly command: string;
  readonly action: string;
};

type Job = {
  readonly id: string; readonly status: 'running' | 'done' | 'cancelled';
  readonly total: number; readonly done: number; readonly failed: number;
};

const LOOK_MS = 500;

export async function runBulk(bulk: Bulk, onDone: () => void): Promise<void> {
  const { title, path, noun, plural = `${noun}s`, filter, command, action } = bulk;
  try {
    const { body: { count } } = await call<{ readonly count: number }>('POST', path, {
      body: { ...filter, dryRun: true },
    });
    if (count === 0) return tell(`No ${noun} matches.`, 'bad');
    const options = Object.entries(filter).map(([name, value]) => ` --${name} '${value}'`).join('');
    const status = h('div', { role: 'status' });
    const cancel = h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel');
    const run = h('button', {
      type: 'button', class: 'primary', onclick: () => void start(),
    }, action);
    const dialog = openDialog(title, [
      h('p', {}, `${counted(count, noun, plural)} will be sent again, under the id of each.`),
      h('details', {}, h('summary', {}, 'As a command'),
        codeBlock(`hookshelf ${command}${options}`)),
      status, h('div', { class: 'actions' }, cancel, run),
    ]);
    const start = async (): Promise<void> => {
      run.remove();
      try {
        const { body } = await call<Job>('POST', path, { body: filter });
        cancel.replaceWith(h('button', {
          type: 'button', onclick: () => void end(body.id),
        }, 'Stop it'));
        await watchJob(body.id, status);
        onDone();
        dialog.close();
      } catch (thrown) {
        tellFailure(thrown);
      }
    };
  } catch (thrown) {
    tellFailure(thrown);
  }
}

async function end(id: string): Promise<void> {
  await call('DELETE', `/api/jobs/${id}`).catch(tellFailure);
}

/** Resolves when the job has ended. It goes on when the page is closed. */
async function watchJob(id: string, place: HTMLElement): Promise<void> {
  for (;;) {
    const { status, total, done, failed } = await get<Job>(`/api/jobs/${id}`);
    const text = `${done} of ${total}${failed > 0 ? `, ${failed} could not be` : ''}`;
    fill(place, h('progress', { max: total, value: done + failed, 'aria-label': 'Progress' }),
      h('p', {}, text));
    if (status !== 'running') {
      tell(status === 'done' ? `Sent again: ${text}.` : `Stopped: ${text}.`);
      return;
    }
    await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
  }
}
