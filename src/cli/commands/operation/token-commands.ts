/** `token:*`, through the control socket or in this process; never over TCP. */
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import { didYouMean } from '../../../base/text/nearest.ts';
import { escapeControls } from '../../../base/text/printable.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import {
  CONDITION_ADVICE, describeShared, describeSupport, describeUnconditional, findHolders,
  findSupportNames, selectBound,
} from '../../../webhooks/outgoing/token-holders.ts';
import { parsePublicSettings } from '../../../settings/public-settings.ts';
import type { Settings } from '../../../settings/setting-table.ts';
import type { CommandContext } from '../command-context.ts';
import { readMembers } from '../option-members.ts';
import {
  fetchAll, fetchListed, fetchObject, findId, formatValue, recordPath, requestObject,
  toTableColumns,
} from '../resource-commands.ts';
import { fetchBaseUri, noteLocalUrl } from '../server-address.ts';
import {
  ACCESS_STATE_PATH, UNLOCK_HINT, LOCKED_OUT_PROBLEM, isLockedOut, parseAccessState,
  type AccessState,
} from '../../../access/access-state.ts';
import { TOKEN_MODEL, findWebhooksProblems, isEnding, isInForce } from '../../../access/token.ts';
import { tokenResource } from '../../../access/token-resource.ts';
import { TOKENS_MAX } from '../../../access/tokens.ts';
import { READ_ANSWERS_ADVICE, describeReadAnswers } from './bound-tokens.ts';

/** Stands for the name of a token in the webhooks that it is bound to. */
const NAME_PLACE = '{name}';

/** A token that ends within this time is due again a day after it was made. */
const DUE_AGAIN_MS = 31 * 86_400_000;

/**
 * Makes a token for each name, with --replace in place of those of that name. Prints one, or its
 * link, alone on stdout, so that `> file` makes a token file, and several with their names, a line
 * for each; they are shown only this once. With --due it makes those alone that are due.
 */
export async function createToken(context: CommandContext): Promise<void> {
  const { output, args } = context;
  const namedBodies = await readTokens(context);
  const consoleUrl = args.has('url') ? await resolveConsoleUrl(context) : null;
  const tokensBefore = await fetchAll(context, tokenResource.path);
  const nowMs = context.io.now();
  const inForce = tokensBefore.filter((token) => isInForce(token, nowMs));
  const bodies = args.has('due') ? selectDue(context, namedBodies, inForce) : namedBodies;
  const isReplacing = args.has('replace');
  const names = new Set(bodies.map(({ name }) => name));
  const others = isReplacing ? inForce.filter(({ name }) => !names.has(name)) : inForce;
  checkMayBeMade(bodies, others, nowMs);
  // Asked for before a token is made: an error behind that would keep its text from the caller.
  const notes = [
    ...await describeBindings(context, bodies, others),
    ...describeNamesakes(bodies, inForce, isReplacing),
    ...describeScopeChanges(bodies, inForce, isReplacing ? makeNameKey : makeTwinKey),
  ];
  const stateBefore = await readAccessState(context);
  const tokens: JsonObject[] = [];
  try {
    const path = `${tokenResource.path}?replace=${isReplacing}`;
    for (const body of bodies) {
      const { token: text, ...token } =
        await requestObject(context, { method: 'POST', path, body });
      const secret = formatValue(text);
      tokens.push(consoleUrl === null ? { ...token, token: secret }
        : { ...token, url: `${consoleUrl}#token=${secret}` });
    }
  } finally {
    for (const note of tokens.length > 0 ? notes : []) output.note(note);
    await printTokens(context, tokens, namedBodies.length > 1 || args.has('due'));
  }
  if (args.has('due') && !tokens.every((token) => isInForce(token, nowMs + DUE_AGAIN_MS))) {
    output.note('each run with --due makes others in place of what ends within 30 days: let '
      + '--expires be a good deal more than that, such as 365d');
  }
  const state = await readAccessState(context);
  if (!output.isJson && state.isClosed && !stateBefore.isClosed) {
    output.note('the API is closed from now on to who has no token');
  }
  if (isLockedOut(state) && !isLockedOut(stateBefore)) {
    output.note('no token lets you into the API or the console now: make one of your own by '
      + 'token:create --name admin --scope admin');
  }
}

/** Reads the tokens to be made. `{name}` in a webhook stands for the name. Throws `usage`. */
async function readTokens(context: CommandContext): Promise<readonly JsonObject[]> {
  const { args } = context;
  const members = await readMembers(context, TOKEN_MODEL, {
    events: ({ args }) => args.all('event'),
    expiresAt: ({ args }) => parseExpiry(args.get('expires')),
  });
  const { webhooks } = members;
  if (args.has('url') && webhooks === undefined) {
    throw new AppError('usage', '--url is for tokens of customers: name webhooks by --webhook');
  }
  const names = args.all('name');
  const repeatedName = names.find((name, index) => names.indexOf(name) !== index);
  if (repeatedName !== undefined) {
    throw new AppError('usage', `--name: ${JSON.stringify(repeatedName)} stands twice`);
  }
  return names.map((name) => {
    const body = !Array.isArray(webhooks) ? { ...members, name } : {
      ...members, name,
      webhooks: webhooks.map((entry) => String(entry).replaceAll(NAME_PLACE, name)),
    };
    const [problem] = findWebhooksProblems(body);
    if (problem === undefined) return body;
    const option = problem.pointer === '/scope' ? '--scope' : '--webhook';
    throw new AppError('usage', `${option}: ${problem.detail}`);
  });
}

/**
 * Leaves out the names that have a token in force for the same webhooks which does not end within
 * 30 days, and notes which these are.
 */
function selectDue(
  { io, output }: CommandContext, bodies: readonly JsonObject[], inForce: readonly JsonObject[],
): readonly JsonObject[] {
  const lasting = inForce.filter((token) => !isEnding(token, io.now()));
  const twins = findTwins(bodies, lasting, makeTwinKey);
  if (twins.length > 0) {
    const binding = twins[0]?.['webhooks'] === undefined ? '' : ' and for the same webhooks';
    output.note(`${twins.length} of ${bodies.length} ${bodies.length === 1 ? 'name' : 'names'} `
      + `left out, as a token of that name${binding} does not end within 30 days: `
      + `${joinFirst(quoteNames(twins))}; --replace makes another in its place`);
    const scope = formatValue(twins[0]?.['scope']);
    const others = findOtherScopes(twins, lasting, makeTwinKey)
      .filter(({ scopes }) => !scopes.has(scope))
      .map(({ name, scopes }) => `${name} (${[...scopes].join(', ')})`);
    if (others.length > 0) {
      output.note(`left out with another scope than ${scope}: ${joinFirst(others)}`);
    }
  }
  return bodies.filter((body) => !twins.includes(body));
}

/**
 * Throws `conflict` where not all tokens can be made, and where one of several would be made a
 * second time, as by the same command again. One that ends within 30 days is no obstacle: its
 * holder needs another. `others` are the tokens in force that stay.
 */
function checkMayBeMade(
  bodies: readonly JsonObject[], others: readonly JsonObject[], nowMs: number,
): void {
  if (others.length + bodies.length > TOKENS_MAX) {
    throw new AppError('conflict', `no token is made, as ${TOKENS_MAX} may be in force: there are `
      + `${others.length}, and ${bodies.length} would come; end others by token:revoke`);
  }
  const lasting = others.filter((token) => !isEnding(token, nowMs));
  const twins = findTwins(bodies, lasting, makeTwinKey);
  if (bodies.length === 1 || twins.length === 0) return;
  throw new AppError('conflict', 'no token is made, as there are tokens already for '
    + `${quoteNames(twins).join(', ')}: leave these names out by --due, or replace their tokens by `
    + '--replace; a single --name makes a second one');
}

async function printTokens(
  { output }: CommandContext, tokens: readonly JsonObject[], areMany: boolean,
): Promise<void> {
  if (output.isJson) return output.json(areMany ? tokens : tokens[0]);
  if (areMany && tokens.length > 0) output.note('each token is shown this once');
  for (const { identifier, scope, name, token, url = token } of tokens) {
    if (areMany) {
      await output.write(`${escapeControls(formatValue(name))}\t${formatValue(url)}\n`);
    } else {
      output.note(`created token ${formatValue(identifier)} (${formatValue(scope)}), which is `
        + 'shown this once');
      await output.line(formatValue(url));
    }
  }
}

async function readAccessState(context: CommandContext): Promise<AccessState> {
  return parseAccessState(await fetchObject(context, ACCESS_STATE_PATH));
}

/** Resolves with the address of the console. Throws `usage` where there is none. */
async function resolveConsoleUrl(context: CommandContext): Promise<string> {
  const settings = await fetchSettings(context);
  if (!settings.server.console) {
    throw new AppError('usage', '--url: there is no console, as server.console is false');
  }
  const url = `${await fetchBaseUri(context)}/console`;
  noteLocalUrl(context, url);
  return url;
}

async function fetchSettings(context: CommandContext): Promise<Settings> {
  return parsePublicSettings(await fetchAll(context, '/api/settings'), 'the server');
}

/**
 * Says how many webhooks the tokens are for now, which of these webhooks other tokens see, too, and
 * what the holder of a token with the scope `write` reads, who sets targets.
 */
async function describeBindings(
  context: CommandContext, bodies: readonly JsonObject[], others: readonly JsonObject[],
): Promise<readonly string[]> {
  const [first] = bodies;
  if (first?.['webhooks'] === undefined) return [];
  const webhooks = await fetchAll(context, outgoingResource.path);
  const bindings = bodies.map((body) =>
    ({ name: body['name'], bound: selectBound(webhooks, body['webhooks']) }));
  const allBound = new Set(bindings.flatMap(({ bound }) => bound));
  const { size } = allBound;
  const count = `${size} outgoing ${size === 1 ? 'webhook' : 'webhooks'} now`;
  const unused = bindings.filter(({ bound }) => bound.length === 0)
    .map(({ name }) => JSON.stringify(name));
  const blindness = size > 0 ? ''
    : `, and its holder sees nothing: none is called ${formatValue(first['webhooks'])}`;
  const binding = bodies.length === 1 ? `it is for ${count}${blindness}` : `they are for ${count}`
    + (unused.length === 0 ? '' : `; there is none for ${unused.join(', ')}`);
  const reach = first['scope'] === 'write'
    ? describeReadAnswers(await fetchSettings(context)) : null;
  const tokens = [...others, ...bodies];
  const holders = findHolders(webhooks, tokens);
  const supportNames = findSupportNames(holders, tokens);
  const support = describeSupport(
    new Set(quoteNames(bodies).filter((name) => supportNames.has(name))));
  const isBound = (webhook: JsonObject): boolean => allBound.has(webhook);
  const shared = describeShared(holders, supportNames, isBound);
  const unconditional = describeUnconditional(holders, isBound);
  const notes = [
    binding, ...support === null ? [] : [support], ...shared === null ? [] : [shared],
    ...unconditional === null ? [] : [`${unconditional}; ${CONDITION_ADVICE}`],
  ];
  if (reach !== null) {
    notes.push(`${bodies.length === 1 ? 'its' : 'each'} holder ${reach}: ${READ_ANSWERS_ADVICE}`);
  }
  return notes;
}

/** Says for which names of new tokens there are tokens in force already, and whether they end. */
function describeNamesakes(
  bodies: readonly JsonObject[], inForce: readonly JsonObject[], isReplacing: boolean,
): readonly string[] {
  const names = quoteNames(findTwins(bodies, inForce, makeNameKey));
  if (names.length === 0) return [];
  return [isReplacing ? `tokens of the same name are ended: ${joinFirst(names)}`
    : `tokens in force have the same name, and stay: ${joinFirst(names)}; token:list shows them, `
      + 'and token:revoke ends them'];
}

/** Says whose new token has another scope than one in force of the same key. */
function describeScopeChanges(
  bodies: readonly JsonObject[], inForce: readonly JsonObject[],
  makeKey: (token: JsonObject) => string,
): readonly string[] {
  const scope = formatValue(bodies[0]?.['scope']);
  const changes = findOtherScopes(bodies, inForce, makeKey).map(({ name, scopes }) => {
    const otherScopes = [...scopes].filter((other) => other !== scope);
    return `${name} had ${otherScopes.join(' and ')} and has ${scope} now`;
  });
  return changes.length === 0 ? [] : [`the scope is another: ${joinFirst(changes)}`];
}

/** Finds the new tokens of which one of the same key has another scope, with all its scopes. */
function findOtherScopes(
  bodies: readonly JsonObject[], tokens: readonly JsonObject[],
  makeKey: (token: JsonObject) => string,
): readonly { readonly name: string; readonly scopes: ReadonlySet<string> }[] {
  const scopesByKey = new Map<string, Set<string>>();
  for (const token of tokens) {
    const key = makeKey(token);
    scopesByKey.set(key, (scopesByKey.get(key) ?? new Set()).add(formatValue(token['scope'])));
  }
  return bodies.flatMap((body) => {
    const scopes = scopesByKey.get(makeKey(body)) ?? new Set();
    const isOther = [...scopes].some((scope) => scope !== body['scope']);
    return isOther ? [{ name: JSON.stringify(body['name']), scopes }] : [];
  });
}

/** Finds the new tokens whose key a token has already. */
function findTwins(
  bodies: readonly JsonObject[], tokens: readonly JsonObject[],
  makeKey: (token: JsonObject) => string,
): readonly JsonObject[] {
  const keys = new Set(tokens.map(makeKey));
  return bodies.filter((body) => keys.has(makeKey(body)));
}

/** The key of a token by its name and its webhooks, in any order. */
function makeTwinKey({ name, webhooks }: JsonObject): string {
  return JSON.stringify([name, Array.isArray(webhooks) ? webhooks.map(String).sort() : null]);
}

function makeNameKey({ name }: JsonObject): string {
  return formatValue(name);
}

function quoteNames(tokens: readonly JsonObject[]): readonly string[] {
  return tokens.map(({ name }) => JSON.stringify(name));
}

/** Says which tokens end within 30 days and have no successor of their name; null: none does. */
export function describeEnding(tokens: readonly JsonObject[], nowMs: number): string | null {
  const lastEnds = new Map<unknown, number>();
  for (const token of tokens.filter((each) => isInForce(each, nowMs))) {
    lastEnds.set(token['name'], Math.max(readEnd(token), lastEnds.get(token['name']) ?? 0));
  }
  const names = tokens
    .filter((token) => isEnding(token, nowMs) && readEnd(token) === lastEnds.get(token['name']))
    .map(({ name }) => JSON.stringify(name));
  return names.length === 0 ? null
    : `${names.length === 1 ? 'a token ends' : 'tokens end'} within 30 days: ${joinFirst(names)}`;
}

function readEnd({ expiresAt }: JsonObject): number {
  return expiresAt === undefined ? Infinity : Date.parse(String(expiresAt));
}

/**
 * Prints the tokens, and notes which end soon, and that the API is closed when no usable token is
 * left.
 */
export async function listTokens(context: CommandContext): Promise<void> {
  const { io, output } = context;
  const tokens = await fetchListed(context, tokenResource);
  await output.list(tokens, toTableColumns(tokenResource), `no ${tokenResource.plural}`);
  const ending = describeEnding(tokens, io.now());
  if (ending !== null) output.note(ending);
  if (isLockedOut(await readAccessState(context))) {
    output.note(`${LOCKED_OUT_PROBLEM}: ${UNLOCK_HINT}`);
  }
}

/**
 * Revokes the tokens that the operands name, or none of them where one names none or several.
 * Prints what was revoked: with --all and of several operands as an array with --json.
 */
export async function revokeTokens(context: CommandContext): Promise<void> {
  const { output, args } = context;
  const names = args.all('identifier');
  const listedTokens = await fetchAll(context, tokenResource.path);
  const ids = new Set<string>();
  for (const name of names) {
    for (const id of await resolveTokenIds(context, listedTokens, name)) ids.add(id);
  }
  const tokens: JsonObject[] = [];
  for (const id of ids) {
    const path = recordPath(tokenResource, id);
    tokens.push(await requestObject(context, { method: 'DELETE', path }));
    if (!output.isJson) await output.line(`revoked token ${id}`);
  }
  if (output.isJson) await output.json(args.has('all') || names.length > 1 ? tokens : tokens[0]);
}

/**
 * Resolves a word to the identifiers of tokens: of the one in force that bears it as its name, with
 * --all of all of that name; where no token ever bore it, from an identifier or a part of one: the
 * name of a customer may well be the end of some identifier. Throws `conflict` when several tokens
 * match without --all, and when all of that name have ended; `not_found` when none matches.
 */
async function resolveTokenIds(
  context: CommandContext, tokens: readonly JsonObject[], name: string,
): Promise<readonly string[]> {
  const namesakes = tokens.filter((token) => token['name'] === name);
  const ids = namesakes.filter((token) => isInForce(token, context.io.now()))
    .map((token) => formatValue(token['identifier']));
  if (ids.length === 1 || (context.args.has('all') && ids.length > 0)) return ids;
  const quotedName = JSON.stringify(name);
  if (ids.length > 1) {
    throw new AppError('conflict', `${quotedName} may be any of ${ids.length} tokens: `
      + `${ids.join(', ')}; give the identifier of the one that you mean, or --all for all of that `
      + 'name');
  }
  if (namesakes.length > 0) {
    throw new AppError('conflict', `the token ${quotedName} is revoked or has expired already`);
  }
  const matchingId = await findId(context, tokenResource, name);
  if (matchingId !== null) return [matchingId];
  throw new AppError('not_found', `there is no token ${quotedName}`
    + (didYouMean(name, tokens.map((token) => formatValue(token['name'])))
      || '; see hookshelf token:list'));
}

/** A date stands for its first moment in UTC; the service parses times and spans itself. */
function parseExpiry(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `${text}T00:00:00Z`;
  if (/^\d+[mhd]$/.test(text) || /^\d{4}-\d{2}-\d{2}T/.test(text)) return text;
  throw new AppError('usage',
    `--expires must be a date (2027-01-31), a time or a span (30d, 12h, 90m), not "${text}"`);
}
