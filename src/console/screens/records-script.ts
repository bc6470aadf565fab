/**
 * The script of the views of one request, one event and one delivery, and of the dialog that sends
 * many again.
 */
export { openBulkDialog } from '../parts/lists/bulk-dialog.ts';
export { openDelivery } from './deliveries/delivery-view.ts';
export { openEvent } from './events/event-view.ts';
export { openRequest } from './requests/request-view.ts';
