/** Reads the options of `incomingwebhook:create` and `:update` into members of the webhook. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readJsonOption, rejectInlineSecret } from '../option-input.ts';

// Thirty days, as the service allows.
const DEDUPLICATE_HOURS_MAX = 720;

/** Throws `usage`. */
export async function readIncomingMembers(context: CommandContext): Promise<JsonObject> {
  const { args } = context;
  const name = args.find('name');
  const description = args.find('description');
  const pathSegment = args.find('path-segment');
  const actionConfiguration = args.find('action-config');
  const methods = args.find('allowed-methods');
  const allowedAddresses = args.all('allowed-address');
  const bodyFormat = args.find('body-format');
  const verification = await readVerification(context);
  return {
    ...name === undefined ? {} : { name },
    ...description === undefined ? {} : { description },
    ...pathSegment === undefined ? {} : { pathSegment },
    ...actionConfiguration === undefined ? {} : { actionConfiguration },
    ...methods === undefined ? {} : { allowedMethods: parseMethods(methods) },
    ...allowedAddresses.length === 0 ? {} : { allowedAddresses },
    ...bodyFormat === undefined ? {} : { bodyFormat },
    ...verification === null ? {} : { verification },
    ...args.has('routes') ? { routes: await readRoutes(context) } : {},
    ...await readInboxMembers(context),
  };
}

async function readRoutes(context: CommandContext): Promise<JsonValue> {
  const { value } = await readJsonOption(context, 'routes');
  if (!Array.isArray(value)) throw new AppError('usage', '--routes is not a JSON array');
  return value;
}

async function readInboxMembers(context: CommandContext): Promise<JsonObject> {
  const { args } = context;
  const inbox = args.find('inbox');
  const answer = args.find('answer');
  const deduplicate = args.find('deduplicate');
  const deduplicateHours = args.integer('deduplicate-hours', 1, DEDUPLICATE_HOURS_MAX);
  return {
    ...inbox === undefined ? {} : { inbox },
    ...answer === undefined ? {} : { answer },
    ...deduplicate === undefined ? {}
      : { deduplicate: await readDeduplicate(context, deduplicate) },
    ...deduplicateHours === undefined ? {} : { deduplicateHours },
  };
}

/** Converts `header:<name>`, `json:<path>` or JSON for the API; passes other text on. */
async function readDeduplicate(context: CommandContext, text: string): Promise<JsonValue> {
  if (text.startsWith('{')) {
    const { value } = await readJsonOption(context, 'deduplicate');
    if (isJsonObject(value)) return value;
  }
  const [, kind, path] = /^(header|json):(.*)$/s.exec(text) ?? [];
  return kind === undefined || path === undefined ? text : { [kind]: path };
}

function parseMethods(methods: string): string[] {
  return methods.split(',').map((method) => method.trim().toUpperCase())
    .filter((method) => method !== '');
}

/** Combines `--preset` and `--verification`; null without either. Throws `usage`. */
async function readVerification(context: CommandContext): Promise<JsonObject | null> {
  const { args } = context;
  const preset = args.find('preset');
  const presetMember = preset === undefined ? {} : { preset };
  if (!args.has('verification')) return preset === undefined ? null : presetMember;
  const { value } = await readJsonOption(context, 'verification');
  if (!isJsonObject(value)) throw new AppError('usage', '--verification is not a JSON object');
  if (preset !== undefined && value['preset'] !== undefined && value['preset'] !== preset) {
    throw new AppError('usage', '--preset contradicts the preset of --verification');
  }
  // A scheme holds no secret, even if the names of its members look like one.
  const { scheme: _, ...others } = value;
  rejectInlineSecret(context, 'verification', others);
  return { ...value, ...presetMember };
}
