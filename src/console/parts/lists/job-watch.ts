/** Shows the progress of a running job, and a button that stops it. A job needs no open page. */
import { callApi, getJson } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { formatCount } from '../../base/format.ts';
import { callerSession } from '../../base/caller-session.ts';
import { showNotice, showFailureNotice } from '../notice.ts';

type JobProgress = {
  readonly id: string; readonly kind: string; readonly status: 'running' | 'done' | 'cancelled';
  readonly total: number; readonly done: number; readonly failed: number;
};

const POLL_MS = 500;

export class JobWatch {
  readonly element = h('div');
  readonly #onEnd: () => void;
  #isClosed = false;

  /** Finds a job of this kind that runs already, as after the page was loaded again. */
  constructor(kind: string, onEnd: () => void) {
    this.#onEnd = onEnd;
    void getJson<readonly JobProgress[]>('/api/jobs').then((jobs) => {
      const running = jobs.find((job) => job.kind === kind && job.status === 'running');
      if (running !== undefined) this.watch(running.id);
    }, showFailureNotice);
  }

  close(): void {
    this.#isClosed = true;
  }

  watch(id: string): void {
    const path = `/api/jobs/${id}`;
    const text = h('p', { role: 'status' }, 'Sending again…');
    const bar = h('progress', { 'aria-label': 'Progress' });
    const stop = h('button', { type: 'button', onclick: () => {
      stop.disabled = true;
      callApi('DELETE', path).catch(showFailureNotice);
    } }, 'Stop it');
    fill(this.element, h('div', { class: 'card job' }, text, bar,
      callerSession.may('write') ? stop : null));
    const poll = async (): Promise<void> => {
      if (this.#isClosed) return;
      try {
        const { status, total, done, failed } = await getJson<JobProgress>(path);
        const failures = failed > 0 ? `, ${formatCount(failed)} could not be` : '';
        const progress = `${formatCount(done)} of ${formatCount(total)}${failures}`;
        if (status !== 'running') {
          showNotice(`${status === 'done' ? 'Sent again' : 'Stopped'}: ${progress}.`);
          fill(this.element);
          return this.#onEnd();
        }
        bar.max = total;
        bar.value = done + failed;
        text.textContent = `Sending again: ${progress}`;
      } catch (thrown) {
        showFailureNotice(thrown);
      }
      setTimeout(() => void poll(), POLL_MS);
    };
    void poll();
  }
}
