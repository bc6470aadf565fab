/**
 * The script of the screens on which webhooks and actions are set up, of a customer's screens, and
 * of the emit dialog.
 */
export { openActionsScreen } from './actions/actions-screen.ts';
export { openCustomerOverview } from './customer-overview.ts';
export { openEmitDialog } from './events/emit-dialog.ts';
export { openIncomingScreen } from './incoming/incoming-screen.ts';
export { findOwnWebhookOpener, openOutgoingScreen } from './outgoing/outgoing-screen.ts';
