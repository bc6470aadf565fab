/** The script of the views of one request, one event and one delivery. */
export { openDelivery } from './deliveries/delivery-view.ts';
export { openEvent } from './events/event-view.ts';
export { openRequest } from './requests/request-view.ts';
