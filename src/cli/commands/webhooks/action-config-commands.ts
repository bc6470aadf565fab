/** `actionconfig:*`. */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readMembers, readUnsetMembers, requireChange } from '../option-members.ts';
import {
  createRecord, fetchAll, fetchRecord, formatValue, resolveId, toTableColumns, updateRecord,
} from '../resource-commands.ts';
import { BUILT_IN_ACTIONS } from '../../../webhooks/actions/modules/load-action-modules.ts';
import {
  configurationResource, configurationSchema,
} from '../../../webhooks/actions/action-configuration.ts';

export async function listActions(context: CommandContext): Promise<void> {
  const actions = await fetchAll(context, '/api/actions');
  const columns = toTableColumns({
    columns: [
      { title: 'ACTION', member: 'identifier', fit: 'whole' },
      { title: 'LABEL', member: 'label' },
      { title: 'OPTIONS', member: 'options', show: formatOptions },
    ],
  });
  await context.output.list(actions, columns, 'no actions');
}

export async function createConfiguration(context: CommandContext): Promise<void> {
  context.selectModules({ selection: { ofAction: context.args.get('action') } });
  const body = await readMembers(context, configurationSchema);
  const configuration = await createRecord(context, configurationResource, body);
  await printChanged(context, 'created', configuration);
}

/** `--options` replaces all options: merging would keep what the caller no longer names. */
export async function updateConfiguration(context: CommandContext): Promise<void> {
  const { identifier: _, ...members } = await readMembers(context, configurationSchema);
  const changes = { ...readUnsetMembers(context, configurationSchema), ...members };
  requireChange(context, changes);
  const id = await selectModuleOf(context, context.args.find('action'));
  const current = await fetchRecord(context, configurationResource, id);
  const configuration = await updateRecord(context, configurationResource, id,
    { current, changes, wholeMembers: ['options'] });
  await printChanged(context, 'updated', configuration);
}

/**
 * Without a server the one module of the configuration's action is loaded. Which action that is may
 * be stored alone: then the record is read with no module first. Resolves with the record's id.
 */
async function selectModuleOf(
  context: CommandContext, named: string | undefined,
): Promise<string> {
  context.selectModules({ selection: named === undefined ? 'none' : { ofAction: named } });
  const client = await context.openApiClient();
  const id = await resolveId(context, configurationResource);
  if (named !== undefined || client.hasServer) return id;
  const { record } = await fetchRecord(context, configurationResource, id);
  const action = formatValue(record['actionType']);
  if (BUILT_IN_ACTIONS.includes(action)) return id;
  await context.closeApiClient();
  context.selectModules({ selection: { ofAction: action } });
  return id;
}

async function printChanged(
  { output }: CommandContext, verb: string, configuration: JsonObject,
): Promise<void> {
  const { identifier, actionType } = configuration;
  const text =
    `${verb} action configuration ${formatValue(identifier)} (${formatValue(actionType)})`;
  await output.result(configuration, text);
}

function formatOptions(options: unknown): string {
  if (Array.isArray(options)) return options.map((option) => formatOption(option)).join('; ');
  return isJsonObject(options) ? Object.keys(options).join(', ') : formatValue(options);
}

function formatOption(option: unknown): string {
  return isJsonObject(option) ? formatValue(option['name']) : formatValue(option);
}
