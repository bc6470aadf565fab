/** The screens of those who run the service and of their customers, in the order of the menu. */
import { openOnDemand, type Screen } from '../parts/screen.ts';
import { deliveriesScreen } from './deliveries/deliveries-screen.ts';
import { eventsScreen } from './events/events-screen.ts';
import { loadScript } from './script-loader.ts';
import { overviewScreen } from './overview-screen.ts';
import { requestsScreen } from './requests/requests-screen.ts';

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

/** The whole console for who has a token that is bound to some webhooks. */
export const customerScreens: readonly Screen[] = [
  screenOnDemand({ name: 'overview', title: 'Overview', key: 'o' },
    async () => (await loadScript('webhooks')).openCustomerOverview),
  deliveriesScreen,
  screenOnDemand({ name: 'outgoing', title: 'Webhook', key: 'w' },
    async () => (await loadScript('webhooks')).findOwnWebhookOpener()),
];

/** `load` loads the script that has the screen's `open`. */
function screenOnDemand(
  screen: Omit<Screen, 'open'>, load: () => Promise<Screen['open']>,
): Screen {
  return { ...screen, open: (container, address) => openOnDemand(container, load, address) };
}
