/** The screens, in the order of the navigation. */
import type { Screen } from '../parts/screen.ts';
import { deliveriesScreen } from './deliveries/deliveries-screen.ts';
import { eventsScreen } from './events/events-screen.ts';
import { loadScript } from './script-loader.ts';
import { overviewScreen } from './overview-screen.ts';
import { requestsScreen } from './requests/requests-screen.ts';
import { screenOnDemand } from './screen-on-demand.ts';

export const screens: readonly Screen[] = [
  overviewScreen,
  screenOnDemand({ name: 'books', title: 'Books', key: 'b' },
    async () => (await loadScript('books')).openBooksScreen),
  screenOnDemand({ name: 'incoming', title: 'Incoming', key: 'i' },
    async () => (await loadScript('webhooks')).openIncomingScreen),
  screenOnDemand({ name: 'actions', title: 'Actions', key: 'a' },
    async () => (await loadScript('webhooks')).openActionsScreen),
  requestsScreen,
  screenOnDemand({ name: 'outgoing', title: 'Outgoing', key: 'u' },
    async () => (await loadScript('webhooks')).openOutgoingScreen),
  eventsScreen, deliveriesScreen,
  screenOnDemand({ name: 'log', title: 'Log', key: 'l', scope: 'admin' },
    async () => (await loadScript('server')).openLogScreen),
  screenOnDemand({ name: 'settings', title: 'Settings', key: 's', scope: 'admin' },
    async () => (await loadScript('server')).openSettingsScreen),
];
