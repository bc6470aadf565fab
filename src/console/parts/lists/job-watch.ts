/** Shows the progress of a running job, and a button that stops it. A job needs no open page. */
import { callApi, getJson, mayPass } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { formatCount } from '../../base/format.ts';
import { callerSession } from '../../base/caller-session.ts';
import { showNotice, showFailureNotice } from '../notice.ts';
import type { ResponseBodyOf } from '../../../app/api-types.ts';

type JobProgress = ResponseBodyOf<'GET', '/api/jobs'>[number];

type WatchOptions = {
  /** null: such a job that runs already is not looked for. */
  readonly kind: string | null;
  readonly hook?: string;
  /** `Sending again`, and, in the end, `Sent again`. */
  readonly verbs: readonly [underWay: string, done: string];
  readonly onEnd: () => void;
};

const POLL_MS = 500;

export class JobWatch {
  readonly element = h('div');
  readonly #options: WatchOptions;
  #isClosed = false;

  /** Finds such a job that runs already, as after the page was loaded again. */
  constructor(options: WatchOptions) {
    this.#options = options;
    const { kind, hook } = options;
    if (kind === null) return;
    void getJson<readonly JobProgress[]>('/api/jobs').then((jobs) => {
      const running = jobs.find((job) =>
        job.kind === kind && job.status === 'running'
        && (hook === undefined || job.hook === hook));
      if (running !== undefined) this.watch(running.id);
    }, showFailureNotice);
  }

  close(): void {
    this.#isClosed = true;
  }

  /**
   * Shows the job until it ends. Failures that may pass are shown, and the job is asked for again;
   * any other, such as 404 for a job that is gone, ends the watch.
   */
  watch(id: string): void {
    const path = `/api/jobs/${id}`;
    const showProgress = this.#showCard(path);
    const poll = async (): Promise<void> => {
      if (this.#isClosed) return;
      try {
        const job = await getJson<JobProgress>(path);
        if (job.status !== 'running') {
          const [, verb] = this.#options.verbs;
          showNotice(`${job.status === 'done' ? verb : 'Stopped'}: ${formatCounts(job)}.`);
          return this.#end();
        }
        showProgress(job);
      } catch (thrown) {
        showFailureNotice(thrown);
        if (!mayPass(thrown)) return this.#end();
      }
      setTimeout(() => void poll(), POLL_MS);
    };
    void poll();
  }

  /** Returns the function that moves the card's progress. */
  #showCard(path: string): (job: JobProgress) => void {
    const [verb] = this.#options.verbs;
    const text = h('p', { role: 'status' }, `${verb}…`);
    const bar = h('progress', { 'aria-label': 'Progress' });
    const stop = h('button', { onclick: () => {
      stop.disabled = true;
      callApi('DELETE', path).catch(showFailureNotice);
    } }, 'Stop it');
    fill(this.element, h('div.card.job', text, bar,
      callerSession.may('write', 'resend') ? stop : null));
    return (job) => {
      bar.max = job.total;
      bar.value = job.done + job.failed;
      text.textContent = `${verb}: ${formatCounts(job)}`;
    };
  }

  #end(): void {
    fill(this.element);
    this.#options.onEnd();
  }
}

/** `2 of 10, 1 could not be`, and why it has ended before its time. */
function formatCounts({ total, done, failed, reason }: JobProgress): string {
  const failures = failed > 0 ? `, ${formatCount(failed)} could not be` : '';
  const end = reason === null ? '' : `, because ${reason}`;
  return `${formatCount(done)} of ${formatCount(total)}${failures}${end}`;
}
