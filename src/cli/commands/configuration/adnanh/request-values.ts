/**
 * The values of a request as hooks of adnanh/webhook name them, `{ "source", "name" }`, and the
 * paths and templates that stand for them here. Pure.
 */
import { isJsonNumber } from '../../../../base/exact-number.ts';
import { parsePath } from '../../../../base/json/path.ts';
import { isSecretName } from '../../../../base/log.ts';
import type { JsonObject } from '../../../../base/schema.ts';

/** Why a value has no counterpart, and what to do instead. */
type Obstacle = { readonly reason: string; readonly remedy: string };

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const SOURCES = ['payload', 'header', 'query', 'request', 'string', 'entire-payload'];
const INDEX = /^\d+$/;
const READ_BODY = 'let the command read the body from its standard input: "stdin": "body"';

/** The path of a value in conditions. */
export function findValuePath(parameter: JsonObject): string | Obstacle {
  const source = textOf(parameter['source']);
  const name = textOf(parameter['name']);
  switch (source) {
    case 'header': return HEADER_NAME.test(name) ? `headers.${name.toLowerCase()}`
      : { reason: 'this is no name of a header', remedy: 'name the header' };
    case 'url': case 'query': return name === ''
      ? { reason: 'no parameter is named', remedy: 'name the parameter' } : `query.${name}`;
    case 'payload': return findPayloadPath(name);
    case 'request': return name.toLowerCase() === 'method' ? 'method' : findRequestObstacle(name);
    default: return findSourceObstacle(source);
  }
}

/** The template of a value for the command, which does not get the token at `tokenPath`. */
export function findValueTemplate(
  parameter: JsonObject, tokenPath: string | null, [method = '', ...others]: readonly string[],
): string | Obstacle {
  const source = textOf(parameter['source']);
  if (source === 'string') return textOf(parameter['name']).replaceAll('{{', '\\{{');
  if (source === 'entire-payload') return '{{ payload }}';
  const path = findValuePath(parameter);
  if (typeof path !== 'string') return path;
  if (path === tokenPath) {
    return {
      reason: 'the token that verifies the sender is not given to commands',
      remedy: 'let the command do without it',
    };
  }
  if (path === 'method') {
    return others.length === 0 ? method : {
      reason: 'the method of a request is not given to commands',
      remedy: 'make a webhook of its own for each method, each with an argument that says so',
    };
  }
  if (!path.startsWith('payload') && isSecretName(textOf(parameter['name']))) {
    return {
      reason: 'a header or parameter that holds a secret is not given to commands',
      remedy: 'have the sender send it in the payload, if the command needs it',
    };
  }
  const isPlain = path.split('.').every((step) => step === step.trim())
    && !path.includes('{') && !path.includes('}}');
  return isPlain ? `{{ ${path} }}` : {
    reason: 'the name has braces or white space, which a template cannot name',
    remedy: `pass the whole payload, {{ payload }}, and take it from there`,
  };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' || isJsonNumber(value) || typeof value === 'boolean'
    ? String(value) : '';
}

function findPayloadPath(name: string): string | Obstacle {
  const steps = parsePath(name);
  if (steps === null) {
    return { reason: 'the name has an empty step', remedy: 'name a member, such as pusher.name' };
  }
  if (steps.some((step) => /^[-#]/.test(step))) {
    return {
      reason: 'a name with - or # is one of XML, which no payload is made of',
      remedy: 'have the sender send JSON, or let the command read the XML from its standard input',
    };
  }
  // A payload that is an array has the name `root` there.
  const [first, second] = steps;
  if (first !== 'root') return `payload.${name}`;
  if (second === undefined) return 'payload';
  return INDEX.test(second) ? `payload.${steps.slice(1).join('.')}` : `payload.${name}`;
}

function findRequestObstacle(name: string): Obstacle {
  if (name.toLowerCase() !== 'remote-addr') {
    return { reason: `"${name}" is no value of a request`, remedy: 'remove it' };
  }
  return {
    reason: 'the address of the caller is neither a condition nor given to commands',
    remedy: 'name the addresses that may call in "allowedAddresses"; the inbox shows who called',
  };
}

function findSourceObstacle(source: string): Obstacle {
  switch (source) {
    case 'template': return {
      reason: 'templates of Go are not run',
      remedy: 'pass the values that it needs, such as {{ payload.ref }}, each as an argument, and '
        + 'put them together in the command',
    };
    case 'raw-request-body': return {
      reason: 'the body as it came is neither a condition nor an argument', remedy: READ_BODY,
    };
    case 'entire-headers': case 'entire-query': return {
      reason: 'headers and parameters are given one by one',
      remedy: `name those that are needed: {{ ${source === 'entire-query' ? 'query.page'
        : 'headers.x-github-event'} }}`,
    };
    case 'context': return {
      reason: 'there is no command before the command (pre-hook-command)',
      remedy: 'let the command itself find out what it needs',
    };
    case 'string': case 'entire-payload': return {
      reason: 'this is compared with nothing that a request has', remedy: 'remove the rule',
    };
    default: return {
      reason: `"${source}" is no source of values`,
      remedy: `write one of ${SOURCES.join(', ')}`,
    };
  }
}
