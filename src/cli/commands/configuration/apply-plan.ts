/**
 * The plan of an apply, as `PUT /api/configuration` answers it: asked for with `dryRun` first, and
 * then done with the ETag that came with it, so that exactly the plan that was printed is done.
 */
import { AppError } from '../../../base/errors.ts';
import { isCount, isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import { escapeControls } from '../../../base/text/printable.ts';
import { formatFieldErrors } from '../../../server/problem.ts';
import type { ApiResponse } from '../../../server/local/api-call.ts';
import { SECRET_REMOVED } from '../../../webhooks/configuration/configuration-plan.ts';
import type { ApiClient } from '../../api-client/api-client.ts';
import type { Output } from '../../terminal/output.ts';
import type { Tone } from '../../terminal/colour.ts';
import { formatValue, expectObject } from '../resource-commands.ts';
import { nameFile } from './configuration-file.ts';
import { hideValues } from './references.ts';
import type { ResolvedDocument } from './references.ts';

export const CONFIGURATION_PATH = '/api/configuration';
/** Errors of the server that say what is wrong in the file. */
const FILE_ERRORS = ['malformed', 'invalid', 'conflict', 'too_large'];
/** Losses that a message names: the plan, which was printed before it, has all of them. */
const LOSSES = { countMax: 10 };
/** Records that a line of the plan names: --json, and a plan with --prune, have all of them. */
const UNLISTED = { countMax: 10 };
const TONES: Readonly<Record<string, Tone>> = { '+': 'good', '~': 'warning', '-': 'bad' };

/** A configuration document, and what is to become of the records that it does not have. */
export type ApplyRequest = ResolvedDocument & {
  /** The file that the document is of, for messages. */
  readonly path: string;
  /** undefined: the server's default. */
  readonly set: string | undefined;
  readonly prune: boolean;
  /** Whether a secret that changes ends at once. */
  readonly noOverlap: boolean;
  /** The members that stored webhooks keep. */
  readonly keep: readonly string[];
};

type PrintedChange = {
  readonly sign: string;
  /** `incoming webhook`, say. */
  readonly kind: string;
  readonly name: string;
  readonly members: readonly string[];
  /** The change of each member. */
  readonly details: readonly string[];
  /** The losses that take `--yes`, as clauses. */
  readonly confirm: readonly string[];
  /** How many requests or deliveries wait for a webhook that would go. */
  readonly waiting: number;
};

export type PrintedPlan = {
  readonly changes: readonly PrintedChange[];
  readonly hints: readonly string[];
  /** A line for each webhook that stays off. */
  readonly off: readonly string[];
  /** The answer of the server. */
  readonly body: JsonObject;
  /** The ETag of the state that the plan is for. */
  readonly etag: string;
};

type ApplyClient = Pick<ApiClient, 'request'>;

/** Throws `invalid` and `conflict` when the server cannot make the configuration so. */
export async function fetchPlan(client: ApplyClient, request: ApplyRequest): Promise<PrintedPlan> {
  return sendDocument(client, request, { dryRun: true }, {});
}

/**
 * Does the plan, and resolves with it: more may wait by now for a webhook that goes. Throws
 * `precondition_failed`, with nothing done, when a record was changed since.
 */
export async function carryOut(
  client: ApplyClient, request: ApplyRequest, { etag }: PrintedPlan,
): Promise<PrintedPlan> {
  try {
    // The caller has agreed to all that the plan asks to confirm: see `checkLosses`.
    return await sendDocument(client, request, { yes: true }, { 'if-match': etag });
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'precondition_failed') throw thrown;
    throw new AppError('precondition_failed', 'the configuration was changed after the plan was '
      + 'made: nothing was done; apply again to see the new plan', {}, thrown);
  }
}

async function sendDocument(
  client: ApplyClient, request: ApplyRequest, members: JsonObject,
  headers: Readonly<Record<string, string>>,
): Promise<PrintedPlan> {
  const { path, document, set, prune, noOverlap, keep } = request;
  const body = {
    ...document, ...set === undefined ? {} : { set }, prune, noOverlap,
    ...keep.length === 0 ? {} : { keep }, ...members,
  };
  try {
    return parsePlan(await client.request(
      { method: 'PUT', path: CONFIGURATION_PATH, headers, body }));
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const setError = thrown.details.errors?.find(({ pointer }) => pointer === '/set');
    if (setError !== undefined) {
      throw new AppError('usage', `--set ${setError.detail}`, {}, thrown);
    }
    if (!FILE_ERRORS.includes(thrown.code)) throw thrown;
    // Without its cause, which may quote a secret.
    throw nameFile(new AppError(thrown.code, explainError(thrown, request)), path);
  }
}

/** The message, which says of references that stand for nothing why they do, and hides others. */
function explainError(
  { message, details: { errors = [] } }: AppError, { problems, sources }: ResolvedDocument,
): string {
  const isOfProblem = errors.some(({ pointer }) => problems.has(pointer));
  const text = !isOfProblem ? message : formatFieldErrors(errors.map((error) => {
    const problem = problems.get(error.pointer);
    return problem === undefined ? error
      : { ...error, detail: `${problem}, and there is no stored value that --keep can leave` };
  }));
  return hideValues(text, sources);
}

function parsePlan({ body, headers: { etag } }: ApiResponse): PrintedPlan {
  const plan = expectObject(body);
  const { changes, hints, off } = plan;
  if (!Array.isArray(changes) || etag === undefined) {
    throw new AppError('unavailable', `the answer of PUT ${CONFIGURATION_PATH} is no plan`);
  }
  return {
    changes: changes.map(parseChange), hints: parseTexts(hints), off: parseTexts(off), body: plan,
    etag,
  };
}

function parseChange(value: unknown): PrintedChange {
  const change = isJsonObject(value) ? value : {};
  const { sign, kind, name, members, details, confirm, waiting } = change;
  return {
    sign: formatValue(sign), kind: formatValue(kind), name: formatValue(name),
    members: parseTexts(members), details: parseTexts(details), confirm: parseTexts(confirm),
    waiting: isCount(waiting) ? waiting : 0,
  };
}

function parseTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(formatValue) : [];
}

/** Prints the plan: as the server answered it with --json, else its lines after the first ones. */
export async function printPlan(
  output: Output, plan: PrintedPlan, firstLines: readonly string[],
): Promise<void> {
  if (output.isJson) return output.json(plan.body);
  for (const line of [...firstLines, ...formatPlan(plan)]) {
    await output.write(`${output.paint(escapeControls(line), TONES[line.slice(0, 1)])}\n`);
  }
}

/** A line for each change, one for each member of it, and those for what stays. */
function formatPlan({ changes, off, body }: PrintedPlan): readonly string[] {
  const unlisted = parseTexts(body['unlisted']);
  return [
    ...changes.flatMap((change) =>
      [formatHead(change), ...change.details.map((detail) => `    ${detail}`)]),
    ...off, ...parseTexts(body['kept']),
    ...unlisted.length === 0 ? []
      : [`not in the file, and deleted with --prune: ${joinFirst(unlisted, UNLISTED)}`],
    `= ${formatValue(body['unchanged'])} unchanged`,
  ];
}

/** A line for each change, with the names of its members alone: for a log. */
export function summarizePlan({ changes }: PrintedPlan): readonly string[] {
  return changes.map((change) => change.members.length === 0 ? formatHead(change)
    : `${formatHead(change)}: ${change.members.join(', ')}`);
}

/** Says in words what the plan loses for good. */
export function listLosses({ changes }: PrintedPlan): readonly string[] {
  return changes.flatMap((change) => {
    const webhook = `${change.kind} ${change.name}`;
    const secret = change.members.includes(SECRET_REMOVED) ? [`the secret of ${webhook}`] : [];
    return change.waiting > 0 ? [...secret, `${webhook} with ${formatWaiting(change)}`] : secret;
  });
}

/** Throws `conflict` when the plan loses something for good, or does what nobody may mean. */
export function checkLosses(plan: PrintedPlan): void {
  const losses = listLosses(plan);
  const confirm = plan.changes.flatMap((change) => change.confirm);
  if (losses.length + confirm.length === 0) return;
  const clauses = [
    ...losses.length === 0 ? [] : [`remove ${joinFirst(losses, LOSSES)}`],
    ...confirm.length === 0 ? [] : [joinFirst(confirm, LOSSES)],
  ];
  const wayOut = confirm.length === 0 ? '' : ', else --keep rotation, which leaves rotations alone';
  throw new AppError('conflict', `nothing was changed: this would ${clauses.join(', and ')}; give `
    + `--yes if that is meant${wayOut}`);
}

function formatHead(change: PrintedChange): string {
  const { sign, kind, name, waiting } = change;
  return `${sign} ${kind} ${name}${waiting === 0 ? '' : `: ${formatWaiting(change)}`}`;
}

function formatWaiting({ kind, waiting }: PrintedChange): string {
  const [one, many] = kind.startsWith('incoming')
    ? ['request', 'requests'] : ['delivery', 'deliveries'];
  return waiting === 1 ? `1 ${one} that still waits` : `${waiting} ${many} that still wait`;
}
