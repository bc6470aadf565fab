/** Encodes the payload that an embedding program sends or emits. */
import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';

/**
 * Encodes a payload as JSON text. Throws `invalid` for what JSON cannot hold, such as `undefined`.
 * It sets no limit of depth, as payloads that come as JSON text have none.
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
