/** `token:*`, through the control socket or in this process; never over TCP. */
import { AppError } from '../../../base/errors.ts';
import type { CommandContext } from '../context.ts';
import {
  column, identifierColumn, identifierOf, list, objectOf, textOf, timeColumn,
} from '../resource.ts';
import type { Resource } from '../resource.ts';

const TOKENS: Resource = {
  path: '/control/tokens',
  noun: 'token',
  plural: 'tokens',
  columns: [
    identifierColumn('IDENTIFIER', 'identifier'),
    column('NAME', 'name', { widthMin: 16 }),
    column('SCOPE', 'scope', { isWhole: true }),
    timeColumn('CREATED', 'createdAt', { importance: 1 }),
    timeColumn('EXPIRES', 'expiresAt', { importance: 3 }),
    timeColumn('LAST USED', 'lastUsedAt', { importance: 2 }),
    timeColumn('REVOKED', 'revokedAt'),
  ],
};

/** The token stands alone on the last line, shown this once. */
export async function createToken(context: CommandContext): Promise<number> {
  const { given, output } = context;
  const expires = given.find('expires');
  const body = {
    name: given.get('name'), scope: given.get('scope'),
    ...expires === undefined ? {} : { expiresAt: expiryOf(expires) },
  };
  const session = await context.openSession();
  const answer = await session.request({ method: 'POST', path: TOKENS.path, body });
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

export async function listTokens(context: CommandContext): Promise<number> {
  return list(context, TOKENS);
}

export async function revokeToken(context: CommandContext): Promise<number> {
  const id = await identifierOf(context, TOKENS);
  const session = await context.openSession();
  const path = `${TOKENS.path}/${encodeURIComponent(id)}`;
  const { body } = await session.request({ method: 'DELETE', path });
  await context.output.result(objectOf(body), `revoked token ${id}`);
  return 0;
}

/** A date is its first moment in UTC; times and spans are the service's to read. */
function expiryOf(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `${text}T00:00:00Z`;
  if (/^\d+[mhd]$/.test(text) || /^\d{4}-\d{2}-\d{2}T/.test(text)) return text;
  throw new AppError('usage',
    `--expires must be a date (2027-01-31), a time or a span (30d, 12h, 90m), not "${text}"`);
}
