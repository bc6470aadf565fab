/**
 * Ready-to-run calls of an incoming webhook without `verification`. The secret is never shown: the
 * PHP reads it from the environment, as the calls of senders/signing/shell-example.ts do. Pure.
 */
import { shellQuote } from '../../base/text/shell-quote.ts';
import { hasRequestBody } from '../members/target-rules.ts';
import { phpQuote } from '../senders/signing/verification-example.ts';

const SECRET_VARIABLE = 'WEBHOOK_SECRET';

const BODY = '{"message":"Hello, World!"}';

export function chooseExampleMethod(allowedMethods: readonly string[]): string {
  return allowedMethods.includes('POST') ? 'POST' : allowedMethods[0] ?? 'POST';
}

/** For a webhook without a secret. `url` is absolute; `method` is one that the webhook allows. */
export function formatUnsignedCurl(url: string, method: string): string {
  const methodOption = method === 'HEAD' ? '--head' : `--request ${shellQuote(method)}`;
  return [
    `curl --silent --show-error ${methodOption}`,
    ...hasRequestBody(method) ? [
      "--header 'Content-Type: application/json'", `--data-binary ${shellQuote(BODY)}`,
    ] : [],
    shellQuote(url),
  ].join(' \\\n  ');
}

/** `hasSecret`: the call is signed by X-Signature. */
export function formatPhp(url: string, method: string, hasSecret: boolean): string {
  const hasBody = hasRequestBody(method);
  const headers = [
    ...hasBody ? ["'Content-Type: application/json'"] : [],
    ...hasSecret ? ["'X-Signature: sha256=' . hash_hmac('sha256', $body, $secret)"] : [],
  ];
  return [
    '<?php',
    ...hasBody || hasSecret ? [`$body = ${phpQuote(hasBody ? BODY : '')};`] : [],
    ...hasSecret ? [
      `$secret = getenv('${SECRET_VARIABLE}');`,
      'if ($secret === false || $secret === \'\') {',
      `    exit("${SECRET_VARIABLE} must hold the secret of this webhook\\n");`,
      '}',
    ] : [],
    `$request = curl_init(${phpQuote(url)});`,
    'curl_setopt_array($request, [',
    `    CURLOPT_CUSTOMREQUEST => ${phpQuote(method)},`,
    // A response to HEAD has headers alone, so those are shown.
    ...method === 'HEAD' ? ['    CURLOPT_NOBODY => true,', '    CURLOPT_HEADER => true,'] : [],
    ...headers.length > 0 ? ['    CURLOPT_HTTPHEADER => [',
      ...headers.map((header) => `        ${header},`), '    ],'] : [],
    ...hasBody ? ['    CURLOPT_POSTFIELDS => $body,'] : [],
    '    CURLOPT_RETURNTRANSFER => true,',
    ']);',
    'echo curl_exec($request), "\\n";',
  ].join('\n');
}
