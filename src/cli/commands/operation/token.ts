/** `token:*`, through the control socket or in this process; never over TCP. */
import { AppError } from '../../../base/errors.ts';
import type { CommandContext } from '../context.ts';
import { fetchAll, identifierOf, list, objectOf, textOf } from '../resource.ts';
import {
  ACCESS_STATE_PATH, UNLOCK_HINT, LOCKED_OUT_PROBLEM, isLockedOut, parseAccessState,
} from '../../../access/access-state.ts';
import { tokenResource } from '../../../access/token-resource.ts';

/** The token stands alone on the last line, shown this once. */
export async function createToken(context: CommandContext): Promise<number> {
  const { given, output } = context;
  const expires = given.find('expires');
  const body = {
    name: given.get('name'), scope: given.get('scope'),
    ...expires === undefined ? {} : { expiresAt: expiryOf(expires) },
  };
  const session = await context.openSession();
  const answer = await session.request({ method: 'POST', path: tokenResource.path, body });
  const token = objectOf(answer.body);
  if (output.isJson) {
    await output.json(token);
    return 0;
  }
  output.note('the token is shown this once; the API is closed from now on to who has none');
  await output.line(`created token ${textOf(token['identifier'])} (${textOf(token['scope'])})`);
  await output.line(textOf(token['token']));
  return 0;
}

/** The list, and a note where no token is left that opens the API. */
export async function listTokens(context: CommandContext): Promise<number> {
  const session = await context.openSession();
  const code = await list(context, tokenResource);
  const { status, body } = await session.ask({ method: 'GET', path: ACCESS_STATE_PATH });
  // A server of version 1.0.0 does not tell.
  if (status !== 200) return code;
  if (!isLockedOut(parseAccessState(body))) return code;
  context.output.note(`${LOCKED_OUT_PROBLEM}: ${UNLOCK_HINT}`);
  return code;
}

export async function revokeToken(context: CommandContext): Promise<number> {
  const id = await resolveToken(context);
  const session = await context.openSession();
  const path = `${tokenResource.path}/${encodeURIComponent(id)}`;
  const { body } = await session.request({ method: 'DELETE', path });
  await context.output.result(objectOf(body), `revoked token ${id}`);
  return 0;
}

/**
 * The identifier of the token that is meant: by its identifier or a part of that, or by its name
 * where exactly one token that is not revoked bears it. Throws `conflict` where several may be.
 */
async function resolveToken(context: CommandContext): Promise<string> {
  const name = context.given.get('identifier');
  const session = await context.openSession();
  const tokens = await fetchAll(session, tokenResource.path);
  const named = tokens.filter((token) => token['name'] === name && !('revokedAt' in token))
    .map((token) => textOf(token['identifier']));
  const byIdentifier = await identifierOf(context, tokenResource);
  const meant = new Set(named);
  // A part of no identifier is given back as it is.
  if (named.length === 0 || byIdentifier !== name) meant.add(byIdentifier);
  const [id = name, ...others] = meant;
  if (others.length === 0) return id;
  throw new AppError('conflict', `${JSON.stringify(name)} may be any of ${meant.size} tokens: `
    + `${[...meant].join(', ')}; give the identifier of the one that you mean`);
}

/** A date is its first moment in UTC; times and spans are the service's to read. */
function expiryOf(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `${text}T00:00:00Z`;
  if (/^\d+[mhd]$/.test(text) || /^\d{4}-\d{2}-\d{2}T/.test(text)) return text;
  throw new AppError('usage',
    `--expires must be a date (2027-01-31), a time or a span (30d, 12h, 90m), not "${text}"`);
}
