/**
 * The options of commands, by the parameters and schemas of the routes that they call, and the
 * commands that follow from routes alone. The build runs this module and puts the JSON of its
 * exports in its place (.ci/computed-data.mjs): a command that starts needs the options of all, and
 * would take a third longer with the schemas. So an export is plain data, without functions.
 */
import { TOKEN_MODEL } from '../../access/token.ts';
import { mergeSchema } from '../../books/merge-books.ts';
import {
  bookQueryParameters, duplicatesParameter, exportParameters, facetParameters,
  statisticsParameters,
} from '../../books/query/query-parameters.ts';
import { configurationSchema } from '../../webhooks/actions/action-configuration.ts';
import {
  backfillMembers, cancelMembers, replayMembers, resendMembers,
} from '../../webhooks/bulk/job-routes.ts';
import { createDeliveryFields } from '../../webhooks/deliveries/delivery-fields.ts';
import { deliveryRows } from '../../webhooks/deliveries/delivery-routes.ts';
import { emitRows } from '../../webhooks/events/emit-routes.ts';
import { eventFields } from '../../webhooks/events/event-fields.ts';
import { requestFields } from '../../webhooks/inbox/request-fields.ts';
import { requestRows } from '../../webhooks/inbox/request-routes.ts';
import { incomingSchema } from '../../webhooks/incoming/incoming-webhook.ts';
import { createRotationSchema } from '../../webhooks/members/rotate-secret.ts';
import { outgoingListParameters, outgoingRows } from '../../webhooks/outgoing/outgoing-routes.ts';
import { outgoingSchema } from '../../webhooks/outgoing/outgoing-webhook.ts';
import { listParameters } from '../../webhooks/records/searchable-list.ts';
import { webhookListParameters } from '../../webhooks/records/webhook-list.ts';
import { changeOptions, memberOptions, queryOptions } from './member-options.ts';
import { describeCommands } from './route-command.ts';

export const routeCommands = describeCommands(
  [...requestRows, ...emitRows, ...deliveryRows, ...outgoingRows]);

export const bookExportOptions = queryOptions(exportParameters);
export const bookListOptions = queryOptions(bookQueryParameters);
export const facetOptions = queryOptions(facetParameters);
export const statisticsOptions = queryOptions(statisticsParameters);
export const duplicatesOptions = queryOptions([duplicatesParameter]);
export const bookMergeOptions = memberOptions(mergeSchema.members);
export const newConfigurationOptions = memberOptions(configurationSchema.members);
export const configurationChangeOptions = changeOptions(configurationSchema.members);
export const newIncomingOptions = memberOptions(incomingSchema.members);
export const incomingChangeOptions = changeOptions(incomingSchema.members);
export const newOutgoingOptions = memberOptions(outgoingSchema.members);
export const outgoingChangeOptions = changeOptions(outgoingSchema.members);
export const incomingListOptions = queryOptions(webhookListParameters('incoming'));
export const outgoingListOptions = queryOptions(outgoingListParameters);
export const requestListOptions = queryOptions(listParameters(requestFields));
export const eventListOptions = queryOptions(listParameters(eventFields));
// Only the parameters are read: the lookup is never called.
export const deliveryListOptions =
  queryOptions(listParameters(createDeliveryFields(() => null)));
export const replayOptions = memberOptions(replayMembers);
export const resendOptions = memberOptions(resendMembers);
export const cancelOptions = memberOptions(cancelMembers);
export const backfillOptions = memberOptions(backfillMembers);
export const newTokenOptions = memberOptions(TOKEN_MODEL.members);
export const rotationOptions = memberOptions(createRotationSchema('').members);
