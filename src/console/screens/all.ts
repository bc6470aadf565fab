/** The screens, in the order of the navigation. */
import type { Screen } from '../parts/screen.ts';
import { booksScreen } from './books/list.ts';
import { deliveriesScreen } from './deliveries/list.ts';
import { incomingScreen } from './incoming/list.ts';
import { logScreen } from './log.ts';
import { outgoingScreen } from './outgoing/list.ts';
import { overviewScreen } from './overview.ts';
import { requestsScreen } from './requests/list.ts';
import { settingsScreen } from './settings.ts';

export const screens: readonly Screen[] = [
  overviewScreen, booksScreen, incomingScreen, requestsScreen, outgoingScreen, deliveriesScreen,
  logScreen, settingsScreen,
];
