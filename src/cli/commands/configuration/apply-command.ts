/**
 * `apply`: makes the configuration what a file says. The plan comes first and is printed; then it
 * is done, after a question on a terminal.
 */
import { TOKEN_LIST_PATH } from '../../../access/token-resource.ts';
import { DOCUMENT_BYTES_MAX } from '../../../base/files/bounded-read.ts';
import { listObjects } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import { escapeControls } from '../../../base/text/printable.ts';
import { EXIT_FAILED, EXIT_PENDING } from '../../process/exit-code.ts';
import type { Io, Terminal } from '../../terminal/process-io.ts';
import { toKeepValues } from '../../../webhooks/configuration/keepable-members.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { describeSight } from '../operation/bound-tokens.ts';
import { readStandardInput } from '../option-input.ts';
import { fetchAll } from '../resource-commands.ts';
import { OUTGOING } from '../webhooks/outgoing-commands.ts';
import { STANDARD_INPUT, parseConfiguration, readConfigurationFile } from './configuration-file.ts';
import {
  carryOut, checkLosses, fetchPlan, listLosses, printPlan, type ApplyRequest, type PrintedPlan,
} from './apply-plan.ts';
import type { ResolvedDocument } from './references.ts';

/** Resolves with the exit code: 1 after a no; 3 of a dry run that finds something to change. */
export async function applyFile(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const keep = toKeepValues(args.all('keep'));
  const request: ApplyRequest = {
    path: args.get('file'), ...await readDocument(context, keep), set: args.find('set'),
    prune: args.has('prune'), noOverlap: args.has('no-overlap'), keep,
  };
  // The plan names the modules that were loaded for it: they were checked with it.
  const moduleLines: string[] = [];
  const onLoad = (line: string): void => {
    if (output.isJson) output.note(line);
    else moduleLines.push(line);
  };
  context.selectModules({ onLoad });
  const isDryRun = args.has('dry-run');
  let plan: PrintedPlan;
  try {
    plan = await fetchPlan(await context.openApiClient(), request);
  } finally {
    if (isDryRun) await context.closeApiClient();
  }
  if (isDryRun) for (const text of plan.hints) output.note(text);
  await printPlan(output, plan, moduleLines.slice(0, 1));
  // A plan that could not be written, as on a full disk, is not done.
  await output.finish();
  if (plan.changes.length === 0) return 0;
  if (isDryRun) return EXIT_PENDING;
  if (!await mayCarryOut(context, plan)) return EXIT_FAILED;
  const donePlan = await carryOut(await context.openApiClient(), request, plan);
  const foreseen = new Set(listLosses(plan));
  for (const loss of listLosses(donePlan).filter((text) => !foreseen.has(text))) {
    output.note(`removed, as of the moment of the apply: ${loss}`);
  }
  if (!output.isJson) await output.line(`applied: ${countChanges(plan)}`);
  noteSecrets(context, request.document, plan);
  await noteBoundTokens(context, plan);
  for (const text of donePlan.hints) output.note(text);
  return 0;
}

/** Says of which webhooks receivers must know something for their new secret. */
function noteSecrets(
  { output }: CommandContext, document: JsonObject, { changes }: PrintedPlan,
): void {
  const changedNames = new Set(changes.filter(({ kind, sign, members }) =>
    kind === OUTGOING.resource.noun && (sign === '+' || members.includes('secret')))
    .map(({ name }) => name));
  const namesByNote = new Map<string, string[]>();
  for (const webhook of listObjects(document['outgoingWebhooks'])) {
    const { name, secret } = webhook;
    if (typeof secret !== 'string' || !changedNames.has(String(name))) continue;
    const note = OUTGOING.describeSecret?.(webhook, secret);
    if (typeof note !== 'string') continue;
    namesByNote.set(note, [...namesByNote.get(note) ?? [], String(name)]);
  }
  for (const [note, names] of namesByNote) {
    const nouns = names.length === 1 ? OUTGOING.resource.noun : OUTGOING.resource.plural;
    output.note(`${nouns} ${joinFirst(names)}: ${note}`);
  }
}

/** Tokens of customers are bound to webhooks by name, which documents know them by, too. */
async function noteBoundTokens(context: CommandContext, { changes }: PrintedPlan): Promise<void> {
  const named = changes.filter(({ kind, sign }) => kind === outgoingResource.noun && sign !== '~');
  if (named.length === 0) return;
  const tokens = await fetchAll(context, TOKEN_LIST_PATH);
  for (const { sign, name } of named) {
    const [before, after] = sign === '+' ? [null, { name }] : [{ name }, null];
    for (const note of describeSight(tokens, before, after, context.io.now())) {
      context.output.note(`${outgoingResource.noun} ${name}: ${note}`);
    }
  }
}

async function readDocument(
  { args, io, identity }: CommandContext, keep: readonly string[],
): Promise<ResolvedDocument> {
  const path = args.get('file');
  const deps = { identity, environment: io.environment, isRegular: false, keep };
  if (path !== STANDARD_INPUT) return readConfigurationFile(path, deps);
  return parseConfiguration(await readStandardInput(io, DOCUMENT_BYTES_MAX), path, deps);
}

/**
 * Asks on a terminal. Elsewhere a plan that loses something for good is done with `--yes` alone:
 * throws `conflict`.
 */
async function mayCarryOut(context: CommandContext, plan: PrintedPlan): Promise<boolean> {
  const { args, io, output } = context;
  if (args.has('yes')) return true;
  const terminal = args.get('file') === STANDARD_INPUT ? null : findTerminal(io);
  if (terminal === null) {
    checkLosses(plan);
    return true;
  }
  // Others may have the data directory while a person thinks.
  const client = await context.openApiClient();
  if (!client.hasServer) await context.closeApiClient();
  const these = plan.changes.length === 1 ? 'this change' : `these ${countChanges(plan)}`;
  const isAgreed = await askYesOrNo(io, terminal, `Make ${these}?`);
  if (!isAgreed) output.note('nothing was changed');
  return isAgreed;
}

function countChanges({ changes }: PrintedPlan): string {
  return changes.length === 1 ? '1 change' : `${changes.length} changes`;
}

const YES = /^\s*y(es)?\s*$/i;
const ANSWER_CHARACTERS_MAX = 1024;

/** The terminal that shows a question; null when nobody is there to read and answer it. */
function findTerminal({ stdin, stdout, stderr }: Io): Terminal | null {
  if (stdin.isTTY !== true) return null;
  // Standard error may go into a file, where nobody would see the question.
  return [stderr, stdout].find(({ isTTY }) => isTTY === true) ?? null;
}

/** True for `y` and `yes`. Any other line is a no, and so is the end of the input. */
async function askYesOrNo(
  { stdin }: Io, terminal: Terminal, question: string,
): Promise<boolean> {
  terminal.write(`${escapeControls(question)} [y/N] `);
  let answer = '';
  // Leaving the loop closes standard input, which would keep the process alive.
  for await (const chunk of stdin) {
    answer += String(chunk);
    if (answer.includes('\n') || answer.length > ANSWER_CHARACTERS_MAX) break;
  }
  if (!answer.includes('\n')) terminal.write('\n');
  return YES.test(answer.split('\n')[0] ?? '');
}
