/**
 * Tells the operator whom the name of an outgoing webhook concerns that is made, renamed or
 * deleted: tokens are bound to webhooks by name, so a customer may lose the sight of his webhook,
 * and another one may get it.
 */
import type { Tokens } from '../access/tokens.ts';
import type { Logger } from '../base/log.ts';
import { decodeRecord } from '../resources/record.ts';
import type { Store } from '../store/store-port.ts';
import { outgoingCollection } from '../webhooks/outgoing/outgoing-webhook.ts';

/** Returns a function that ends it. Each node of several tells it in its own log. */
export function logSights(
  { store, logger }: { readonly store: Store; readonly logger: Logger },
  tokens: Pick<Tokens, 'listBoundNames'>,
): () => void {
  return store.collection(outgoingCollection.name).onChange(({ id, before, after }) => {
    const [formerName, name] = [readName(before), readName(after)];
    if (before !== null && after !== null && formerName === name) return;
    const former = before === null ? []
      : tokens.listBoundNames({ identifier: id, name: formerName });
    const present = after === null ? [] : tokens.listBoundNames({ identifier: id, name });
    const lostBy = former.filter((token) => !present.includes(token));
    const seenBy = present.filter((token) => !former.includes(token));
    if (lostBy.length + seenBy.length === 0) return;
    logger.warning(after === null ? 'tokens that saw a deleted webhook stay'
      : 'the name of a webhook changes which tokens see it',
    { webhook: id, formerName: formerName ?? null, name: name ?? null, lostBy, seenBy });
  });
}

function readName(record: Buffer | null): string | undefined {
  const name = record === null ? undefined : decodeRecord(record)['name'];
  return typeof name === 'string' ? name : undefined;
}
