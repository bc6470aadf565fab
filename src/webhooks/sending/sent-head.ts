/** What is kept of the head of a webhook's requests, so that they can be shown after it changed. */
import type { SentHead } from '../deliveries/delivery.ts';
import { MASK, hideUrlSecrets } from '../http/url-credentials.ts';
import { sentHeaders } from '../http/target.ts';
import { shownHeaders } from '../http/shown-headers.ts';
import type { ReadyOutgoing } from '../outgoing/webhook-index.ts';

const SIGNATURES = ['webhook-signature', MASK, 'x-signature', MASK];

// Of a webhook that has not changed it is the same for each of its deliveries.
const made = new WeakMap<ReadyOutgoing, SentHead>();

/** Without what follows from the delivery and its attempt: see `deliveries/sent.ts`. */
export function sentHeadOf(hook: ReadyOutgoing): SentHead {
  const known = made.get(hook);
  if (known !== undefined) return known;
  const { httpMethod: method, targetUrl, secret } = hook;
  const head = {
    method,
    url: hideUrlSecrets(targetUrl),
    headers: [
      ...shownHeaders(sentHeaders(method, hook.headers)), ...secret === undefined ? [] : SIGNATURES,
    ],
  };
  made.set(hook, head);
  return head;
}
