/**
 * Ready-to-run calls of an incoming webhook. The secret is never shown: the examples read it from
 * the environment. Pure.
 */
import { shellQuote } from '../../base/text/shell-quote.ts';
import { hasRequestBody } from '../http/target-rules.ts';

export type Examples = { readonly url: string; readonly curl: string; readonly php: string };

const SECRET_VARIABLE = 'WEBHOOK_SECRET';

const BODY = '{"message":"Hello, World!"}';

/** `url` is absolute; `method` is one that the webhook allows. */
type ExampleInput = { readonly url: string; readonly method: string; readonly hasSecret: boolean };

export function makeExamples(input: ExampleInput): Examples {
  return { url: input.url, curl: formatCurl(input), php: formatPhp(input) };
}

/** The method an example uses: POST where it is allowed. */
export function chooseExampleMethod(allowedMethods: readonly string[]): string {
  return allowedMethods.includes('POST') ? 'POST' : allowedMethods[0] ?? 'POST';
}

function formatCurl({ url, method, hasSecret }: ExampleInput): string {
  const hasBody = hasRequestBody(method);
  const methodOption = method === 'HEAD' ? '--head' : `--request ${shellQuote(method)}`;
  const steps = [`curl --silent --show-error ${methodOption}`];
  if (hasBody) {
    const body = hasSecret ? '"$body"' : shellQuote(BODY);
    steps.push("--header 'Content-Type: application/json'", `--data-binary ${body}`);
  }
  if (hasSecret) steps.push('--header "X-Signature: sha256=$signature"');
  steps.push(shellQuote(url));
  const command = steps.join(' \\\n  ');
  return hasSecret ? `${formatSigningStep(hasBody)}\n${command}` : command;
}

// openssl prints `(stdin)= <hex>` or `HMAC-SHA2-256(stdin)= <hex>`; sed keeps the last word.
function formatSigningStep(hasBody: boolean): string {
  return [
    `# export ${SECRET_VARIABLE}="$(cat file-with-the-secret)"`,
    `body=${hasBody ? shellQuote(BODY) : "''"}`,
    `signature=$(printf '%s' "$body" | openssl dgst -sha256 \\`,
    `  -hmac "\${${SECRET_VARIABLE}:?must hold the secret of this webhook}" | sed 's/^.*= *//')`,
  ].join('\n');
}

function formatPhp({ url, method, hasSecret }: ExampleInput): string {
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

/** A PHP single-quoted string literal. */
function phpQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
