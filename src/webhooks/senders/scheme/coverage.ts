/** Tells which parts of a request the signature of a scheme covers. Pure. */
import type { Scheme } from './scheme.ts';

type Coverage = { readonly body: boolean; readonly time: boolean; readonly id: boolean };

export function computeCoverage(scheme: Scheme): Coverage {
  const { content, algorithm, timestamp, dedupe, dedupeSigned } = scheme;
  if (algorithm === 'token') return { body: false, time: false, id: false };
  const body = /\{(?:body|plainBody|formSorted)\}/.test(content);
  const from = timestamp?.from;
  const isInBody = body && from !== undefined && 'json' in from;
  return {
    body, time: content.includes('{timestamp}') || isInBody,
    // The id that duplicates are told by; PayPal signs another one.
    id: dedupeSigned === true || (dedupe === undefined && /\{(?:id|token)\}/.test(content)),
  };
}
