/**
 * Tells the operator whom a new name of an outgoing webhook concerns: tokens are bound to webhooks
 * by name, so a customer may lose the sight of his webhook, and another one may get it.
 */
import type { Tokens } from '../access/tokens.ts';
import type { Logger } from '../base/log.ts';
import { decodeRecord } from '../resources/record.ts';
import type { Store } from '../store/store-port.ts';
import { outgoingCollection } from '../webhooks/outgoing/outgoing-webhook.ts';

/** Returns a function that ends it. Each node of several tells it in its own log. */
export function logRenames(
  { store, logger }: { readonly store: Store; readonly logger: Logger },
  tokens: Pick<Tokens, 'listBoundNames'>,
): () => void {
  return store.collection(outgoingCollection.name).onChange(({ id, before, after }) => {
    if (before === null || after === null) return;
    const [formerName, name] = [readName(before), readName(after)];
    if (formerName === name) return;
    const former = tokens.listBoundNames({ identifier: id, name: formerName });
    const present = tokens.listBoundNames({ identifier: id, name });
    const lostBy = former.filter((token) => !present.includes(token));
    const seenBy = present.filter((token) => !former.includes(token));
    if (lostBy.length + seenBy.length === 0) return;
    logger.warning('a new name of a webhook changes which tokens see it',
      { webhook: id, formerName: formerName ?? null, name: name ?? null, lostBy, seenBy });
  });
}

function readName(record: Buffer): string | undefined {
  const { name } = decodeRecord(record);
  return typeof name === 'string' ? name : undefined;
}
