/** `job:*`, and what the commands share that ask for one: `request:replay`, `delivery:resend`. */
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { ListedResource } from '../../../resources/resource.ts';
import { jobResource } from '../../../webhooks/jobs/resource.ts';
import type { Session } from '../../session/session.ts';
import type { CommandContext } from '../context.ts';
import { identifierOf, objectOf, pathOf, textOf } from '../resource.ts';

const POLL_MS = 200;
const FILTERS = ['status', 'event', 'since', 'until', 'as'] as const;
const FLAGS = ['failed', 'hook', 'dry-run', 'wait'] as const;

export async function cancelJob(context: CommandContext): Promise<number> {
  const session = await context.openSession();
  const id = await identifierOf(context, jobResource);
  const { body } = await session.request({ method: 'DELETE', path: pathOf(jobResource, id) });
  const job = objectOf(body);
  const what = job['status'] === 'cancelled' ? 'cancelled job' : 'too late for job';
  await context.output.result(job, `${what} ${id}: ${progressOf(job)}`);
  return 0;
}

/** What is done to many records of a resource. */
type BulkAction = {
  readonly resource: Pick<ListedResource, 'path' | 'noun' | 'plural'>;
  /** `replay`, the last part of the path. */
  readonly verb: string;
  /** What --hook names. */
  readonly hookOf: (context: CommandContext) => Promise<string>;
};

/**
 * Whether many are meant, by what they have in common, rather than one by its identifier; `ofOne`
 * are options for one alone. Throws `usage` for a mixture of both.
 */
export function isBulk({ given, spec }: CommandContext, ofOne: readonly string[] = []): boolean {
  const ofMany = [...FILTERS, ...FLAGS].filter((name) => name !== 'as' && given.has(name));
  const isOne = given.has('identifier');
  const [stray] = (isOne ? ofMany : ofOne).filter((name) => given.has(name));
  if (stray !== undefined) {
    throw new AppError('usage', `--${stray} is for ${isOne ? 'many' : 'one'}: ${isOne
      ? 'leave out the identifier' : 'name it with --identifier'}`);
  }
  if (isOne || ofMany.some((name) => name !== 'dry-run' && name !== 'wait')) return !isOne;
  throw new AppError('usage', `${spec.name} needs --identifier, or what to take: --failed, `
    + '--status, --hook, --event, --since, --until');
}

/** Exit code 1 when something could not be done, or the job was cancelled. */
export async function runBulk(context: CommandContext, action: BulkAction): Promise<number> {
  const { given, output } = context;
  const { resource: { path, noun, plural }, verb } = action;
  const counted = (count: unknown): string => `${textOf(count)} ${count === 1 ? noun : plural}`;
  const filter = await filterOf(context, action);
  const session = await context.openSession();
  const ask = async (body: JsonObject): Promise<JsonObject> => objectOf(
    (await session.request({ method: 'POST', path: `${path}/${verb}`, body })).body);
  if (given.has('dry-run')) {
    const result = await ask({ ...filter, dryRun: true });
    await output.result(result, `would ${verb} ${counted(result['count'])}`);
    return 0;
  }
  if (given.has('wait') && !session.isRemote) {
    throw new AppError('usage', '--wait needs a server: without one nothing is run; leave it out '
      + 'to have it done once a server is started');
  }
  const job = await ask(filter);
  if (given.has('wait')) return waitFor(context, session, job, plural);
  await output.result(job, `job ${textOf(job['id'])}: ${verb} ${counted(job['total'])}`);
  if (!session.isRemote && job['status'] === 'running') {
    output.note('no server is running: the job begins when one is started');
  }
  return 0;
}

async function filterOf(
  context: CommandContext, { hookOf }: BulkAction,
): Promise<JsonObject> {
  const { given } = context;
  if (given.has('failed') && given.has('status')) {
    throw new AppError('usage', 'give either --failed or --status');
  }
  const named = FILTERS.flatMap((name) => {
    const value = given.find(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(named),
    ...given.has('failed') ? { status: 'failed' } : {},
    ...given.has('hook') ? { hook: await hookOf(context) } : {},
  };
}

async function waitFor(
  context: CommandContext, session: Session, added: JsonObject, plural: string,
): Promise<number> {
  const { output } = context;
  const path = pathOf(jobResource, textOf(added['id']));
  const progress = output.progress(plural, Number(added['total']));
  let job = added;
  try {
    while (job['status'] === 'running') {
      const count = Number(job['done']) + Number(job['failed']);
      progress.update(count, count);
      await wait(POLL_MS);
      job = objectOf((await session.request({ method: 'GET', path })).body);
    }
  } finally {
    progress.end();
  }
  await output.result(job, `job ${textOf(job['id'])} is ${textOf(job['status'])}: `
    + progressOf(job));
  return job['status'] === 'done' && job['failed'] === 0 ? 0 : 1;
}

function progressOf({ total, done, failed }: JsonObject): string {
  return `${textOf(done)} of ${textOf(total)} done, ${textOf(failed)} failed`;
}
