/** The script of the screens on which webhooks and actions are set up, and of the emit dialog. */
export { openActionsScreen } from './actions/actions-screen.ts';
export { openEmitDialog } from './events/emit-dialog.ts';
export { openIncomingScreen } from './incoming/incoming-screen.ts';
export { openOutgoingScreen } from './outgoing/outgoing-screen.ts';
