/**
 * The checks of `doctor` for access: whether any usable token is left where one is needed, and what
 * those reach that are bound to webhooks.
 */
import {
  ACCESS_STATE_PATH, UNLOCK_HINT, LOCKED_OUT_PROBLEM, isLockedOut, parseAccessState,
} from '../../../access/access-state.ts';
import type { AccessState } from '../../../access/access-state.ts';
import { decodeTokens, mayRead, type Token } from '../../../access/token.ts';
import { TOKENS } from '../../../access/tokens.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import { isStoreName } from '../../../store/disk/inventory.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { recoverState } from '../../../store/generations/recovery.ts';
import { expectObjects } from '../resource-commands.ts';
import { READ_ANSWERS_ADVICE, describeReadAnswers } from './bound-targets.ts';
import { ok, warning } from './doctor-finding.ts';
import type { DoctorFinding, DoctorSubject } from './doctor-finding.ts';

/** Asks the server when one runs; else reads the files, without changing them. */
export async function checkAccess(subject: DoctorSubject): Promise<DoctorFinding> {
  const { context: { io }, settings, getServer } = subject;
  const server = getServer();
  if (server !== null) {
    return describe(parseAccessState(await server.ask(ACCESS_STATE_PATH)), settings);
  }
  const tokens = await readStoredTokens(subject);
  if (tokens === null) return ok('looked at while a server runs');
  const hasConfigured = settings.server.apiToken !== null;
  return describe({
    isClosed: tokens.length > 0 || hasConfigured,
    hasUsableToken: hasConfigured || tokens.some((token) => mayRead(token, io.now())),
  }, settings);
}

/** Whose target a customer sets, he reads the answers of. Asks and reads as `checkAccess` does. */
export async function checkBoundTokens(subject: DoctorSubject): Promise<DoctorFinding> {
  const { context: { io }, settings, getServer } = subject;
  const server = getServer();
  const tokens = server === null ? await readStoredTokens(subject)
    : expectObjects(await server.ask('/api/tokens'));
  if (tokens === null) return ok('looked at while a server runs');
  const [name, ...others] = tokens
    .filter(({ scope, webhooks, revokedAt, expiresAt }) =>
      scope === 'write' && webhooks !== undefined && revokedAt === undefined
      && (expiresAt === undefined || Date.parse(String(expiresAt)) > io.now()))
    .map((token) => token.name);
  if (name === undefined) return ok('none may set the target of a webhook');
  const openGroups = describeReadAnswers(settings);
  const more = others.length === 0 ? '' : ` and of ${others.length} more`;
  return openGroups === null ? ok('they reach no address of this machine or of a private network')
    : warning(`the holder of ${JSON.stringify(name)}${more} ${openGroups}`, READ_ANSWERS_ADVICE);
}

function describe(state: AccessState, { server }: Settings): DoctorFinding {
  if (isLockedOut(state)) return warning(LOCKED_OUT_PROBLEM, UNLOCK_HINT);
  if (server.mcp && !state.isClosed) {
    return warning('POST /mcp lets every program do everything, without a token',
      'make one with token:create');
  }
  return ok(state.isClosed ? 'the API is closed to callers without a token'
    : 'the API asks for no token');
}

/**
 * The tokens of the data directory, where no server runs; null: an engine has them. Reads the files
 * and changes none: everything since the last compaction. Throws as `recoverState` does, and where
 * a server that runs removes a file meanwhile.
 */
async function readStoredTokens(
  { context: { enterDataAsOwner }, settings }: DoctorSubject,
): Promise<readonly Token[] | null> {
  const directory = enterDataAsOwner();
  if (settings.store.url !== null) return null;
  const files = createNodeFiles();
  const hasStore = files.existsSync(directory) && files.listSync(directory).some(isStoreName);
  if (!hasStore) return [];
  const { collections } = await recoverState({
    directory, files, specs: [TOKENS], skipsUnknownCollections: true,
  });
  return [...collections.values()].flatMap(decodeTokens);
}
