/** What an outgoing webhook is: where a request goes, what it carries, and what fires it. */
import type { FieldError } from '../../base/errors.ts';
import { messageOf } from '../../base/errors.ts';
import type { JsonObject } from '../../base/schema.ts';
import { stampMembers, type NamedSchema } from '../../resources/resource.ts';
import type { CollectionSpec } from '../../store/port.ts';
import { previousSecretMember, type PreviousSecret } from '../http/rotation.ts';
import { secretMembers } from '../http/secret.ts';
import {
  DEFAULT_METHOD, findHeaderProblems, headersSchema, targetMethodSchema, targetUrlSchema,
} from '../http/target.ts';
import {
  EVENT_NAME_LENGTH_MAX, EVENT_NAME_RULE, isEventName, refuseEventName,
} from '../actions/event-name.ts';
import { findSecretProblem } from './signature.ts';
import { parseTemplate } from './template.ts';

export type OutgoingWebhook = {
  readonly identifier: string;
  readonly targetUrl: string;
  readonly httpMethod: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payloadTemplate?: string;
  readonly enabled: boolean;
  readonly actionConfiguration?: string;
  readonly triggerEvent?: string;
  readonly secret?: string;
  readonly previousSecret?: PreviousSecret;
};

export const outgoingCollection: CollectionSpec = {
  name: 'outgoing-webhooks', key: 'identifier',
};

const TEMPLATE_LENGTH_MAX = 256 * 1024;

export const outgoingSchema: NamedSchema = {
  kind: 'object',
  name: 'OutgoingWebhook',
  members: {
    identifier: { schema: { kind: 'string', format: 'uuid' }, readOnly: 'echo' },
    ...stampMembers,
    targetUrl: {
      schema: targetUrlSchema, isRequired: true,
      description: 'Credentials in it, parameters like `token` too, are shown as ***; *** sent '
        + 'back keeps them',
    },
    httpMethod: { schema: targetMethodSchema, default: DEFAULT_METHOD },
    headers: {
      schema: headersSchema,
      description: 'Names and values. Values are shown as ***; *** sent back keeps the stored one',
    },
    payloadTemplate: {
      schema: { kind: 'string', maxLength: TEMPLATE_LENGTH_MAX },
      description: 'JSON text with {{ path.to.value }} in its strings',
    },
    enabled: { schema: { kind: 'boolean' }, default: true },
    actionConfiguration: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 },
      description: 'The action whose result is sent instead of the payload',
    },
    triggerEvent: {
      schema: {
        kind: 'string', maxLength: EVENT_NAME_LENGTH_MAX,
        description: `${EVENT_NAME_RULE}; or a prefix of one that ends in ".*"`,
        canonical: (value) => isTriggerEvent(value) ? value : null,
        explain: (value) => refuseEventName(value, 'make one webhook for each name'),
      },
      description: 'The event that fires this webhook; `book.*` is every name below `book.`',
    },
    ...secretMembers,
    previousSecret: previousSecretMember,
  },
  check: findProblems,
};

function isTriggerEvent(pattern: string): boolean {
  return isEventName(pattern.endsWith('.*') ? pattern.slice(0, -2) : pattern);
}

function findProblems(hook: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (hook['headers'] !== undefined) {
    const problems = findHeaderProblems(hook['headers']);
    errors.push(...problems.map(({ pointer, detail }) =>
      ({ pointer: `/headers${pointer}`, detail })));
  }
  if (typeof hook['payloadTemplate'] === 'string') {
    try {
      parseTemplate(hook['payloadTemplate']);
    } catch (thrown) {
      errors.push({ pointer: '/payloadTemplate', detail: messageOf(thrown) });
    }
  }
  const secret = hook['secret'];
  const problem = typeof secret === 'string' ? findSecretProblem(secret) : null;
  if (problem !== null) errors.push({ pointer: '/secret', detail: problem });
  return errors;
}
