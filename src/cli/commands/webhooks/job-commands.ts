/**
 * The command `job:cancel`; and the jobs that `request:replay`, `delivery:resend`,
 * `delivery:cancel` and `outgoingwebhook:backfill` add.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { ListedResource } from '../../../resources/resource.ts';
import { jobResource } from '../../../webhooks/bulk/job-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { pickDefined, readTextMembers } from '../option-members.ts';
import {
  fetchObject, formatValue, recordPath, requestObject, resolveId,
} from '../resource-commands.ts';

const POLL_MS = 200;
/** Options that choose the records of a job. */
const FILTER_OPTIONS = ['status', 'event', 'since', 'until', 'failed', 'hook', 'where'];
/** Options that say how a job is added. */
const JOB_OPTIONS = ['dry-run', 'wait'];

export async function cancelJob(context: CommandContext): Promise<void> {
  const id = await resolveId(context, jobResource);
  const job = await requestObject(context, { method: 'DELETE', path: recordPath(jobResource, id) });
  const what = job['status'] === 'cancelled' ? 'cancelled job' : 'too late for job';
  await context.output.result(job, `${what} ${id}: ${formatProgress(job)}`);
}

/** An action on many records of a resource. */
type BulkAction = {
  readonly resource: Pick<ListedResource, 'path' | 'noun' | 'plural'>;
  /** The last part of the path, such as `replay`; messages say it as well. */
  readonly verb: string;
  /** The members that choose the records. */
  readonly filter: JsonObject;
  /** Says what is still to come of the records with which the job is done; null: nothing is. */
  readonly remainder: string | null;
};

/** The remainder of a job that makes deliveries due. */
export const DUE_DELIVERIES = 'they are due, and may not have been sent yet; '
  + 'delivery:list --status pending shows what has not arrived';

/**
 * Says whether the options name one record, or choose many by a filter. `optionsForOne` are not
 * allowed for many. Throws `usage` for neither, and for a mixture of both.
 */
export function parseSelection(
  { args, spec }: CommandContext, optionsForOne: readonly string[] = [],
): 'one' | 'many' {
  const isOne = args.has('identifier');
  const contradictory = (isOne ? [...FILTER_OPTIONS, ...JOB_OPTIONS] : optionsForOne)
    .find((name) => args.has(name));
  if (contradictory !== undefined) {
    throw new AppError('usage', `--${contradictory} is for ${isOne
      ? 'many: leave out the identifier' : 'one: name it with --identifier'}`);
  }
  if (isOne) return 'one';
  if (FILTER_OPTIONS.some((name) => args.has(name))) return 'many';
  throw new AppError('usage', `${spec.name} needs --identifier, or what to take: --failed, `
    + '--status, --hook, --event, --since, --until, --where');
}

/**
 * Adds a job. Exit code 1 with `--wait` when the job could not do it with some, or was cancelled.
 */
export async function runBulkAction(context: CommandContext, action: BulkAction): Promise<number> {
  const { args, output } = context;
  const { resource: { path, noun, plural }, verb, filter } = action;
  const formatCount = (count: unknown): string =>
    `${formatValue(count)} ${count === 1 ? noun : plural}`;
  const { hasServer } = await context.openApiClient();
  const post = (body: JsonObject): Promise<JsonObject> =>
    requestObject(context, { method: 'POST', path: `${path}/${verb}`, body });
  if (args.has('dry-run')) {
    const result = await post({ ...filter, dryRun: true });
    await output.result(result, `would ${verb} ${formatCount(result['count'])}`);
    return 0;
  }
  if (args.has('wait') && !hasServer) {
    throw new AppError('usage', '--wait needs a server: without one nothing is run; leave it out '
      + 'to have it done once a server is started');
  }
  const job = await post(filter);
  if (args.has('wait')) return waitForJob(context, job, action);
  await output.result(job, `job ${formatValue(job['id'])}: ${verb} ${formatCount(job['total'])}`);
  // A job is stored as `running` from the start; only a server works on it.
  if (!hasServer && job['status'] === 'running') {
    output.note('no server is running: the job begins when one is started');
  }
  return 0;
}

/** Reads the options that choose records; `webhookId` is that of `--hook`. Throws `usage`. */
export function readFilter(context: CommandContext, webhookId: string | undefined): JsonObject {
  const { args } = context;
  if (args.has('failed') && args.has('status')) {
    throw new AppError('usage', 'give either --failed or --status');
  }
  return pickDefined({
    status: args.has('failed') ? 'failed' : undefined,
    ...readTextMembers(context, ['status', 'event', 'since', 'until', 'as']),
    hook: webhookId,
    where: args.has('where') ? args.all('where') : undefined,
  });
}

async function waitForJob(
  context: CommandContext, addedJob: JsonObject, { resource: { plural }, remainder }: BulkAction,
): Promise<number> {
  const { output } = context;
  const path = recordPath(jobResource, formatValue(addedJob['id']));
  const progress = output.progress(plural, Number(addedJob['total']));
  let job = addedJob;
  try {
    while (job['status'] === 'running') {
      const count = Number(job['done']) + Number(job['failed']);
      // Records are both what is shown and what the total counts.
      progress.update(count, count);
      await wait(POLL_MS);
      job = await fetchObject(context, path);
    }
  } finally {
    progress.end();
  }
  await output.result(job, `job ${formatValue(job['id'])} is ${formatValue(job['status'])}: `
    + formatProgress(job));
  if (remainder !== null && job['done'] !== 0) output.note(remainder);
  return job['status'] === 'done' && job['failed'] === 0 ? 0 : 1;
}

function formatProgress({ total, done, failed, reason = null }: JsonObject): string {
  const why = reason === null ? '' : ` (${formatValue(reason)})`;
  return `${formatValue(done)} of ${formatValue(total)} done, ${formatValue(failed)} failed${why}`;
}
