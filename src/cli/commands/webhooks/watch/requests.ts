/** `request:watch`: a line for each request as it comes in, which can be sent on, too. */
import { sleep, systemClock } from '../../../../base/clock.ts';
import { AppError, messageOf } from '../../../../base/errors.ts';
import { loadCrypto } from '../../../../base/node-modules.ts';
import type { JsonObject } from '../../../../base/schema.ts';
import { printableJson } from '../../../terminal/output.ts';
import { incomingResource } from '../../../../webhooks/incoming/incoming-resource.ts';
import { requestResource } from '../../../../webhooks/inbox/request-resource.ts';
import { readEvents } from '../../../session/events.ts';
import type { Session } from '../../../session/session.ts';
import type { CommandContext } from '../../context.ts';
import { fetchAll, objectOf, pathOf, textOf, webhookName } from '../../resource.ts';
import { forward, parseTarget } from './forward.ts';
import { findIncoming } from '../incoming.ts';
import { pairsOf, readBody } from '../../work.ts';

const STREAM = '/api/stream?topics=requests';
const RECONNECT_MS = 1000;
const NAMES_SHOWN_MAX = 5;
const PSEUDONYM_BYTES = 6;
/** What no action got is not for the program under development either. */
const NOT_FORWARDED = ['rejected', 'duplicate'];

type Watch = {
  readonly context: CommandContext;
  readonly session: Session;
  readonly target: URL | null;
  /** What this command calls itself in the `Via` of requests that it sends on. */
  readonly pseudonym: string;
  /** What people call webhooks, by identifier. */
  readonly names: Map<string, string>;
  lastId: string | null;
  isToldOfSignatures: boolean;
};

/** Ends only by a signal, once nobody reads what it prints, or with an error. */
export async function watchRequests(context: CommandContext): Promise<number> {
  const { given, output } = context;
  const to = given.find('forward');
  const target = to === undefined ? null : parseTarget(to);
  const session = await context.openSession();
  if (!session.isRemote) {
    throw new AppError('usage', 'nothing comes in while no server runs: start one with hookshelf '
      + 'serve, or name one with --server');
  }
  const hook = given.has('hook') ? await findIncoming(context, 'hook') : null;
  const hooks = hook === null ? await fetchAll(session, incomingResource.path) : [hook];
  const watch: Watch = {
    context, session, target, pseudonym: makePseudonym(), names: new Map(), lastId: null,
    isToldOfSignatures: false,
  };
  for (const one of hooks) {
    watch.names.set(textOf(one['identifier']), webhookName(one));
  }
  for (const note of inboxNotes(hooks)) output.note(note);
  const path = hook === null ? STREAM
    : `${STREAM}&hook=${encodeURIComponent(textOf(hook['identifier']))}`;
  await follow(watch, path);
  return 0;
}

/** What of their requests will not be seen, and how to change that. */
function inboxNotes(hooks: readonly JsonObject[]): string[] {
  if (hooks.length === 0) return ['there is no incoming webhook yet'];
  return (['failed', 'off'] as const).flatMap((inbox) => {
    const names = hooks.filter((hook) => hook['inbox'] === inbox)
      .map(webhookName);
    if (names.length === 0) return [];
    const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ');
    const hidden = names.length - NAMES_SHOWN_MAX;
    const more = hidden > 0 ? ` and ${hidden} more` : '';
    const what = inbox === 'failed' ? 'only requests whose action fails' : 'no requests';
    return [`${shown}${more} ${names.length === 1 ? 'keeps' : 'keep'} ${what}, so the others are `
      + `not shown: hookshelf incomingwebhook:update ${names[0]} --inbox all keeps every one`];
  });
}

/** Connects again and again, after the last event that was seen through. */
async function follow(watch: Watch, path: string): Promise<void> {
  const { context: { output }, session, target } = watch;
  const goesTo = target === null ? '' : `, and sent on to ${target.host}`;
  let isFirst = true;
  let isTold = false;
  while (!output.isClosed) {
    try {
      const headers = watch.lastId === null ? {} : { 'Last-Event-ID': watch.lastId };
      const answer = await session.stream({ method: 'GET', path, headers });
      if (isFirst) output.note(`requests are printed as they come${goesTo}; Ctrl-C ends this`);
      if (isTold) output.note('connected again');
      [isFirst, isTold] = [false, false];
      await readAnswer(watch, answer);
    } catch (thrown) {
      if (isFirst || !isPassing(thrown)) throw thrown;
      if (thrown instanceof AppError && thrown.code === 'gone') {
        watch.lastId = null;
        output.note('requests that came meanwhile are not known to the stream any more: see '
          + 'hookshelf request:list; going on from now');
        continue;
      }
    }
    if (output.isClosed) return;
    if (!isTold) output.note('the server has ended the connection; trying to connect again');
    isTold = true;
    await sleep(systemClock, RECONNECT_MS);
  }
}

function isPassing(thrown: unknown): boolean {
  return thrown instanceof AppError && ['unavailable', 'gone'].includes(thrown.code);
}

/** A connection that breaks is one that ends. */
async function readAnswer(watch: Watch, answer: AsyncIterable<unknown>): Promise<void> {
  const events = readEvents(answer);
  try {
    for (;;) {
      const next = await events.next().catch(() => null);
      if (next === null || next.done === true) return;
      const { id, event, data } = next.value;
      if (event === 'request' && data !== null) await show(watch, objectOf(JSON.parse(data)));
      // Only now: what was not seen through comes again.
      watch.lastId = id;
      if (watch.context.output.isClosed) return;
    }
  } finally {
    // The stream has no end of its own.
    await events.return(undefined);
  }
}

async function show(watch: Watch, { change, ...request }: JsonObject): Promise<void> {
  if (change !== 'created') return;
  const { context: { output }, target } = watch;
  if (hasPassed(watch.pseudonym, request)) throw loopError(request);
  const status = textOf(request['status']);
  const isSentOn = target !== null && !NOT_FORWARDED.includes(status);
  const answer = isSentOn ? await sendOn(watch, target, request) : null;
  if (output.isJson) {
    await output.write(`${printableJson({ ...request, ...answer === null ? {} : answer.json })}\n`);
    return;
  }
  const { failedCheck } = objectOf(request['verdict']);
  const parts = [
    timeOf(textOf(request['receivedAt'])), textOf(request['method']),
    request['hookName'] ?? await nameOf(watch, textOf(request['hook'])), request['event'] ?? '-',
    failedCheck === null ? status : `${status} (${textOf(failedCheck)})`, request['id'],
  ].map(String);
  const end = target === null || answer === null ? '' : `  -> ${answer.text}`;
  await output.line(parts.join('  ') + (target !== null && !isSentOn ? '  not sent on' : end));
}

function makePseudonym(): string {
  return `hookshelf-watch-${loadCrypto().randomBytes(PSEUDONYM_BYTES).toString('hex')}`;
}

/** Whether the request is one that this command has sent on, which has come back. */
function hasPassed(pseudonym: string, request: JsonObject): boolean {
  return pairsOf(request['headers'])
    .some(([name, value]) => name.toLowerCase() === 'via' && value.includes(pseudonym));
}

/** Going on would send each request on again and again. */
function loopError(request: JsonObject): AppError {
  return new AppError('usage', `what is sent on comes back as request ${textOf(request['id'])}: `
    + '--forward leads to a webhook of the server that is watched; give the address of your own '
    + 'program, or watch another webhook with --hook');
}

type SentOn = { readonly text: string; readonly json: JsonObject };

async function sendOn(watch: Watch, target: URL, request: JsonObject): Promise<SentOn> {
  const { context, session } = watch;
  const path = pathOf(requestResource, textOf(request['id']));
  try {
    const head = await headOf(watch, path, request);
    const body = await readBody(session, path);
    const { status, text, durationMs } = await forward(target, {
      method: textOf(request['method']), query: textOf(head['query']),
      headers: pairsOf(head['headers']), body, pseudonym: watch.pseudonym,
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

/** With signatures, where the caller may see them. */
async function headOf(watch: Watch, path: string, request: JsonObject): Promise<JsonObject> {
  try {
    return objectOf((await watch.session.request({ method: 'GET', path: `${path}/headers` })).body);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'forbidden') throw thrown;
    if (!watch.isToldOfSignatures) {
      watch.isToldOfSignatures = true;
      watch.context.output.note('signatures are not sent on: a token of scope write may see them');
    }
    return request;
  }
}

async function nameOf({ names, session }: Watch, hook: string): Promise<string> {
  const known = names.get(hook);
  if (known !== undefined) return known;
  for (const one of await fetchAll(session, incomingResource.path)) {
    names.set(textOf(one['identifier']), webhookName(one));
  }
  const name = names.get(hook) ?? hook;
  names.set(hook, name);
  return name;
}

/** `12:03:11`, as it is in this place. */
function timeOf(text: string): string {
  return new Date(text).toTimeString().slice(0, 8);
}
