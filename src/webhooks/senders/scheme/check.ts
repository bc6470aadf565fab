/**
 * A user's own scheme (`verification.scheme` of the preset `custom`): the table of its members, and
 * the rules that make sure that `verify.ts` can read it. What cannot be read is refused when it is
 * saved, with its pointer, and never met by a request.
 */
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type {
  JsonObject, JsonValue, MemberSchema, ObjectSchema, StringSchema,
} from '../../../base/schema.ts';
import {
  ALGORITHMS, ENCODINGS, KEY_FORMS, NEEDS, PLACEHOLDERS, TIME_UNITS, isPublicKey, type Algorithm,
} from './scheme.ts';

const TEXT_MAX = 200;
const STEPS_MAX = 16;
const DAY_S = 86_400;

const text: StringSchema = { kind: 'string', minLength: 1, maxLength: TEXT_MAX };
const oneOf = (values: readonly string[]): StringSchema => ({ kind: 'string', values });
const seconds = (maximum: number): MemberSchema['schema'] =>
  ({ kind: 'integer', minimum: 1, maximum });

const sourceSchema: ObjectSchema = {
  kind: 'object', name: 'VerificationSource',
  members: {
    header: {
      schema: {
        ...text, pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, description: 'a header name',
      },
    },
    json: {
      schema: {
        ...text, description: `member names and indexes joined by dots, at most ${STEPS_MAX}`,
        canonical: (path) => isReadablePath(path) ? path : null,
      },
    },
    form: { schema: text },
    query: { schema: text },
  },
  check: (source) => Object.keys(source).length === 1 ? []
    : [{ pointer: '', detail: 'must have one of header, json, form and query' }],
};
const source: MemberSchema = { schema: sourceSchema };
const neededSource: MemberSchema = { ...source, isRequired: true };

const challengeSchema: ObjectSchema = {
  kind: 'object', name: 'VerificationChallenge',
  members: {
    method: { schema: oneOf(['GET', 'POST']), isRequired: true },
    when: {
      isRequired: true,
      schema: {
        kind: 'array', maxItems: 8,
        items: {
          kind: 'object',
          members: {
            from: neededSource,
            equals: { schema: { kind: 'json', isObject: false, bytesMax: TEXT_MAX, depthMax: 1 } },
          },
          check: ({ equals }) => equals === undefined || typeof equals === 'string'
            || typeof equals === 'number' ? []
            : [{ pointer: '/equals', detail: 'must be a string or a number' }],
        },
      },
    },
    verify: {
      schema: { kind: 'json', isObject: false, bytesMax: 1024, depthMax: 4 },
      description: '`signature`, or where the webhook\'s `verifyToken` stands',
    },
    answer: {
      isRequired: true,
      schema: {
        kind: 'object',
        members: {
          status: { schema: { kind: 'integer', minimum: 200, maximum: 299 }, isRequired: true },
          type: {
            schema: {
              ...text, pattern: /^[a-z]+\/[a-z0-9.+-]+(?:; ?charset=[a-z0-9-]+)?$/,
              description: 'a media type',
            },
            isRequired: true,
          },
          body: {
            schema: { kind: 'json', isObject: false, bytesMax: 4096, depthMax: 2 },
            isRequired: true, description: 'Text, or where it stands in the request',
          },
        },
      },
    },
  },
  check: checkChallenge,
};

/** The table of `verification.scheme`. */
export const schemeSchema: ObjectSchema = {
  kind: 'object', name: 'VerificationScheme',
  members: {
    algorithm: { schema: oneOf(ALGORITHMS), isRequired: true },
    key: { schema: oneOf(KEY_FORMS), isRequired: true },
    content: {
      schema: { kind: 'string', maxLength: 500 }, default: '',
      description: `What is signed: text and ${PLACEHOLDERS.map((name) => `{${name}}`).join(' ')};`
        + ' nothing for the algorithm token',
    },
    signature: {
      isRequired: true,
      schema: {
        kind: 'object',
        members: {
          from: neededSource,
          prefix: { schema: text },
          split: { schema: oneOf([' ', ',']) },
          param: { schema: text },
          encoding: { schema: oneOf(ENCODINGS), isRequired: true },
        },
      },
    },
    timestamp: {
      schema: {
        kind: 'object',
        members: {
          from: source,
          param: { schema: text },
          unit: { schema: oneOf(TIME_UNITS), isRequired: true },
          tolerance: { schema: seconds(DAY_S), isNullable: true },
        },
      },
    },
    id: source,
    dedupe: source,
    dedupeSigned: { schema: { kind: 'boolean' } },
    retryWindow: { schema: seconds(30 * DAY_S) },
    event: source,
    payload: { schema: { kind: 'json', isObject: false, bytesMax: TEXT_MAX, depthMax: 2 } },
    ackWithin: { schema: seconds(3600) },
    challenge: { schema: { kind: 'array', maxItems: 4, items: challengeSchema } },
    needs: { schema: { kind: 'array', maxItems: 3, isUnique: true, items: oneOf(NEEDS) } },
  },
  check: (scheme) => [
    ...checkContent(scheme), ...checkKey(scheme), ...checkTime(scheme), ...checkPayload(scheme),
    ...checkTokens(scheme),
  ],
  hint: ({ algorithm }) => `the preset custom needs all of it, such as ${exampleOf(algorithm)}`,
};

/** The JSON of a short scheme that is sound, for an algorithm that is known. */
export function exampleOf(algorithm: JsonValue | undefined): string {
  const known = ALGORITHMS.find((name) => name === algorithm) ?? 'hmac-sha256';
  const [key] = KEYS_OF[known] ?? HMAC_KEYS;
  return JSON.stringify(known === 'token'
    ? { algorithm, key, signature: { from: { header: 'X-Token' }, encoding: 'utf8' } }
    : {
      algorithm: known, key, content: '{body}',
      signature: { from: { header: 'X-Signature' }, encoding: 'hex' },
    });
}

function checkContent(scheme: JsonObject): FieldError[] {
  const { content, algorithm, needs } = scheme;
  if (typeof content !== 'string') return [];
  const at = (detail: string): FieldError[] => [{ pointer: '/content', detail }];
  if (algorithm === 'token') {
    return content === '' ? [] : at('must be empty: with the algorithm token nothing is signed');
  }
  if (content === '') return at('must say what is signed, such as {body}');
  const used = [...content.matchAll(/\{([\w\s.-]*)\}/g)].map(([, name = '']) => name);
  const twice = [...new Set(used.filter((name, index) => used.indexOf(name) !== index))];
  const unknown = used.filter((name) => !PLACEHOLDERS.some((known) => known === name));
  const missing = used.flatMap((name) => {
    if (name === 'timestamp' && scheme['timestamp'] === undefined) return ['timestamp'];
    if ((name === 'id' || name === 'token') && scheme['id'] === undefined) return ['id'];
    const isNeed = NEEDS.some((need) => need === name);
    return isNeed && !(Array.isArray(needs) && needs.includes(name)) ? [`needs: ["${name}"]`] : [];
  });
  return [
    ...unknown.flatMap((name) => at(`{${name}} is no placeholder; there are `
      + PLACEHOLDERS.map((known) => `{${known}}`).join(', '))),
    ...missing.flatMap((name) => at(`uses a placeholder that needs \`${name}\` in the scheme`)),
    // A body of a megabyte is hashed once for each.
    ...twice.flatMap((name) => at(`holds {${name}} more than once`)),
    ...used.length === 0 ? at('must hold a placeholder, such as {body}') : [],
  ];
}

const KEYS_OF: Readonly<Record<string, readonly string[]>> = {
  ed25519: ['hex', 'base64', 'spki', 'pem'], 'ecdsa-p256': ['spki', 'pem'],
  'rsa-sha256': ['spki', 'pem'], token: ['utf8'],
};
const HMAC_KEYS = ['utf8', 'base64', 'hex', 'whsec'];

function checkKey({ algorithm, key, signature }: JsonObject): FieldError[] {
  const known = ALGORITHMS.find((name): name is Algorithm => name === algorithm);
  if (known === undefined) return [];
  const keys = KEYS_OF[known] ?? HMAC_KEYS;
  const errors: FieldError[] = typeof key === 'string' && !keys.includes(key)
    ? [{ pointer: '/key', detail: `must be ${keys.join(' or ')} for ${known}` }] : [];
  const encoding = isJsonObject(signature) ? signature['encoding'] : undefined;
  if (encoding === 'utf8' && known !== 'token') {
    const what = isPublicKey(known) ? 'a signature is bytes' : 'an HMAC is bytes';
    errors.push({ pointer: '/signature/encoding', detail: `must be hex or base64: ${what}` });
  }
  return errors;
}

function checkTime({ timestamp, signature }: JsonObject): FieldError[] {
  if (!isJsonObject(timestamp)) return [];
  const { from, param } = timestamp;
  if ((from === undefined) === (param === undefined)) {
    return [{ pointer: '/timestamp', detail: 'must have one of from and param' }];
  }
  const hasPairs = isJsonObject(signature) && signature['param'] !== undefined;
  return param === undefined || hasPairs ? []
    : [{ pointer: '/timestamp/param', detail: 'needs signature.param: it stands beside it' }];
}

function checkPayload({ payload }: JsonObject): FieldError[] {
  const isSound = payload === undefined || payload === 'json' || payload === 'form'
    || (isJsonObject(payload) && typeof payload['formField'] === 'string'
      && Object.keys(payload).length === 1);
  const detail = 'must be "json", "form" or { "formField": "<name>" }';
  return isSound ? [] : [{ pointer: '/payload', detail }];
}

/** What a challenge compares with has to be asked for when the webhook is saved. */
function checkTokens({ challenge, needs }: JsonObject): FieldError[] {
  const isAskedFor = Array.isArray(needs) && needs.includes('verifyToken');
  if (!Array.isArray(challenge) || isAskedFor) return [];
  return challenge.flatMap((one: JsonValue, index) =>
    isJsonObject(one) && isJsonObject(one['verify'])
      ? [{ pointer: `/challenge/${index}/verify`, detail: 'needs `needs: ["verifyToken"]`' }] : []);
}

function checkChallenge({ verify, answer, when }: JsonObject): FieldError[] {
  const errors: FieldError[] = Array.isArray(when) && when.length === 0
    ? [{ pointer: '/when', detail: 'must have at least one condition' }] : [];
  const isTokenRule = isJsonObject(verify) && isSource(verify['from'])
    && verify['setting'] === 'verifyToken' && Object.keys(verify).length === 2;
  if (verify !== undefined && verify !== 'signature' && !isTokenRule) {
    const detail = 'must be "signature" or { "from": <source>, "setting": "verifyToken" }';
    errors.push({ pointer: '/verify', detail });
  }
  const body = isJsonObject(answer) ? answer['body'] : undefined;
  if (body !== undefined && typeof body !== 'string' && !isSource(body)) {
    errors.push({ pointer: '/answer/body', detail: 'must be text or a source' });
  }
  return errors;
}

function isSource(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  const [[name, place] = [], ...others] = Object.entries(value);
  return others.length === 0 && name !== undefined && Object.hasOwn(sourceSchema.members, name)
    && typeof place === 'string' && place !== '' && place.length <= TEXT_MAX;
}

/** Whether a path into JSON is one that a request's reader takes. */
export function isReadablePath(path: string): boolean {
  const steps = path.split('.');
  return steps.length <= STEPS_MAX && steps.every((step) => step !== '' && step !== '[]');
}
