/** Jobs over HTTP: looking at them, and cancelling them. */
import { arrayOf, pathParameter, shown } from '../../resources/route-parts.ts';
import { problemAnswers } from '../../server/problem.ts';
import type { Route } from '../../server/route.ts';
import { JOB_SCHEMA, shownJob } from './job.ts';
import type { Jobs } from './jobs.ts';
import { jobResource } from './resource.ts';

const { path: PATH } = jobResource;

export function jobRoutes(jobs: Jobs): readonly Route[] {
  const id = pathParameter('id', 'Of the job');
  return [
    {
      method: 'GET', path: PATH, operationId: 'listJobs', access: 'read',
      summary: 'Jobs, newest first: those that run, and the last hundred that have ended',
      answers: [shown('Jobs', arrayOf(JOB_SCHEMA)), ...problemAnswers(400)],
      handle(exchange) {
        exchange.sendJson(200, jobs.list().map(shownJob));
      },
    },
    {
      method: 'GET', path: `${PATH}/{id}`, operationId: 'getJob', access: 'read',
      summary: 'How far a job has got',
      parameters: [id],
      answers: [shown('The job', JOB_SCHEMA), ...problemAnswers(404)],
      handle: (exchange) => exchange.sendJson(200, shownJob(jobs.get(exchange.params[0] ?? ''))),
    },
    {
      method: 'DELETE', path: `${PATH}/{id}`, operationId: 'cancelJob', access: 'write',
      summary: 'Cancel a job; what it has done stays done, and one that has ended stays as it is',
      parameters: [id],
      answers: [shown('The job', JOB_SCHEMA), ...problemAnswers(404, 503, 507)],
      handle: async (exchange) =>
        exchange.sendJson(200, shownJob(await jobs.cancel(exchange.params[0] ?? ''))),
    },
  ];
}
