/**
 * The member `oauth2` of an outgoing webhook: the client credentials (RFC 6749 §4.4) for access
 * tokens. The client secret is stored and never shown. It goes to the token URL, and its tokens go
 * to the target: when either moves to another origin, the secret has to be given anew.
 */
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, StringSchema } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';
import { explainNewOrigin } from '../members/mask-secrets.ts';
import { secretText } from '../members/secret-members.ts';
import {
  findAuthorizationProblems, hasCredentials, targetUrlSchema,
} from '../members/target-rules.ts';

const CLIENT_AUTHENTICATIONS = ['basic', 'body'] as const;

const lineSchema: StringSchema = {
  kind: 'string', minLength: 1, maxLength: 2048,
  pattern: /^[^\u0000-\u001f\u007f]+$/, mustBe: 'text without control characters',
};

export const oauth2Schema = describeObject({
  kind: 'object',
  name: 'ClientCredentials',
  members: {
    tokenUrl: {
      schema: targetUrlSchema, isRequired: true,
      description: 'Where access tokens are asked for. The setting `http.denyAddresses` holds',
    },
    clientId: {
      schema: lineSchema, isRequired: true, label: 'Client id',
      description: 'By which the token server knows who asks',
    },
    clientSecret: {
      schema: { ...secretText, maxLength: 4096 }, isWriteOnly: true, isSecret: true,
      description: 'It is needed, and never shown. A change without it leaves it, unless the '
        + 'token URL or the target gets another scheme, host or port',
    },
    scope: { schema: lineSchema, description: 'The scopes to ask for, with spaces between them' },
    audience: { schema: lineSchema, description: 'Whom tokens are for, where the server asks' },
    clientAuthentication: {
      schema: { kind: 'string', values: CLIENT_AUTHENTICATIONS }, default: 'basic',
      label: 'Id and secret go',
      description: 'Where id and secret are: with `basic` in the header Authorization, with '
        + '`body` in the body',
    },
  },
  check: findMemberProblems,
});

/** `findMemberProblems` asks for the client secret. */
export type Oauth2 = RecordOf<typeof oauth2Schema> & { readonly clientSecret: string };

function findMemberProblems(
  { tokenUrl, clientSecret }: JsonObject, input: JsonObject,
): FieldError[] {
  const errors: FieldError[] = [];
  if (clientSecret === undefined && (input['clientSecret'] ?? null) === null) {
    errors.push({ pointer: '/clientSecret', detail: 'is required' });
  }
  if (typeof tokenUrl === 'string' && hasCredentials(tokenUrl)) {
    const detail = 'must have no user and password: clientId and clientSecret are these';
    errors.push({ pointer: '/tokenUrl', detail });
  }
  return errors;
}

/** Finds credentials that access tokens would replace. */
export function findOauth2Problems(webhook: JsonObject): FieldError[] {
  return webhook['oauth2'] === undefined ? [] : findAuthorizationProblems('oauth2', webhook);
}

const MOVED_DETAIL = 'must be given anew: the stored one is kept only while the scheme, host and '
  + 'port of the token URL and of the target stay';

/** Says why a body, whose token URL may have `***`, does not keep the client secret. */
export function explainClientSecretMove(body: JsonObject, record: JsonObject): string | null {
  return isJsonObject(record['oauth2'])
    ? explainNewOrigin(listUrls(body), listUrls(record), MOVED_DETAIL) : null;
}

function listUrls({ targetUrl = null, oauth2 }: JsonObject): JsonObject {
  const { tokenUrl = null } = isJsonObject(oauth2) ? oauth2 : {};
  return { targetUrl, tokenUrl };
}
