import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';

/** Throws `invalid` for what JSON cannot hold, such as `undefined`. Without a limit of depth. */
export function encodePayload(payload: unknown): string {
  try {
    const json: string | undefined = encodeJson(payload);
    if (json !== undefined) return json;
  } catch (thrown) {
    throw new AppError('invalid', 'the payload must be JSON', {}, thrown);
  }
  throw new AppError('invalid', 'the payload must be JSON');
}
