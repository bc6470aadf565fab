/**
 * The options of commands that create and change action configurations and webhooks, by their
 * schemas. The build puts the data in place of this module (.ci/build.mjs): a command that starts
 * needs the options of all, and would take a third longer with the schemas.
 */
import { configurationSchema } from '../../../webhooks/actions/action-configuration.ts';
import { incomingSchema } from '../../../webhooks/incoming/incoming-webhook.ts';
import { secretMembers } from '../../../webhooks/members/secret-members.ts';
import { outgoingSchema } from '../../../webhooks/outgoing/outgoing-webhook.ts';
import { changeOptions, newRecordOptions } from '../member-options.ts';

export const newConfigurationOptions = newRecordOptions(configurationSchema.members);
export const configurationChangeOptions = changeOptions(configurationSchema.members);
export const newIncomingOptions = newRecordOptions(incomingSchema.members);
export const incomingChangeOptions = changeOptions(incomingSchema.members);
export const newOutgoingOptions = newRecordOptions(outgoingSchema.members);
export const outgoingChangeOptions = changeOptions(outgoingSchema.members);
export const newSecretOptions = newRecordOptions({ secret: secretMembers.secret });
