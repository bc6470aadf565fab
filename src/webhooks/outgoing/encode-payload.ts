import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';

/**
 * Encodes the payload of a program that embeds us. Throws `invalid` for a value that JSON cannot
 * hold, such as `undefined`. It has no limit of depth, as payloads in JSON text have none.
 */
export function encodePayload(payload: unknown): string {
  try {
    const json: string | undefined = encodeJson(payload);
    if (json !== undefined) return json;
  } catch (thrown) {
    throw new AppError('invalid', 'the payload must be JSON', {}, thrown);
  }
  throw new AppError('invalid', 'the payload must be JSON');
}
