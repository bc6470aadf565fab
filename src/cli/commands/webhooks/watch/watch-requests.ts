/** `request:watch`: prints a line for each request as it comes in, and can forward it. */
import { AppError, messageOf } from '../../../../base/errors.ts';
import { loadCrypto } from '../../../../base/node-modules.ts';
import type { JsonObject } from '../../../../base/schema.ts';
import { joinFirst } from '../../../../base/text/error-message.ts';
import { formatPrintableJson } from '../../../terminal/output.ts';
import { incomingResource } from '../../../../webhooks/incoming/incoming-resource.ts';
import { requestResource } from '../../../../webhooks/inbox/request-resource.ts';
import type { CommandContext } from '../../command-context.ts';
import {
  expectObject, fetchAll, fetchNamed, fetchObject, formatValue, recordPath, webhookLabel,
} from '../../resource-commands.ts';
import { followStream, formatLocalTime, requireServer } from './follow-stream.ts';
import { forwardRequest, parseForwardTarget } from './forward-request.ts';
import { parseHeaderPairs, readBody } from '../request-and-delivery.ts';

const STREAM = '/api/stream?topics=requests';
const PSEUDONYM_BYTES = 6;
/** No action got these requests, so the program under development does not get them either. */
const NOT_FORWARDED_STATUSES = ['rejected', 'duplicate'];

type WatchState = {
  readonly context: CommandContext;
  readonly target: URL | null;
  /** The name of this command in the `Via` of requests that it forwards. */
  readonly pseudonym: string;
  /** Labels of webhooks by identifier. */
  readonly labels: Map<string, string>;
  hasNotedSignatures: boolean;
};

/** Ends only by a signal, once nobody reads what it prints, or with an error. */
export async function watchRequests(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const targetText = args.find('forward');
  const target = targetText === undefined ? null : parseForwardTarget(targetText);
  await requireServer(context);
  const webhook = args.has('hook') ? await fetchNamed(context, incomingResource, 'hook') : null;
  const webhooks = webhook === null ? await fetchAll(context, incomingResource.path) : [webhook];
  const watch: WatchState = {
    context, target, pseudonym: makePseudonym(), labels: new Map(),
    hasNotedSignatures: false,
  };
  addLabels(watch, webhooks);
  for (const note of describeInboxes(webhooks)) output.note(note);
  const path = webhook === null ? STREAM
    : `${STREAM}&hook=${encodeURIComponent(formatValue(webhook['identifier']))}`;
  const targetNote = target === null ? '' : `, and sent on to ${target.host}`;
  await followStream(context, {
    path, plural: 'requests', listCommand: 'request:list',
    startNote: `requests are printed as they come${targetNote}; Ctrl-C ends this`,
    handle: (request) => handleRequest(watch, request),
  });
}

/** Says which requests are not stored and so not shown, and how to change that. */
function describeInboxes(webhooks: readonly JsonObject[]): string[] {
  if (webhooks.length === 0) return ['there is no incoming webhook yet'];
  return (['failed', 'off'] as const).flatMap((inbox) => {
    const names = webhooks.filter((webhook) => webhook['inbox'] === inbox)
      .map(webhookLabel);
    if (names.length === 0) return [];
    const what = inbox === 'failed' ? 'only requests whose action fails' : 'no requests';
    const verb = names.length === 1 ? 'keeps' : 'keep';
    return [`${joinFirst(names)} ${verb} ${what}, so the others are `
      + `not shown: hookshelf incomingwebhook:update ${names[0]} --inbox all keeps every one`];
  });
}

async function handleRequest(watch: WatchState, { change, ...request }: JsonObject): Promise<void> {
  if (change !== 'created') return;
  const { context: { output }, target } = watch;
  if (hasPassedHere(watch.pseudonym, request)) throw createLoopError(request);
  const status = formatValue(request['status']);
  const isForwarded = target !== null && !NOT_FORWARDED_STATUSES.includes(status);
  const result = isForwarded ? await fetchAndForward(watch, target, request) : null;
  if (output.isJson) {
    const json = formatPrintableJson({ ...request, ...result === null ? {} : result.json });
    await output.write(`${json}\n`);
    return;
  }
  const { failedCheck } = expectObject(request['verdict']);
  const cells = [
    formatLocalTime(formatValue(request['receivedAt'])), formatValue(request['method']),
    request['hookName'] ?? await resolveLabel(watch, formatValue(request['hook'])),
    request['event'] ?? '-',
    failedCheck === null ? status : `${status} (${formatValue(failedCheck)})`, request['id'],
  ].map(String);
  const end = target === null || result === null ? '' : `  -> ${result.text}`;
  await output.line(cells.join('  ') + (target !== null && !isForwarded ? '  not sent on' : end));
}

function makePseudonym(): string {
  return `hookshelf-watch-${loadCrypto().randomBytes(PSEUDONYM_BYTES).toString('hex')}`;
}

/** Whether this command has forwarded the request before: it has come back. */
function hasPassedHere(pseudonym: string, request: JsonObject): boolean {
  return parseHeaderPairs(request['headers'])
    .some(([name, value]) => name.toLowerCase() === 'via' && value.includes(pseudonym));
}

/** Going on would forward each request again and again. */
function createLoopError(request: JsonObject): AppError {
  return new AppError('usage',
    `what is sent on comes back as request ${formatValue(request['id'])}: `
    + '--forward leads to a webhook of the server that is watched; give the address of your own '
    + 'program, or watch another webhook with --hook');
}

type ForwardOutcome = { readonly text: string; readonly json: JsonObject };

async function fetchAndForward(
  watch: WatchState, target: URL, request: JsonObject,
): Promise<ForwardOutcome> {
  const { context } = watch;
  const path = recordPath(requestResource, formatValue(request['id']));
  try {
    const head = await fetchHeaders(watch, path, request);
    const body = await readBody(context, `${path}/body`);
    const { status, text, durationMs } = await forwardRequest(target, {
      method: formatValue(request['method']), query: formatValue(head['query']),
      headers: parseHeaderPairs(head['headers']), body, pseudonym: watch.pseudonym,
    }, () => context.io.now());
    return {
      text: `${status} ${text} (${durationMs} ms)`,
      json: { forwarded: { status, durationMs } },
    };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const message = messageOf(thrown);
    return { text: message, json: { forwarded: { error: message } } };
  }
}

/** Fetches the headers with signatures; without them where the token may not see them. */
async function fetchHeaders(
  watch: WatchState, path: string, request: JsonObject,
): Promise<JsonObject> {
  try {
    return await fetchObject(watch.context, `${path}/headers`);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'forbidden') throw thrown;
    if (!watch.hasNotedSignatures) {
      watch.hasNotedSignatures = true;
      watch.context.output.note('signatures are not sent on: a token of scope write may see them');
    }
    return request;
  }
}

async function resolveLabel(watch: WatchState, webhookId: string): Promise<string> {
  const { context, labels } = watch;
  const cachedLabel = labels.get(webhookId);
  if (cachedLabel !== undefined) return cachedLabel;
  addLabels(watch, await fetchAll(context, incomingResource.path));
  // A removed webhook gets its identifier as its label, so that it is not looked for again.
  const label = labels.get(webhookId) ?? webhookId;
  labels.set(webhookId, label);
  return label;
}

function addLabels({ labels }: WatchState, webhooks: readonly JsonObject[]): void {
  for (const webhook of webhooks) {
    labels.set(formatValue(webhook['identifier']), webhookLabel(webhook));
  }
}
