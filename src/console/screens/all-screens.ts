/** The screens, in the order of the navigation. */
import type { Screen } from '../parts/screen.ts';
import { deliveriesScreen } from './deliveries/deliveries-screen.ts';
import { eventsScreen } from './events/events-screen.ts';
import { overviewScreen } from './overview-screen.ts';
import { requestsScreen } from './requests/requests-screen.ts';
import { screenOnDemand } from './screen-on-demand.ts';

export const screens: readonly Screen[] = [
  overviewScreen,
  screenOnDemand({ name: 'books', title: 'Books', key: 'b' }),
  screenOnDemand({ name: 'incoming', title: 'Incoming', key: 'i' }),
  screenOnDemand({ name: 'actions', title: 'Actions', key: 'a' }),
  requestsScreen,
  screenOnDemand({ name: 'outgoing', title: 'Outgoing', key: 'u' }),
  eventsScreen, deliveriesScreen,
  screenOnDemand({ name: 'log', title: 'Log', key: 'l', scope: 'admin' }),
  screenOnDemand({ name: 'settings', title: 'Settings', key: 's', scope: 'admin' }),
];
