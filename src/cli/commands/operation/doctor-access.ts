/** The check of `doctor` for access: whether any usable token is left where one is needed. */
import {
  ACCESS_STATE_PATH, UNLOCK_HINT, LOCKED_OUT_PROBLEM, isLockedOut, parseAccessState,
} from '../../../access/access-state.ts';
import type { AccessState } from '../../../access/access-state.ts';
import { decodeTokens, mayRead } from '../../../access/token.ts';
import { TOKENS } from '../../../access/tokens.ts';
import { isStoreName } from '../../../store/disk/inventory.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { recoverState } from '../../../store/generations/recovery.ts';
import { ok, warning } from './doctor-finding.ts';
import type { DoctorFinding, DoctorSubject } from './doctor-finding.ts';

/** Asks the server when one runs; else reads the files, without changing them. */
export async function checkAccess(
  { context: { enterDataAsOwner, io }, settings, getServer }: DoctorSubject,
): Promise<DoctorFinding> {
  const server = getServer();
  if (server !== null) return describe(parseAccessState(await server.ask(ACCESS_STATE_PATH)));
  const directory = enterDataAsOwner();
  if (settings.store.url !== null) return ok('looked at while a server runs');
  const files = createNodeFiles();
  const hasStore = files.existsSync(directory) && files.listSync(directory).some(isStoreName);
  const storedAccess = hasStore ? await readStoredAccess(directory, io.now()) : OPEN;
  const hasConfigured = settings.server.apiToken !== null;
  return describe({
    isClosed: storedAccess.isClosed || hasConfigured,
    hasUsableToken: storedAccess.hasUsableToken || hasConfigured,
  });
}

const OPEN: AccessState = { isClosed: false, hasUsableToken: false };

function describe(state: AccessState): DoctorFinding {
  if (isLockedOut(state)) return warning(LOCKED_OUT_PROBLEM, UNLOCK_HINT);
  return ok(state.isClosed ? 'the API is closed to callers without a token'
    : 'the API asks for no token');
}

/**
 * How a server on the directory would answer callers that have no token of the settings. Reads the
 * files and changes none: everything since the last compaction. Throws as `recoverState` does, and
 * where a server that runs removes a file meanwhile.
 */
async function readStoredAccess(directory: string, nowMs: number): Promise<AccessState> {
  const { collections } = await recoverState({
    directory, files: createNodeFiles(), specs: [TOKENS], skipsUnknownCollections: true,
  });
  const tokens = [...collections.values()].flatMap(decodeTokens);
  return {
    isClosed: tokens.length > 0,
    hasUsableToken: tokens.some((token) => mayRead(token, nowMs)),
  };
}
