/** `job:*`, and the bulk part of commands that add jobs: `request:replay`, `delivery:resend`. */
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { ListedResource } from '../../../resources/resource.ts';
import { jobResource } from '../../../webhooks/bulk/job-resource.ts';
import type { ApiClient } from '../../api-client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { resolveId, parseObject, recordPath, formatCell } from '../resource-commands.ts';

const POLL_MS = 200;
const FILTERS = ['status', 'event', 'since', 'until', 'as'] as const;
const FLAGS = ['failed', 'hook', 'dry-run', 'wait'] as const;

export async function cancelJob(context: CommandContext): Promise<number> {
  const apiClient = await context.openApiClient();
  const id = await resolveId(context, jobResource);
  const { body } = await apiClient.request({ method: 'DELETE', path: recordPath(jobResource, id) });
  const job = parseObject(body);
  const what = job['status'] === 'cancelled' ? 'cancelled job' : 'too late for job';
  await context.output.result(job, `${what} ${id}: ${formatProgress(job)}`);
  return 0;
}

/** An action on many records of a resource. */
type BulkAction = {
  readonly resource: Pick<ListedResource, 'path' | 'noun' | 'plural'>;
  /** `replay`, the last part of the path. */
  readonly verb: string;
  /** Resolves `--hook` to an identifier. */
  readonly resolveWebhookId: (context: CommandContext) => Promise<string>;
};

/**
 * Whether the options choose many records by a filter, rather than one by its identifier.
 * `singleOptions` are only for one record. Throws `usage` for a mixture of both.
 */
export function isBulk(
  { args, spec }: CommandContext, singleOptions: readonly string[] = [],
): boolean {
  const bulkOptions = [...FILTERS, ...FLAGS].filter((name) => name !== 'as' && args.has(name));
  const isSingle = args.has('identifier');
  const [stray] = (isSingle ? bulkOptions : singleOptions).filter((name) => args.has(name));
  if (stray !== undefined) {
    throw new AppError('usage', `--${stray} is for ${isSingle ? 'many' : 'one'}: ${isSingle
      ? 'leave out the identifier' : 'name it with --identifier'}`);
  }
  const hasFilter = bulkOptions.some((name) => name !== 'dry-run' && name !== 'wait');
  if (isSingle || hasFilter) return !isSingle;
  throw new AppError('usage', `${spec.name} needs --identifier, or what to take: --failed, `
    + '--status, --hook, --event, --since, --until');
}

/** Exit code 1 when something could not be done, or the job was cancelled. */
export async function runBulkAction(context: CommandContext, action: BulkAction): Promise<number> {
  const { args, output } = context;
  const { resource: { path, noun, plural }, verb } = action;
  const formatCount = (count: unknown): string =>
    `${formatCell(count)} ${count === 1 ? noun : plural}`;
  const filter = await readFilter(context, action);
  const apiClient = await context.openApiClient();
  const post = async (body: JsonObject): Promise<JsonObject> => parseObject(
    (await apiClient.request({ method: 'POST', path: `${path}/${verb}`, body })).body);
  if (args.has('dry-run')) {
    const result = await post({ ...filter, dryRun: true });
    await output.result(result, `would ${verb} ${formatCount(result['count'])}`);
    return 0;
  }
  if (args.has('wait') && !apiClient.hasServer) {
    throw new AppError('usage', '--wait needs a server: without one nothing is run; leave it out '
      + 'to have it done once a server is started');
  }
  const job = await post(filter);
  if (args.has('wait')) return waitForJob(context, apiClient, job, plural);
  await output.result(job, `job ${formatCell(job['id'])}: ${verb} ${formatCount(job['total'])}`);
  if (!apiClient.hasServer && job['status'] === 'running') {
    output.note('no server is running: the job begins when one is started');
  }
  return 0;
}

async function readFilter(
  context: CommandContext, { resolveWebhookId }: BulkAction,
): Promise<JsonObject> {
  const { args } = context;
  if (args.has('failed') && args.has('status')) {
    throw new AppError('usage', 'give either --failed or --status');
  }
  const members = FILTERS.flatMap((name) => {
    const value = args.find(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(members),
    ...args.has('failed') ? { status: 'failed' } : {},
    ...args.has('hook') ? { hook: await resolveWebhookId(context) } : {},
  };
}

async function waitForJob(
  context: CommandContext, apiClient: ApiClient, addedJob: JsonObject, plural: string,
): Promise<number> {
  const { output } = context;
  const path = recordPath(jobResource, formatCell(addedJob['id']));
  const progress = output.progress(plural, Number(addedJob['total']));
  let job = addedJob;
  try {
    while (job['status'] === 'running') {
      const count = Number(job['done']) + Number(job['failed']);
      progress.update(count, count);
      await wait(POLL_MS);
      job = parseObject((await apiClient.request({ method: 'GET', path })).body);
    }
  } finally {
    progress.end();
  }
  await output.result(job, `job ${formatCell(job['id'])} is ${formatCell(job['status'])}: `
    + formatProgress(job));
  return job['status'] === 'done' && job['failed'] === 0 ? 0 : 1;
}

function formatProgress({ total, done, failed }: JsonObject): string {
  return `${formatCell(done)} of ${formatCell(total)} done, ${formatCell(failed)} failed`;
}
