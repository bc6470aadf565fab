/** A job that runs: how far it has got, and a button that stops it. It goes on without the page. */
import { call, get } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import { count } from '../../base/format.ts';
import { session } from '../../base/session.ts';
import { tell, tellFailure } from '../notice.ts';

type Job = {
  readonly id: string; readonly kind: string; readonly status: 'running' | 'done' | 'cancelled';
  readonly total: number; readonly done: number; readonly failed: number;
};

const LOOK_MS = 500;

export class JobWatch {
  readonly element = h('div');
  readonly #onEnd: () => void;
  #isClosed = false;

  /** Finds the job of that kind that runs already, as after the page was loaded anew. */
  constructor(kind: string, onEnd: () => void) {
    this.#onEnd = onEnd;
    void get<readonly Job[]>('/api/jobs').then((jobs) => {
      const running = jobs.find((job) => job.kind === kind && job.status === 'running');
      if (running !== undefined) this.watch(running.id);
    }, tellFailure);
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
      call('DELETE', path).catch(tellFailure);
    } }, 'Stop it');
    fill(this.element, h('div', { class: 'card job' }, text, bar,
      session.may('write') ? stop : null));
    const look = async (): Promise<void> => {
      if (this.#isClosed) return;
      try {
        const { status, total, done, failed } = await get<Job>(path);
        const lost = failed > 0 ? `, ${count(failed)} could not be` : '';
        const far = `${count(done)} of ${count(total)}${lost}`;
        if (status !== 'running') {
          tell(`${status === 'done' ? 'Sent again' : 'Stopped'}: ${far}.`);
          fill(this.element);
          return this.#onEnd();
        }
        bar.max = total;
        bar.value = done + failed;
        text.textContent = `Sending again: ${far}`;
      } catch (thrown) {
        tellFailure(thrown);
      }
      setTimeout(() => void look(), LOOK_MS);
    };
    void look();
  }
}
