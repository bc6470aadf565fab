/**
 * Reads a JSON body with a limit of its own, for the routes whose bodies may be larger than
 * `server.maxBodyBytes`. The budget of bodies does not count it: its route must be for few callers.
 */
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import type { Exchange } from '../http-route.ts';
import {
  checkMediaType, findConsumedBytes, findConsumedJson, isConsumed, parseJsonBody, tooLargeError,
} from './read-body.ts';
import { announcedLength } from './request-head.ts';

/**
 * Throws `unsupported_media_type`, `too_large`, `malformed`, and what `Exchange.readChunks` throws.
 */
export async function readLargeJson(
  exchange: Exchange, mediaTypes: readonly string[], bytesMax: number,
): Promise<unknown> {
  const { request } = exchange;
  checkMediaType(request, mediaTypes);
  const json = findConsumedJson(request);
  if (json !== undefined) return json;
  const consumedBytes = isConsumed(request) ? findConsumedBytes(request) : null;
  const length = consumedBytes?.length ?? announcedLength(request) ?? 0;
  if (length > bytesMax) throw tooLargeError(bytesMax);
  if (consumedBytes !== null) return parseJsonBody(consumedBytes);
  const collector = new ByteCollector();
  for await (const chunk of exchange.readChunks()) {
    if (collector.length + chunk.length > bytesMax) throw tooLargeError(bytesMax);
    collector.add(chunk);
  }
  return parseJsonBody(collector.take());
}
