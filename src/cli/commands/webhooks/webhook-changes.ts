/** The commands that change incoming and outgoing webhooks, and set their secrets. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Resource } from '../../../resources/resource.ts';
import {
  createSecretBytes, encodeSecret, type SecretShapeChoice,
} from '../../../webhooks/members/secret-members.ts';
import { createRotationSchema } from '../../../webhooks/members/rotate-secret.ts';
import type { CommandContext } from '../command-context.ts';
import { readSecretOption } from '../option-input.ts';
import { readMembers, readUnsetMembers, requireChange } from '../option-members.ts';
import {
  createRecord, fetchRecord, formatNameAndId, formatValue, patchRecord, recordPath, requestObject,
  resolveId, updateRecord,
} from '../resource-commands.ts';
import { WEBHOOK_READERS } from './webhook-members.ts';

/** The differences between the commands of incoming and of outgoing webhooks. */
export type WebhookKind = {
  readonly resource: Resource;
  /** The things that wait for a webhook, and end with it. */
  readonly work: Pick<Resource, 'path' | 'noun' | 'plural'>;
  /** Resolves with the address to show: where requests arrive, or where they are sent. */
  readonly resolveAddress: (context: CommandContext, webhook: JsonObject) => Promise<string>;
  /** The shape of a secret to be generated. */
  readonly chooseSecretShape: (webhook: JsonObject) => SecretShapeChoice;
  /** Members in which an object takes the place of the stored one: see `updateRecord`. */
  readonly wholeMembers: readonly string[];
  /** Adds to requested changes what follows from them. */
  readonly completeChanges?: (changes: JsonObject, current: JsonObject) => JsonObject;
  /** Says what is likely wrong with a webhook: a change tells what was not so before it. */
  readonly listProblems: (webhook: JsonObject) => readonly string[];
  /** Tells people what follows from a change; null stands for a webhook that is not there. */
  readonly noteChange?: (
    context: CommandContext, before: JsonObject | null, after: JsonObject | null,
  ) => Promise<void>;
  /** Says what receivers must know of a secret that was given; null: nothing. */
  readonly describeSecret?: (webhook: JsonObject, secret: string) => string | null;
  /** For people, once it is disabled. */
  readonly disabledNote?: string;
};

export type WebhookChange = keyof typeof WEBHOOK_CHANGES;

type WebhookCommand = (context: CommandContext, kind: WebhookKind) => Promise<void>;

export const WEBHOOK_CHANGES = {
  create, update,
  enable: (context, kind) => setEnabled(context, kind, true),
  disable: (context, kind) => setEnabled(context, kind, false),
  delete: deleteWebhook,
  rotateSecret,
} satisfies Readonly<Record<string, WebhookCommand>>;

async function create(context: CommandContext, kind: WebhookKind): Promise<void> {
  const { resource } = kind;
  const members = await readMembers(context, resource.schema, WEBHOOK_READERS);
  const secret = await readSecretFile(context) ?? generateSecret(context, kind, members);
  const webhook = await createRecord(context, resource, { ...members, ...toSecretMember(secret) });
  await printWebhook(context, kind, 'created', webhook, secret);
  noteSecret(context, kind, webhook, secret);
  noteProblems(context, kind, null, webhook);
  await kind.noteChange?.(context, null, webhook);
}

async function update(context: CommandContext, kind: WebhookKind): Promise<void> {
  const { resource, completeChanges = (changes) => changes, wholeMembers } = kind;
  const requestedChanges = {
    ...readUnsetMembers(context, resource.schema),
    ...await readMembers(context, resource.schema, WEBHOOK_READERS),
  };
  const fileSecret = await readSecretFile(context);
  const setsSecret = fileSecret !== null || context.args.has('generate-secret');
  if (!setsSecret) requireChange(context, requestedChanges);
  const identifier = await resolveId(context, kind.resource);
  const current = await fetchRecord(context, resource, identifier);
  const members = completeChanges(requestedChanges, current.record);
  const secret = fileSecret
    ?? generateSecret(context, kind, { ...current.record, ...members });
  const changes = { ...members, ...toSecretMember(secret) };
  const webhook =
    await updateRecord(context, resource, identifier, { current, changes, wholeMembers });
  await printWebhook(context, kind, 'updated', webhook, secret);
  noteSecret(context, kind, webhook, secret);
  noteProblems(context, kind, current.record, webhook);
  await kind.noteChange?.(context, current.record, webhook);
}

async function deleteWebhook(
  context: CommandContext, { resource, work, noteChange }: WebhookKind,
): Promise<void> {
  const identifier = await resolveId(context, resource);
  const { record } = await fetchRecord(context, resource, identifier);
  const apiClient = await context.openApiClient();
  const { headers } = await apiClient.request({
    method: 'GET', path: `${work.path}?hook=${identifier}&status=pending&limit=1`,
  });
  await apiClient.request({ method: 'DELETE', path: recordPath(resource, identifier) });
  await context.output.result({ identifier, deleted: true },
    `deleted ${resource.noun} ${identifier}`);
  const waitingCount = Number(headers['x-total-count']);
  if (waitingCount > 0) {
    context.output.note(waitingCount === 1 ? `1 ${work.noun} that waited for it has ended with it`
      : `${waitingCount} ${work.plural} that waited for it have ended with it`);
  }
  await noteChange?.(context, record, null);
}

/** Sets `enabled`, and prints the webhook. */
async function setEnabled(
  context: CommandContext, kind: WebhookKind, enabled: boolean,
): Promise<void> {
  const { output } = context;
  const identifier = await resolveId(context, kind.resource);
  const webhook = await patchRecord(context, kind.resource, identifier, { enabled });
  await printWebhook(context, kind, enabled ? 'enabled' : 'disabled', webhook, null);
  const { disabledNote } = kind;
  if (!enabled && disabledNote !== undefined && !output.isJson) await output.line(disabledNote);
}

/**
 * `<resource>:rotate-secret`: sets the secret of `--secret-file`, else one that the service
 * generates. A generated secret is printed only now, and alone on standard output, for a file.
 */
async function rotateSecret(
  context: CommandContext, kind: WebhookKind,
): Promise<void> {
  const { resource } = kind;
  const { output } = context;
  const fileSecret = await readSecretFile(context);
  // Without --secret-file the service makes the secret.
  const body = await readMembers(context, createRotationSchema(resource.schema.name), {
    secret: () => fileSecret?.secret,
  });
  const identifier = await resolveId(context, resource);
  const path = `${recordPath(resource, identifier)}/rotate-secret`;
  const result = await requestObject(context, { method: 'POST', path, body });
  noteSecret(context, kind, result, fileSecret);
  if (output.isJson) return output.json(result);
  const { secret } = result;
  const oldSecret = describeOldSecret(result, body['overlapHours']);
  const change = `${resource.noun} ${identifier} has a new secret${oldSecret}`;
  if (secret === undefined) {
    await output.line(change);
    return printPublicKey(context, result);
  }
  output.note(`${change}; it is shown this once`);
  const publicKey = describePublicKey(result);
  if (publicKey !== null) output.note(publicKey);
  await output.line(formatValue(secret));
}

/** Says what becomes of the old secret of an incoming webhook, or of one that signs. */
function describeOldSecret(
  { previousSecret, signing, targetUrl }: JsonObject, overlapHours: JsonValue | undefined,
): string {
  if (isJsonObject(previousSecret)) {
    const header = targetUrl === undefined || signing !== undefined ? ''
      : ' in webhook-signature, X-Signature is of the new one alone';
    return `; the old one counts until ${formatValue(previousSecret['validUntil'])}${header}`;
  }
  return signing === undefined || overlapHours === 0 ? ''
    : '; the old one signs no more, as its requests hold one signature';
}

/** Prints the key that receivers verify with, where the secret is a private key. */
async function printPublicKey({ output }: CommandContext, webhook: JsonObject): Promise<void> {
  const publicKey = describePublicKey(webhook);
  if (publicKey !== null) await output.line(publicKey);
}

function describePublicKey({ publicKey }: JsonObject): string | null {
  return publicKey === undefined ? null : `public key: ${formatValue(publicKey)}`;
}

/** Prints the changed webhook, and its secret if we generated one, as nobody else knows it. */
export async function printWebhook(
  context: CommandContext, { resource, resolveAddress }: WebhookKind, verb: string,
  webhook: JsonObject, secret: NewSecret | null,
): Promise<void> {
  const { output } = context;
  const newSecret = secret?.isGenerated === true ? secret.secret : null;
  if (output.isJson) {
    return output.json(newSecret === null ? webhook : { ...webhook, secret: newSecret });
  }
  const change = `${verb} ${resource.noun} ${formatNameAndId(webhook)}`;
  let address: string | null = null;
  try {
    address = await resolveAddress(context, webhook);
  } finally {
    // The webhook has been changed, even if its address cannot be fetched.
    await output.line(address === null ? change : `${change}: ${address}`);
    if (newSecret !== null) await output.line(`secret (shown this once): ${newSecret}`);
    if (secret !== null) await printPublicKey(context, webhook);
  }
}

/** The secret of a webhook: never a plain argument. */
type NewSecret = {
  readonly secret: string;
  /** A generated secret is printed once, as nobody else knows it. */
  readonly isGenerated: boolean;
};

function noteSecret(
  { output }: CommandContext, { describeSecret }: WebhookKind, webhook: JsonObject,
  secret: NewSecret | null,
): void {
  const note = secret === null ? null : describeSecret?.(webhook, secret.secret) ?? null;
  if (note !== null) output.note(note);
}

function noteProblems(
  { output }: CommandContext, { listProblems }: WebhookKind,
  before: JsonObject | null, after: JsonObject,
): void {
  const problemsBefore = before === null ? [] : listProblems(before);
  for (const problem of listProblems(after)) {
    if (!problemsBefore.includes(problem)) output.note(problem);
  }
}

/**
 * Reads the secret of `--secret-file`; null without it. It is called before the data directory is
 * opened: root reads the file, and then becomes the directory's owner. Throws `usage` also beside
 * `--generate-secret`.
 */
async function readSecretFile(context: CommandContext): Promise<NewSecret | null> {
  const { args } = context;
  if (!args.has('secret-file')) return null;
  if (args.has('generate-secret')) {
    throw new AppError('usage', 'give --secret-file or --generate-secret, not both');
  }
  return { secret: await readSecretOption(context, 'secret-file'), isGenerated: false };
}

/**
 * Generates a secret for `--generate-secret`, as the webhook needs it; null without it. Throws
 * `usage` where none can be made here.
 */
function generateSecret(
  { args }: CommandContext, { chooseSecretShape }: WebhookKind, webhook: JsonObject,
): NewSecret | null {
  if (!args.has('generate-secret')) return null;
  const choice = chooseSecretShape(webhook);
  if (choice.problem !== undefined) throw new AppError('usage', `--secret-file ${choice.problem}`);
  return { secret: encodeSecret(choice.shape, createSecretBytes()), isGenerated: true };
}

function toSecretMember(secret: NewSecret | null): JsonObject {
  return secret === null ? {} : { secret: secret.secret };
}

