/** All planted faults, a table for each room. */
import type { PlantedFault } from './fault.ts';
import { ACCESS_FAULTS } from './access.ts';
import { ACTION_MODULE_FAULTS } from './action-modules.ts';
import { ACTION_FAULTS } from './actions.ts';
import { ATTEMPT_FAULTS } from './attempts.ts';
import { BACKFILL_FAULTS } from './backfill.ts';
import { BOOK_FAULTS } from './books.ts';
import { CLI_FAULTS } from './cli.ts';
import { CLIENT_FAULTS } from './client.ts';
import { COMMAND_FAULTS } from './commands.ts';
import { CONFIGURATION_FAULTS } from './configuration.ts';
import { CONSOLE_FAULTS } from './console.ts';
import { DELIVERY_FAULTS } from './deliveries.ts';
import { EVENT_FAULTS } from './events.ts';
import { FOLLOWER_FAULTS } from './followers.ts';
import { FOUNDATION_FAULTS } from './foundations.ts';
import { INCOMING_FAULTS } from './incoming.ts';
import { NODE_FAULTS } from './nodes.ts';
import { ORDER_FAULTS } from './order.ts';
import { OUTGOING_FAULTS } from './outgoing.ts';
import { REPLICATION_FAULTS } from './replication.ts';
import { RESOURCE_FAULTS } from './resources.ts';
import { SEARCH_FAULTS } from './search.ts';
import { SENDER_FAULTS } from './senders.ts';
import { SERVER_FAULTS } from './server.ts';
import { STORE_FAULTS } from './store.ts';

export const PLANTED_FAULTS: Readonly<Record<string, readonly PlantedFault[]>> = {
  access: ACCESS_FAULTS,
  'action-modules': ACTION_MODULE_FAULTS,
  actions: ACTION_FAULTS,
  attempts: ATTEMPT_FAULTS,
  backfill: BACKFILL_FAULTS,
  books: BOOK_FAULTS,
  cli: CLI_FAULTS,
  client: CLIENT_FAULTS,
  commands: COMMAND_FAULTS,
  configuration: CONFIGURATION_FAULTS,
  console: CONSOLE_FAULTS,
  deliveries: DELIVERY_FAULTS,
  events: EVENT_FAULTS,
  followers: FOLLOWER_FAULTS,
  foundations: FOUNDATION_FAULTS,
  incoming: INCOMING_FAULTS,
  nodes: NODE_FAULTS,
  order: ORDER_FAULTS,
  outgoing: OUTGOING_FAULTS,
  replication: REPLICATION_FAULTS,
  resources: RESOURCE_FAULTS,
  search: SEARCH_FAULTS,
  senders: SENDER_FAULTS,
  server: SERVER_FAULTS,
  store: STORE_FAULTS,
};
