/** Reads what the files of a data directory say about access, and changes none of them. */
import type { AccessState } from '../access/access-state.ts';
import { TOKENS } from '../access/tokens.ts';
import { decodeTokens, isUsable } from '../access/token.ts';
import { createNodeFiles } from '../store/disk/files.ts';
import { recoverState } from '../store/generations/recovery.ts';

/**
 * How a server on the directory would answer callers that have no token of the settings. Reads
 * everything since the last compaction. Throws as `recoverState` does, and where a server that runs
 * removes a file meanwhile.
 */
export async function readStoredAccess(directory: string, nowMs: number): Promise<AccessState> {
  const { collections } = await recoverState({
    directory, files: createNodeFiles(), specs: [TOKENS], skipsUnknownCollections: true,
  });
  const tokens = [...collections.values()].flatMap(decodeTokens);
  return {
    isClosed: tokens.length > 0,
    hasUsableToken: tokens.some((token) => isUsable(token, nowMs)),
  };
}
