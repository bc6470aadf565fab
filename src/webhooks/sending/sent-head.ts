/** What is kept of the head of a webhook's requests, so that they can be shown after it changed. */
import { MASK } from '../../base/log.ts';
import type { SentHead } from '../deliveries/delivery.ts';
import { hideUrlSecrets } from '../http/url-credentials.ts';
import { resolveHeaders } from '../http/target-rules.ts';
import { redactHeaders } from '../http/redact-headers.ts';
import type { ReadyOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';

const SIGNATURES = ['webhook-signature', MASK, 'x-signature', MASK];

// Of a webhook that has not changed it is the same for each of its deliveries.
const made = new WeakMap<ReadyOutgoingWebhook, SentHead>();

/** Without what follows from the delivery and its attempt: see `deliveries/sent-request.ts`. */
export function sentHeadOf(hook: ReadyOutgoingWebhook): SentHead {
  const known = made.get(hook);
  if (known !== undefined) return known;
  const { httpMethod: method, targetUrl, secret } = hook;
  const head = {
    method,
    url: hideUrlSecrets(targetUrl),
    headers: [
      ...redactHeaders(resolveHeaders(method, hook.headers)),
      ...secret === undefined ? [] : SIGNATURES,
    ],
  };
  made.set(hook, head);
  return head;
}
