/**
 * The checks of `doctor` for access: whether any usable token is left where one is needed, what
 * those reach that are bound to webhooks, and which end soon.
 */
import {
  ACCESS_STATE_PATH, UNLOCK_HINT, LOCKED_OUT_PROBLEM, isLockedOut, parseAccessState,
} from '../../../access/access-state.ts';
import type { AccessState } from '../../../access/access-state.ts';
import { checkExposure, examineForwarding } from '../../../app/listening.ts';
import { TOKEN_LIST_PATH } from '../../../access/token-resource.ts';
import { decodeTokens, mayRead, type Token } from '../../../access/token.ts';
import { TOKENS } from '../../../access/tokens.ts';
import { messageOf } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import { isReplicaDirectory } from '../../../store/disk/inventory.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { checkJournalEnd, recoverState } from '../../../store/generations/recovery.ts';
import { findJournalEnd } from '../../../store/lock/directory-lock.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import {
  CONDITION_ADVICE, describeShared, describeSupport, describeUnconditional, findHolders,
  findSupportNames, selectBound,
} from '../../../webhooks/outgoing/token-holders.ts';
import { expectObjects } from '../resource-commands.ts';
import {
  READ_ANSWERS_ADVICE, describeReadAnswers, selectBoundTokens,
} from './bound-tokens.ts';
import { failed, hint, ok, warning } from './doctor-finding.ts';
import type { DoctorFinding, DoctorSubject } from './doctor-finding.ts';
import { describeEnding } from './token-commands.ts';

/** Asks the server when one runs; else reads the files, without changing them. */
export async function checkAccess(subject: DoctorSubject): Promise<DoctorFinding> {
  const { context: { io }, settings, getServer, readStoredTokens } = subject;
  const server = getServer();
  if (server !== null) {
    return describe(parseAccessState(await server.ask(ACCESS_STATE_PATH)), settings);
  }
  const tokens = await readStoredTokens();
  if (tokens === null) return ok('looked at while a server runs');
  const hasConfigured = settings.server.apiToken !== null;
  const isClosed = tokens.length > 0 || hasConfigured;
  const refusal = explainRefusal(settings, isClosed);
  if (refusal !== null) return failed(refusal, '');
  // A unit has variables of its own, such as those of its EnvironmentFile.
  const state = {
    isClosed,
    hasUsableToken: hasConfigured || tokens.some((token) => mayRead(token, io.now())),
    allowsAnonymous: false,
  };
  const finding = describe(state, settings);
  if (!isClosed && finding.status === 'ok') {
    return ok('the API asks for no token, unless a server is started with one: this command does '
      + 'not see the variables of a unit');
  }
  return finding;
}

/** Why a start on the host of the settings is refused for who could call it; null: it is not. */
function explainRefusal(settings: Settings, isClosed: boolean): string | null {
  try {
    checkExposure(settings.server.host, settings, isClosed);
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/**
 * A customer who sets a target reads the answers from there; a token is for no webhook once its
 * webhooks are renamed; and customers may see, or hear, what is meant for another. Asks and reads
 * as `checkAccess` does.
 */
export async function checkBoundTokens(
  subject: DoctorSubject,
): Promise<DoctorFinding | readonly DoctorFinding[]> {
  const { context: { io }, settings, getServer } = subject;
  const server = getServer();
  const tokens = await readTokens(subject);
  if (tokens === null) return ok('looked at while a server runs');
  const bound = selectBoundTokens(tokens, io.now());
  const writers = bound.filter(({ scope }) => scope === 'write');
  const openGroups = describeReadAnswers(settings);
  const findings = writers.length === 0 || openGroups === null ? []
    : [warning(`the holder of ${joinNames(writers)} ${openGroups}`, READ_ANSWERS_ADVICE)];
  if (server !== null && bound.length > 0) {
    const webhooks = expectObjects(await server.ask(outgoingResource.path));
    findings.push(...compareBindings(bound, webhooks));
  }
  if (findings.length > 0) return findings;
  const unseen = server !== null || bound.length === 0 ? ''
    : '; what their webhooks hear is looked at while a server runs';
  return ok((writers.length === 0 ? 'none may set the target of a webhook'
    : 'they reach no address of this machine or of a private network') + unseen);
}

function compareBindings(
  tokens: readonly (JsonObject | Token)[], webhooks: readonly JsonObject[],
): readonly DoctorFinding[] {
  const idle = tokens.filter((token) => selectBound(webhooks, token.webhooks).length === 0);
  const holders = findHolders(webhooks, tokens);
  const supportNames = findSupportNames(holders, tokens);
  const rows = [
    [hint, idle.length === 0 ? null
      : `no webhook is there for ${joinNames(idle)}, whose holder sees nothing`,
      'rename a webhook to what token:list says, or make another token'],
    [ok, describeSupport(supportNames), ''],
    [hint, describeShared(holders, supportNames),
      'if that is not meant, end a token by token:revoke, or rename a webhook'],
    [warning, describeUnconditional(holders), CONDITION_ADVICE],
  ] as const;
  return rows.flatMap(([find, detail, advice]) => detail === null ? [] : [find(detail, advice)]);
}

function joinNames(tokens: readonly (JsonObject | Token)[]): string {
  return joinFirst(tokens.map(({ name }) => JSON.stringify(name)));
}

/** A token cannot be prolonged: its holder needs another before it ends. */
export async function checkTokenExpiry(subject: DoctorSubject): Promise<DoctorFinding> {
  const tokens = await readTokens(subject);
  if (tokens === null) return ok('looked at while a server runs');
  const ending = describeEnding(tokens, subject.context.io.now());
  return ending === null ? ok('none ends within 30 days')
    : hint(ending, 'make others by token:create, and hand them out before');
}

/** The tokens, of the server when one runs; null: an engine has them. */
async function readTokens(subject: DoctorSubject): Promise<readonly (JsonObject | Token)[] | null> {
  const server = subject.getServer();
  return server === null ? subject.readStoredTokens()
    : expectObjects(await server.ask(TOKEN_LIST_PATH));
}

function describe(state: AccessState, settings: Settings): DoctorFinding {
  if (isLockedOut(state)) return warning(LOCKED_OUT_PROBLEM, UNLOCK_HINT);
  const exposure = examineForwarding(settings, state.isClosed || state.allowsAnonymous);
  if (exposure !== null) return warning(exposure.problem, exposure.advice);
  if (settings.server.mcp && !state.isClosed) {
    return warning('POST /mcp lets every program do everything, without a token',
      'make one with token:create');
  }
  return ok(state.isClosed ? 'the API is closed to callers without a token'
    : 'the API asks for no token');
}

/** See `DoctorSubject`. Reads everything since the last compaction, and changes no file. */
export async function readStoredTokens(
  { context: { enterDataAsOwner }, settings }: Pick<DoctorSubject, 'context' | 'settings'>,
): Promise<readonly Token[] | null> {
  const directory = enterDataAsOwner();
  if (settings.store.url !== null) return null;
  const files = createNodeFiles();
  if (!files.existsSync(directory) || isReplicaDirectory(files, directory)) return [];
  // Before the files: a server that stops meanwhile writes a later end.
  const journalEnd = findJournalEnd(directory, files);
  const state = await recoverState({
    directory, files, specs: [TOKENS], skipsUnknownCollections: true,
  });
  checkJournalEnd(state, journalEnd);
  return [...state.collections.values()].flatMap(decodeTokens);
}
