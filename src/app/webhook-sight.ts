/**
 * Tells the operator whom the name of an outgoing webhook concerns that is made, renamed or
 * deleted: tokens are bound to webhooks by name, so a customer may lose the sight of his webhook,
 * and another one may get it. It also tells when a webhook that tokens see loses its condition:
 * its holder may get then what is meant for others.
 */
import type { Tokens } from '../access/tokens.ts';
import type { Logger } from '../base/log.ts';
import type { JsonObject } from '../base/schema.ts';
import { decodeRecord } from '../resources/record.ts';
import type { Store } from '../store/store-port.ts';
import { outgoingCollection } from '../webhooks/outgoing/outgoing-webhook.ts';

/** Returns a function that ends it. Each node of several tells it in its own log. */
export function logSights(
  { store, logger }: { readonly store: Store; readonly logger: Logger },
  tokens: Pick<Tokens, 'listBoundNames'>,
): () => void {
  return store.collection(outgoingCollection.name).onChange(({ id, before, after }) => {
    const [earlier, later] = [decode(before), decode(after)];
    const [formerName, name] = [readName(earlier), readName(later)];
    const hasCondition = later?.['when'] !== undefined;
    if (earlier?.['when'] !== undefined && later !== null && !hasCondition) {
      const seenBy = tokens.listBoundNames({ identifier: id, name });
      if (seenBy.length > 0) {
        logger.warning('a webhook that tokens see has no condition any more: it takes any payload',
          { webhook: id, name: name ?? null, seenBy });
      }
    }
    if (before !== null && after !== null && formerName === name) return;
    const former = before === null ? []
      : tokens.listBoundNames({ identifier: id, name: formerName });
    const present = after === null ? [] : tokens.listBoundNames({ identifier: id, name });
    const lostBy = former.filter((token) => !present.includes(token));
    const seenBy = present.filter((token) => !former.includes(token));
    if (lostBy.length + seenBy.length === 0) return;
    logger.warning(after === null ? 'tokens that saw a deleted webhook stay'
      : 'the name of a webhook changes which tokens see it',
    {
      webhook: id, formerName: formerName ?? null, name: name ?? null, lostBy, seenBy,
      ...later === null ? {} : { hasCondition },
    });
  });
}

function decode(record: Buffer | null): JsonObject | null {
  return record === null ? null : decodeRecord(record);
}

function readName(record: JsonObject | null): string | undefined {
  const name = record?.['name'];
  return typeof name === 'string' ? name : undefined;
}
