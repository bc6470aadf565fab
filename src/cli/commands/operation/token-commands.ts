/** `token:*`, through the control socket or in this process; never over TCP. */
import { AppError } from '../../../base/errors.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import type { ApiClient } from '../../api-client/api-client.ts';
import { parsePublicSettings } from '../../../settings/public-settings.ts';
import type { Settings } from '../../../settings/setting-table.ts';
import type { CommandContext } from '../command-context.ts';
import { readMembers } from '../option-members.ts';
import {
  expectObject, expectObjects, fetchAll, formatValue, listRecords, noteLocalUrl, recordPath,
  resolveId,
} from '../resource-commands.ts';
import {
  ACCESS_STATE_PATH, UNLOCK_HINT, LOCKED_OUT_PROBLEM, isLockedOut, parseAccessState,
} from '../../../access/access-state.ts';
import { TOKEN_MODEL, findWebhooksProblems } from '../../../access/token.ts';
import { tokenResource } from '../../../access/token-resource.ts';
import { READ_ANSWERS_ADVICE, describeReadAnswers, selectBound } from './bound-tokens.ts';

/** Prints the token, or its link, alone on the last line; it is shown only this once. */
export async function createToken(context: CommandContext): Promise<number> {
  const { output, args } = context;
  const body = await readMembers(context, TOKEN_MODEL, {
    events: ({ args }) => args.all('event'),
    expiresAt: ({ args }) => parseExpiry(args.get('expires')),
  });
  const [problem] = findWebhooksProblems(body);
  if (problem !== undefined) {
    const option = problem.pointer === '/scope' ? '--scope' : '--webhook';
    throw new AppError('usage', `${option}: ${problem.detail}`);
  }
  if (args.has('url') && body['webhooks'] === undefined) {
    throw new AppError('usage', '--url is for tokens of customers: name webhooks by --webhook');
  }
  const apiClient = await context.openApiClient();
  const consoleUrl = args.has('url') ? await resolveConsoleUrl(context, apiClient) : null;
  const { webhooks } = body;
  // Asked for before the token is made: an error behind that would keep its text from the caller.
  const bindingNotes = Array.isArray(webhooks)
    ? await describeBinding(apiClient, webhooks.map(String), body['scope'] === 'write') : [];
  const response = await apiClient.request({ method: 'POST', path: tokenResource.path, body });
  const { token: secret, ...token } = expectObject(response.body);
  for (const note of bindingNotes) output.note(note);
  const url = consoleUrl === null ? null : `${consoleUrl}#token=${formatValue(secret)}`;
  if (output.isJson) {
    await output.json({ ...token, ...url === null ? { token: secret } : { url } });
    return 0;
  }
  output.note('the token is shown this once; the API is closed from now on to who has none');
  await output.line(
    `created token ${formatValue(token['identifier'])} (${formatValue(token['scope'])})`);
  await output.line(url ?? formatValue(secret));
  return 0;
}

/** Resolves with the address of the console. Throws `usage` where there is none. */
async function resolveConsoleUrl(context: CommandContext, apiClient: ApiClient): Promise<string> {
  const settings = await fetchSettings(apiClient);
  if (!settings.server.console) {
    throw new AppError('usage', '--url: there is no console, as server.console is false');
  }
  const { body } = await apiClient.request({ method: 'GET', path: '/api/status' });
  const url = `${formatValue(expectObject(expectObject(body)['server'])['baseUri'])}/console`;
  noteLocalUrl(context, url);
  return url;
}

async function fetchSettings(apiClient: ApiClient): Promise<Settings> {
  const { body } = await apiClient.request({ method: 'GET', path: '/api/settings' });
  return parsePublicSettings(expectObjects(body), 'the server');
}

/** Says how many webhooks the entries stand for now, and what a holder who sets targets reads. */
async function describeBinding(
  apiClient: ApiClient, entries: readonly string[], setsTargets: boolean,
): Promise<readonly string[]> {
  const count = selectBound(await fetchAll(apiClient, outgoingResource.path), entries).length;
  const binding = `it is for ${count} outgoing ${count === 1 ? 'webhook' : 'webhooks'} now`;
  const reach = setsTargets ? describeReadAnswers(await fetchSettings(apiClient)) : null;
  return reach === null ? [binding] : [binding, `its holder ${reach}: ${READ_ANSWERS_ADVICE}`];
}

/** Prints the tokens, and a note when the API is closed and no usable token is left. */
export async function listTokens(context: CommandContext): Promise<number> {
  const apiClient = await context.openApiClient();
  const code = await listRecords(context, tokenResource);
  const { body } = await apiClient.request({ method: 'GET', path: ACCESS_STATE_PATH });
  if (!isLockedOut(parseAccessState(body))) return code;
  context.output.note(`${LOCKED_OUT_PROBLEM}: ${UNLOCK_HINT}`);
  return code;
}

export async function revokeToken(context: CommandContext): Promise<number> {
  const id = await resolveTokenId(context);
  const apiClient = await context.openApiClient();
  const { body } = await apiClient.request({
    method: 'DELETE', path: recordPath(tokenResource, id),
  });
  await context.output.result(expectObject(body), `revoked token ${id}`);
  return 0;
}

/**
 * Resolves the option to a token's identifier: from an identifier or a part of one, or from a name
 * that exactly one token bears which is not revoked. Throws `conflict` when several tokens match,
 * and when all tokens of that name are revoked.
 */
async function resolveTokenId(context: CommandContext): Promise<string> {
  const name = context.args.get('identifier');
  const apiClient = await context.openApiClient();
  const tokens = await fetchAll(apiClient, tokenResource.path);
  const namesakes = tokens.filter((token) => token['name'] === name);
  const idsOfName = namesakes.filter((token) => !('revokedAt' in token))
    .map((token) => formatValue(token['identifier']));
  const matchingId = await resolveId(context, tokenResource);
  if (namesakes.length > 0 && idsOfName.length === 0 && matchingId === name) {
    throw new AppError('conflict', `the token ${JSON.stringify(name)} is revoked already`);
  }
  const candidates = new Set(idsOfName);
  // `resolveId` returns a text that matches no identifier as it is.
  if (idsOfName.length === 0 || matchingId !== name) candidates.add(matchingId);
  const [id = name, ...others] = candidates;
  if (others.length === 0) return id;
  throw new AppError('conflict', `${JSON.stringify(name)} may be any of ${candidates.size} tokens: `
    + `${[...candidates].join(', ')}; give the identifier of the one that you mean`);
}

/** A date stands for its first moment in UTC; the service parses times and spans itself. */
function parseExpiry(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `${text}T00:00:00Z`;
  if (/^\d+[mhd]$/.test(text) || /^\d{4}-\d{2}-\d{2}T/.test(text)) return text;
  throw new AppError('usage',
    `--expires must be a date (2027-01-31), a time or a span (30d, 12h, 90m), not "${text}"`);
}
