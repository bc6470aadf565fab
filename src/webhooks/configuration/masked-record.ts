/** A stored record as lists show it: `***` for each secret, in free JSON and in URLs too. Pure. */
import type { JsonObject } from '../../base/schema.ts';
import { maskSecrets } from '../http/mask-secrets.ts';
import { restoreResponse } from '../incoming/custom-response.ts';
import { restoreScheme } from '../incoming/verification-member.ts';
import { restoreTokenUrl } from '../outgoing/oauth2-member.ts';
import { restoreSigning } from '../outgoing/signing-member.ts';

export function maskRecord(record: JsonObject): JsonObject {
  return restoreSigning(restoreTokenUrl(
    restoreResponse(restoreScheme(maskSecrets(record), record), record), record), record);
}
