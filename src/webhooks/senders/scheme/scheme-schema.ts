/**
 * The schema of a custom scheme (`verification.scheme` of the preset `custom`), and the rules that
 * make sure that verify.ts can read it. An unreadable scheme is rejected when it is saved, with its
 * pointer; no request ever meets one.
 */
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject, pointerStep, readObjectInto } from '../../../base/fields.ts';
import type {
  JsonObject, JsonValue, MemberSchema, ObjectSchema, StringSchema,
} from '../../../base/schema.ts';
import type { SchemaOf } from '../../../base/schema-types.ts';
import {
  RESERVED_RESPONSE_HEADERS, findHeaderProblems, headersSchema,
} from '../../members/target-rules.ts';
import {
  ALGORITHMS, ENCODINGS, KEY_FORMS, NEEDS, PLACEHOLDERS, TIME_UNITS, isPublicKey, type Algorithm,
  type Scheme,
} from './scheme.ts';

const TEXT_MAX = 200;
const STEPS_MAX = 16;
const PLACES_MAX = 4;
const DAY_S = 86_400;

const textSchema: StringSchema = { kind: 'string', minLength: 1, maxLength: TEXT_MAX };
const createChoiceSchema = (values: readonly string[]): StringSchema =>
  ({ kind: 'string', values });
const createSecondsSchema = (maximum: number): MemberSchema['schema'] =>
  ({ kind: 'integer', minimum: 1, maximum });

const sourceSchema: ObjectSchema = {
  kind: 'object', name: 'VerificationSource',
  members: {
    header: {
      schema: {
        ...textSchema, pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, mustBe: 'a header name',
      },
    },
    json: {
      schema: {
        ...textSchema, mustBe: `member names and indexes joined by dots, at most ${STEPS_MAX}`,
        canonical: (path) => isReadablePath(path) ? path : null,
      },
    },
    form: { schema: textSchema },
    query: { schema: textSchema },
  },
  check: (source) => Object.keys(source).length === 1 ? []
    : [{ pointer: '', detail: 'must have one of header, json, form and query' }],
};
const sourceMember: MemberSchema = { schema: sourceSchema };
const requiredSourceMember: MemberSchema = { ...sourceMember, isRequired: true };

const handshakeSchema: ObjectSchema = {
  kind: 'object', name: 'VerificationChallenge',
  members: {
    method: { schema: createChoiceSchema(['GET', 'HEAD', 'POST']), isRequired: true },
    when: {
      isRequired: true,
      schema: {
        kind: 'array', maxItems: 8,
        items: {
          kind: 'object',
          members: {
            from: requiredSourceMember,
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
    secret: {
      ...sourceMember,
      description: 'Where the sender brings the secret that it chose: it becomes the webhook\'s if '
        + 'somebody has asked for it',
    },
    answer: {
      isRequired: true,
      schema: {
        kind: 'object',
        members: {
          status: { schema: { kind: 'integer', minimum: 200, maximum: 299 }, isRequired: true },
          type: {
            schema: {
              ...textSchema, pattern: /^[a-z]+\/[a-z0-9.+-]+(?:; ?charset=[a-z0-9-]+)?$/,
              mustBe: 'a media type',
            },
            isRequired: true,
          },
          body: {
            schema: { kind: 'json', isObject: false, bytesMax: 4096, depthMax: 2 },
            isRequired: true,
            description: 'Where it stands in the request; or text, in which {value} is `value`',
          },
          value: {
            ...sourceMember,
            description: 'A value of the request, which stands as JSON text for {value} in `body`',
          },
          headers: {
            schema: headersSchema,
            description: 'Names, each with text or where its value stands in the request',
          },
        },
      },
    },
  },
  check: findHandshakeProblems,
};

export const schemeSchema: SchemaOf<Scheme> = {
  kind: 'object', name: 'VerificationScheme',
  members: {
    algorithm: { schema: createChoiceSchema(ALGORITHMS), isRequired: true },
    key: { schema: createChoiceSchema(KEY_FORMS), isRequired: true },
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
          from: {
            schema: { kind: 'json', isObject: false, bytesMax: 2048, depthMax: 2 },
            isRequired: true,
            description: 'Where it stands: a VerificationSource, or an array of at most '
              + `${PLACES_MAX}, of which the first that has a value counts`,
          },
          prefix: { schema: textSchema },
          prefixOptional: {
            schema: { kind: 'boolean' },
            description: 'A signature may stand there without the prefix as well',
          },
          split: { schema: createChoiceSchema([' ', ',', ';']) },
          param: { schema: textSchema },
          encoding: { schema: createChoiceSchema(ENCODINGS), isRequired: true },
        },
        check: findSignatureProblems,
      },
    },
    timestamp: {
      schema: {
        kind: 'object',
        members: {
          from: sourceMember,
          param: { schema: textSchema },
          unit: { schema: createChoiceSchema(TIME_UNITS), isRequired: true },
          tolerance: { schema: createSecondsSchema(DAY_S), isNullable: true },
        },
      },
    },
    id: sourceMember,
    dedupe: sourceMember,
    dedupeSigned: { schema: { kind: 'boolean' } },
    retryWindow: { schema: createSecondsSchema(30 * DAY_S) },
    event: sourceMember,
    payload: { schema: { kind: 'json', isObject: false, bytesMax: TEXT_MAX, depthMax: 2 } },
    ackWithin: { schema: createSecondsSchema(3600) },
    challenge: { schema: { kind: 'array', maxItems: 4, items: handshakeSchema } },
    needs: {
      schema: {
        kind: 'array', maxItems: NEEDS.length, isUnique: true, items: createChoiceSchema(NEEDS),
      },
    },
  },
  check: (scheme) => [
    ...findContentProblems(scheme), ...findKeyProblems(scheme), ...findTimeProblems(scheme),
    ...findPayloadProblems(scheme), ...findVerifyTokenProblems(scheme),
  ],
  hint: ({ algorithm }) =>
    `all of it is required, such as ${formatExampleScheme(algorithm)}`,
};

/** The JSON of a short valid scheme, for the algorithm if it is known. */
export function formatExampleScheme(algorithm: JsonValue | undefined): string {
  const knownAlgorithm = ALGORITHMS.find((name) => name === algorithm) ?? 'hmac-sha256';
  const [key] = KEY_FORMS_BY_ALGORITHM[knownAlgorithm] ?? HMAC_KEY_FORMS;
  return JSON.stringify(knownAlgorithm === 'token'
    ? { algorithm, key, signature: { from: { header: 'X-Token' }, encoding: 'utf8' } }
    : {
      algorithm: knownAlgorithm, key, content: '{body}',
      signature: { from: { header: 'X-Signature' }, encoding: 'hex' },
    });
}

function findContentProblems(scheme: JsonObject): FieldError[] {
  const { content, algorithm, needs } = scheme;
  if (typeof content !== 'string') return [];
  const toErrors = (detail: string): FieldError[] => [{ pointer: '/content', detail }];
  if (algorithm === 'token') {
    return content === '' ? []
      : toErrors('must be empty: with the algorithm token nothing is signed');
  }
  if (content === '') return toErrors('must say what is signed, such as {body}');
  const usedNames = [...content.matchAll(/\{([\w\s.-]*)\}/g)].map(([, name = '']) => name);
  const repeatedNames = new Set(
    usedNames.filter((name, index) => usedNames.indexOf(name) !== index));
  const unknownNames = usedNames.filter((name) =>
    !PLACEHOLDERS.some((placeholder) => placeholder === name));
  const missingMembers = usedNames.flatMap((name) => {
    if (name === 'timestamp' && scheme['timestamp'] === undefined) return ['timestamp'];
    if ((name === 'id' || name === 'token') && scheme['id'] === undefined) return ['id'];
    const isNeed = NEEDS.some((need) => need === name);
    return isNeed && !(Array.isArray(needs) && needs.includes(name)) ? [`needs: ["${name}"]`] : [];
  });
  return [
    ...unknownNames.flatMap((name) => toErrors(`{${name}} is no placeholder; there are `
      + PLACEHOLDERS.map((placeholder) => `{${placeholder}}`).join(', '))),
    ...missingMembers.flatMap((name) =>
      toErrors(`uses a placeholder that needs \`${name}\` in the scheme`)),
    // Each repetition would hash a body of a megabyte once more.
    ...[...repeatedNames].flatMap((name) => toErrors(`holds {${name}} more than once`)),
    ...usedNames.length === 0 ? toErrors('must hold a placeholder, such as {body}') : [],
  ];
}

const KEY_FORMS_BY_ALGORITHM: Readonly<Record<string, readonly string[]>> = {
  ed25519: ['hex', 'base64', 'spki', 'pem'], 'ecdsa-p256': ['spki', 'pem'],
  'rsa-sha256': ['spki', 'pem'], token: ['utf8'],
};
const HMAC_KEY_FORMS = ['utf8', 'base64', 'hex', 'whsec'];

function findKeyProblems({ algorithm, key, signature }: JsonObject): FieldError[] {
  const knownAlgorithm = ALGORITHMS.find((name): name is Algorithm => name === algorithm);
  if (knownAlgorithm === undefined) return [];
  const keyForms = KEY_FORMS_BY_ALGORITHM[knownAlgorithm] ?? HMAC_KEY_FORMS;
  const errors: FieldError[] = typeof key === 'string' && !keyForms.includes(key)
    ? [{ pointer: '/key', detail: `must be ${keyForms.join(' or ')} for ${knownAlgorithm}` }] : [];
  const encoding = isJsonObject(signature) ? signature['encoding'] : undefined;
  if (encoding === 'utf8' && knownAlgorithm !== 'token') {
    const what = isPublicKey(knownAlgorithm) ? 'a signature is bytes' : 'an HMAC is bytes';
    errors.push({ pointer: '/signature/encoding', detail: `must be hex or base64: ${what}` });
  }
  return errors;
}

function findSignatureProblems({ from, prefix, prefixOptional }: JsonObject): FieldError[] {
  const errors: FieldError[] = prefixOptional === true && prefix === undefined
    ? [{ pointer: '/prefixOptional', detail: 'needs a prefix that may be left out' }] : [];
  if (from === undefined) return errors;
  if (!Array.isArray(from)) return [...errors, ...findPlaceProblems(from, '/from')];
  if (from.length === 0 || from.length > PLACES_MAX) {
    return [...errors, { pointer: '/from', detail: `must hold 1 to ${PLACES_MAX} places` }];
  }
  return [...errors, ...from.flatMap((place: JsonValue, index) =>
    findPlaceProblems(place, `/from/${index}`))];
}

function findPlaceProblems(place: JsonValue, pointer: string): FieldError[] {
  const errors: FieldError[] = [];
  readObjectInto(sourceSchema, place, errors);
  return errors.map((error) => ({ ...error, pointer: pointer + error.pointer }));
}

function findTimeProblems({ timestamp, signature }: JsonObject): FieldError[] {
  if (!isJsonObject(timestamp)) return [];
  const { from, param } = timestamp;
  if ((from === undefined) === (param === undefined)) {
    return [{ pointer: '/timestamp', detail: 'must have one of from and param' }];
  }
  const hasPairs = isJsonObject(signature) && signature['param'] !== undefined;
  return param === undefined || hasPairs ? []
    : [{ pointer: '/timestamp/param', detail: 'needs signature.param: it stands beside it' }];
}

function findPayloadProblems({ payload }: JsonObject): FieldError[] {
  const isSound = payload === undefined || payload === 'json' || payload === 'form'
    || (isJsonObject(payload) && typeof payload['formField'] === 'string'
      && Object.keys(payload).length === 1);
  const detail = 'must be "json", "form" or { "formField": "<name>" }';
  return isSound ? [] : [{ pointer: '/payload', detail }];
}

/** The token that a handshake compares with must be required when the webhook is saved. */
function findVerifyTokenProblems({ challenge, needs }: JsonObject): FieldError[] {
  const isAskedFor = Array.isArray(needs) && needs.includes('verifyToken');
  if (!Array.isArray(challenge) || isAskedFor) return [];
  return challenge.flatMap((one: JsonValue, index) =>
    isJsonObject(one) && isJsonObject(one['verify'])
      ? [{ pointer: `/challenge/${index}/verify`, detail: 'needs `needs: ["verifyToken"]`' }] : []);
}

function findHandshakeProblems(
  { method, verify, secret, answer, when }: JsonObject,
): FieldError[] {
  const errors: FieldError[] = Array.isArray(when) && when.length === 0 && method !== 'HEAD'
    ? [{ pointer: '/when', detail: 'must have at least one condition' }] : [];
  if (secret !== undefined && verify === 'signature') {
    errors.push({ pointer: '/secret', detail: 'cannot be signed: no secret is known before it' });
  }
  const isTokenRule = isJsonObject(verify) && isSource(verify['from'])
    && verify['setting'] === 'verifyToken' && Object.keys(verify).length === 2;
  if (verify !== undefined && verify !== 'signature' && !isTokenRule) {
    const detail = 'must be "signature" or { "from": <source>, "setting": "verifyToken" }';
    errors.push({ pointer: '/verify', detail });
  }
  return isJsonObject(answer) ? [...errors, ...findAnswerProblems(answer)] : errors;
}

function findAnswerProblems({ body, value, headers = {} }: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (body !== undefined && typeof body !== 'string' && !isSource(body)) {
    errors.push({ pointer: '/answer/body', detail: 'must be text or a source' });
  }
  const hasPlace = typeof body === 'string' && body.includes('{value}');
  if (hasPlace && value === undefined) {
    errors.push({ pointer: '/answer/body', detail: 'has {value}, which needs `answer.value`' });
  } else if (!hasPlace && value !== undefined) {
    errors.push({ pointer: '/answer/value', detail: 'needs {value} in the text of `answer.body`' });
  }
  if (!isJsonObject(headers)) return errors;
  const texts = Object.fromEntries(Object.entries(headers).map(([name, text]) =>
    [name, isSource(text) ? '' : text]));
  const headerErrors = [...findHeaderProblems(texts), ...findReservedHeaders(texts)];
  return [...errors, ...headerErrors.map(({ pointer, detail }) => ({
    pointer: `/answer/headers${pointer}`,
    detail: detail === 'must be a string' ? 'must be text or a source' : detail,
  }))];
}

/** Content-Type is the member `type`; the others are those that no response may set itself. */
function findReservedHeaders(headers: JsonObject): FieldError[] {
  return Object.keys(headers).flatMap((name) => {
    const pointer = pointerStep(name);
    if (name.toLowerCase() === 'content-type') return [{ pointer, detail: 'is `answer.type`' }];
    return RESERVED_RESPONSE_HEADERS.includes(name.toLowerCase())
      ? [{ pointer, detail: 'may not be configured: hookshelf sets it' }] : [];
  });
}

/** Whether an unchecked value names one place in a request. */
export function isSource(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  const [[name, path] = [], ...others] = Object.entries(value);
  return others.length === 0 && name !== undefined && Object.hasOwn(sourceSchema.members, name)
    && typeof path === 'string' && path !== '' && path.length <= TEXT_MAX;
}

/** Whether a request's reader can read the path into JSON. */
export function isReadablePath(path: string): boolean {
  const steps = path.split('.');
  return steps.length <= STEPS_MAX && steps.every((step) => step !== '' && step !== '[]');
}
