/** `actionconfig:*`. */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { CommandContext } from '../context.ts';
import { readJsonOption, refuseSecretInPlace } from '../input.ts';
import {
  columnsOf, create, fetchAll, identifierOf, replace, requireChange, textOf, unsetMembers,
} from '../resource.ts';
import { configurationResource } from '../../../webhooks/actions/resource.ts';

export async function listActions(context: CommandContext): Promise<number> {
  const actions = await fetchAll(await context.openSession(), '/api/actions');
  const columns = columnsOf({
    columns: [
      { title: 'ACTION', member: 'identifier', isWhole: true },
      { title: 'LABEL', member: 'label' },
      { title: 'OPTIONS', member: 'options', show: optionsText },
    ],
  });
  await context.output.list(actions, columns, 'no actions');
  return 0;
}

export async function createConfiguration(context: CommandContext): Promise<number> {
  const identifier = context.given.find('identifier');
  const body = {
    ...identifier === undefined ? {} : { identifier }, ...await membersOf(context),
  };
  const configuration = await create(context, configurationResource, body);
  await printChanged(context, 'created', configuration);
  return 0;
}

/** `--options` replaces all options: merging would keep what the caller no longer names. */
export async function updateConfiguration(context: CommandContext): Promise<number> {
  const changes = { ...unsetMembers(context, {}), ...await membersOf(context) };
  requireChange(context, changes);
  const id = await identifierOf(context, configurationResource);
  const configuration = await replace(context, configurationResource, id,
    (current) => ({ ...current, ...changes }));
  await printChanged(context, 'updated', configuration);
  return 0;
}

async function membersOf(context: CommandContext): Promise<JsonObject> {
  const action = context.given.find('action');
  const description = context.given.find('description');
  const options = context.given.has('options') ? await readOptions(context) : undefined;
  return {
    ...action === undefined ? {} : { actionType: action },
    ...options === undefined ? {} : { options },
    ...description === undefined ? {} : { description },
  };
}

async function readOptions(context: CommandContext): Promise<JsonObject> {
  const { value } = await readJsonOption(context, 'options');
  refuseSecretInPlace(context, 'options', value);
  // What is none, the service refuses.
  return value as JsonObject;
}

async function printChanged(
  { output }: CommandContext, verb: string, configuration: JsonObject,
): Promise<void> {
  const { identifier, actionType } = configuration;
  const text = `${verb} action configuration ${textOf(identifier)} (${textOf(actionType)})`;
  await output.result(configuration, text);
}

function optionsText(options: unknown): string {
  if (Array.isArray(options)) return options.map((option) => optionText(option)).join('; ');
  return isJsonObject(options) ? Object.keys(options).join(', ') : textOf(options);
}

function optionText(option: unknown): string {
  return isJsonObject(option) ? textOf(option['name']) : textOf(option);
}
