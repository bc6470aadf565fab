/** Whether callers need a token, and whether any token lets them in: what operators are told. */
import { isJsonObject } from '../base/fields.ts';

export type AccessState = {
  /** Whether the API is closed to callers without a token. */
  readonly isClosed: boolean;
  /** Whether a token is configured, or one is stored that is neither revoked nor expired. */
  readonly hasUsableToken: boolean;
};

/** On the control socket alone: who may not come in shall not learn why. */
export const ACCESS_STATE_PATH = '/control/access';

export const LOCKED_OUT_PROBLEM = 'the API is closed, and no token is left that opens it';
export const UNLOCK_HINT =
  'make one with token:create, set HOOKSHELF_API_TOKEN, or give serve --allow-anonymous';

/** What the route of `ACCESS_STATE_PATH` has answered. */
export function parseAccessState(body: unknown): AccessState {
  const { isClosed, hasUsableToken } = isJsonObject(body) ? body : {};
  return { isClosed: isClosed === true, hasUsableToken: hasUsableToken === true };
}

export function isLockedOut({ isClosed, hasUsableToken }: AccessState): boolean {
  return isClosed && !hasUsableToken;
}
