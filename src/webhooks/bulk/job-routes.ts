/** The HTTP routes of jobs: list, show and cancel. */
import { parseTimestamp } from '../../base/clock.ts';
import { Representation } from '../../resources/representation.ts';
import {
  pathParameter, sendList, jsonResponse, listResponse,
} from '../../resources/route-specs.ts';
import {
  CONDITIONAL_RESPONSES, ETAG_HEADER, IF_NONE_MATCH, sendRepresentation,
} from '../../resources/send-representation.ts';
import { problemResponses } from '../../server/problem.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import { JOB_SCHEMA, toPublicJob, type Job } from './job.ts';
import type { Jobs } from './jobs.ts';
import { jobResource } from './job-resource.ts';

const { path: PATH, noun: NOUN } = jobResource;

export function jobRoutes(jobs: Jobs): readonly HttpRoute[] {
  const id = pathParameter('id', 'Of the job');
  return [
    {
      method: 'GET', path: PATH, operationId: 'listJobs', access: 'read',
      summary: 'Jobs, newest first: those that run, and the last hundred that have ended',
      responses: [listResponse('Jobs', JOB_SCHEMA), ...problemResponses(400)],
      handle: (exchange) => sendList(exchange, jobs.list().map(toPublicJob)),
    },
    {
      method: 'GET', path: `${PATH}/{id}`, operationId: 'getJob', access: 'read',
      summary: 'How far a job has got',
      parameters: [id, IF_NONE_MATCH],
      responses: [
        { ...jsonResponse('The job', JOB_SCHEMA), headers: ETAG_HEADER }, ...CONDITIONAL_RESPONSES,
      ],
      handle: (exchange) =>
        sendRepresentation(exchange, NOUN, represent(jobs.get(exchange.params[0] ?? ''))),
    },
    {
      method: 'DELETE', path: `${PATH}/{id}`, operationId: 'cancelJob', access: 'write',
      summary: 'Cancel a job; what it has done stays done, and one that has ended stays as it is',
      parameters: [id],
      responses: [jsonResponse('The job', JOB_SCHEMA), ...problemResponses(404, 503, 507)],
      handle: async (exchange) =>
        exchange.sendJson(200, toPublicJob(await jobs.cancel(exchange.params[0] ?? ''))),
    },
  ];
}

function represent(job: Job): Representation {
  const bytes = Buffer.from(JSON.stringify(toPublicJob(job)));
  return new Representation(job.id, bytes, parseTimestamp(job.updatedAt));
}
