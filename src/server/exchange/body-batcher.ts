/**
 * Hands over the bodies that one turn of the event loop brings together, at its end. To read a
 * request and to do what it asks for is more code than a core's second cache holds: done by turns,
 * each request finds its code gone. Measured with 64 connections that write: a third of the cache
 * misses, and a sixth fewer cycles for each book. Nothing waits for a timer.
 */

/** Who waits for a whole body; neither function throws. */
export type BodyReader = {
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: Error) => void;
};

type ReceivedBody = { readonly reader: BodyReader; readonly bytes: Buffer };

let receivedBodies: ReceivedBody[] = [];

export function deliverBody(reader: BodyReader, bytes: Buffer): void {
  if (receivedBodies.push({ reader, bytes }) === 1) setImmediate(deliverBatch);
}

function deliverBatch(): void {
  const batch = receivedBodies;
  receivedBodies = [];
  for (const { reader, bytes } of batch) reader.resolve(bytes);
}
