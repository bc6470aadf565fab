/**
 * The state that operators see: whether callers need a token, and whether any token lets them in.
 */
import { isJsonObject } from '../base/fields.ts';

export type AccessState = {
  /** Whether the API is closed to callers without a token. */
  readonly isClosed: boolean;
  /** Whether a token is in the settings, or a good one is stored that may read. */
  readonly hasUsableToken: boolean;
  /** Whether the operator has said that callers need no token. */
  readonly allowsAnonymous: boolean;
};

/** On the control socket alone: callers without access must not learn why. */
export const ACCESS_STATE_PATH = '/control/access';

export const LOCKED_OUT_PROBLEM = 'the API is closed, and no token is left that opens it';
export const UNLOCK_HINT =
  'make one with token:create, set HOOKSHELF_API_TOKEN, or give serve --allow-anonymous';

/** Parses the response of `ACCESS_STATE_PATH`. */
export function parseAccessState(body: unknown): AccessState {
  const { isClosed, hasUsableToken, allowsAnonymous } = isJsonObject(body) ? body : {};
  return {
    isClosed: isClosed === true, hasUsableToken: hasUsableToken === true,
    allowsAnonymous: allowsAnonymous === true,
  };
}

export function isLockedOut({ isClosed, hasUsableToken }: AccessState): boolean {
  return isClosed && !hasUsableToken;
}
