/** What the options of `incomingwebhook:create` and `:update` say of the webhook's members. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../context.ts';
import { readJsonOption, refuseSecretInPlace } from '../input.ts';

// Thirty days, as the service allows.
const DEDUPLICATE_HOURS_MAX = 720;

/** Throws `usage`. */
export async function membersOf(context: CommandContext): Promise<JsonObject> {
  const { given } = context;
  const name = given.find('name');
  const description = given.find('description');
  const pathSegment = given.find('path-segment');
  const actionConfiguration = given.find('action-config');
  const methods = given.find('allowed-methods');
  const allowedAddresses = given.all('allowed-address');
  const bodyFormat = given.find('body-format');
  const verification = await readVerification(context);
  return {
    ...name === undefined ? {} : { name },
    ...description === undefined ? {} : { description },
    ...pathSegment === undefined ? {} : { pathSegment },
    ...actionConfiguration === undefined ? {} : { actionConfiguration },
    ...methods === undefined ? {} : { allowedMethods: namesOf(methods) },
    ...allowedAddresses.length === 0 ? {} : { allowedAddresses },
    ...bodyFormat === undefined ? {} : { bodyFormat },
    ...verification === null ? {} : { verification },
    ...given.has('routes') ? { routes: await readRoutes(context) } : {},
    ...await readInboxMembers(context),
  };
}

async function readRoutes(context: CommandContext): Promise<JsonValue> {
  const { value } = await readJsonOption(context, 'routes');
  if (!Array.isArray(value)) throw new AppError('usage', '--routes is not a JSON array');
  return value;
}

async function readInboxMembers(context: CommandContext): Promise<JsonObject> {
  const { given } = context;
  const inbox = given.find('inbox');
  const answer = given.find('answer');
  const deduplicate = given.find('deduplicate');
  const deduplicateHours = given.integer('deduplicate-hours', 1, DEDUPLICATE_HOURS_MAX);
  return {
    ...inbox === undefined ? {} : { inbox },
    ...answer === undefined ? {} : { answer },
    ...deduplicate === undefined ? {} : { deduplicate: await readPlace(context, deduplicate) },
    ...deduplicateHours === undefined ? {} : { deduplicateHours },
  };
}

/** `header:<name>` and `json:<path>` as the API has them, or its JSON; anything else as it is. */
async function readPlace(context: CommandContext, text: string): Promise<JsonValue> {
  if (text.startsWith('{')) {
    const { value } = await readJsonOption(context, 'deduplicate');
    if (isJsonObject(value)) return value;
  }
  const [, kind, place] = /^(header|json):(.*)$/s.exec(text) ?? [];
  return kind === undefined || place === undefined ? text : { [kind]: place };
}

function namesOf(methods: string): string[] {
  return methods.split(',').map((method) => method.trim().toUpperCase())
    .filter((method) => method !== '');
}

/** `--preset`, and what else it needs; null without either. Throws `usage`. */
async function readVerification(context: CommandContext): Promise<JsonObject | null> {
  const { given } = context;
  const preset = given.find('preset');
  const named = preset === undefined ? {} : { preset };
  if (!given.has('verification')) return preset === undefined ? null : named;
  const { value } = await readJsonOption(context, 'verification');
  if (!isJsonObject(value)) throw new AppError('usage', '--verification is not a JSON object');
  if (preset !== undefined && value['preset'] !== undefined && value['preset'] !== preset) {
    throw new AppError('usage', '--preset contradicts the preset of --verification');
  }
  // A scheme holds no secret, whatever its members are called.
  const { scheme: _, ...others } = value;
  refuseSecretInPlace(context, 'verification', others);
  return { ...value, ...named };
}
