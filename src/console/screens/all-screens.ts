/** The screens, in the order of the navigation. */
import type { Screen } from '../parts/screen.ts';
import { booksScreen } from './books/books-screen.ts';
import { deliveriesScreen } from './deliveries/deliveries-screen.ts';
import { eventsScreen } from './events/events-screen.ts';
import { incomingScreen } from './incoming/incoming-screen.ts';
import { logScreen } from './log-screen.ts';
import { outgoingScreen } from './outgoing/outgoing-screen.ts';
import { overviewScreen } from './overview-screen.ts';
import { requestsScreen } from './requests/requests-screen.ts';
import { settingsScreen } from './settings-screen.ts';

export const screens: readonly Screen[] = [
  overviewScreen, booksScreen, incomingScreen, requestsScreen, outgoingScreen, eventsScreen,
  deliveriesScreen, logScreen, settingsScreen,
];
