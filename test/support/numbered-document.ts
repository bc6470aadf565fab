/** Configuration documents all of whose records bear one number: a mixture of two shows. */
import assert from 'node:assert/strict';

const WEBHOOKS = 20;

/** What an apply of such a document over another one changes. */
export const NUMBERED_CHANGES = WEBHOOKS + 4;
/** The records of a document. */
export const NUMBERED_RECORDS = WEBHOOKS + 2;

/** Webhooks swap their names from number to number; what the last number had alone is pruned. */
export function numberedDocument(number: number, description = ''): object {
  return { ...createRecords(number, description), prune: true };
}

function createRecords(number: number, description: string): object {
  const configuration = `run-${number}`;
  const text = `${number}${description}`;
  return {
    actionConfigurations: [{ identifier: configuration, actionType: 'log' }],
    incomingWebhooks: Array.from({ length: WEBHOOKS }, (_, index) => ({
      pathSegment: `p${index}`, name: `n${(index + number) % WEBHOOKS}`, description: text,
      actionConfiguration: configuration,
    })),
    outgoingWebhooks: [
      { name: `out-${number}`, description: text, targetUrl: 'https://x.example/' },
    ],
  };
}

/** The number that all records of an export bear; it fails when one does not. */
export function readNumber(text: string, description = ''): number {
  const { actionConfigurations, incomingWebhooks, outgoingWebhooks } = JSON.parse(text);
  assert.equal(incomingWebhooks.length, WEBHOOKS);
  const number = Number.parseInt(incomingWebhooks[0].description, 10);
  const place = ({ pathSegment }: { readonly pathSegment: string }): number =>
    Number(pathSegment.slice(1));
  incomingWebhooks.sort((left: { pathSegment: string }, right: { pathSegment: string }) =>
    place(left) - place(right));
  assert.deepEqual({ actionConfigurations, incomingWebhooks, outgoingWebhooks },
    createRecords(number, description));
  return number;
}
