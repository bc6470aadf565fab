/**
 * The second script of the console: the screens and dialogs that are not in the page, and what they
 * alone use. In the page are the screens that show what happens; one to come belongs here. The
 * build gives both scripts one copy of what they share (.ci/build-console.mjs).
 */
import type { Screen } from '../parts/screen.ts';
import { openActionsScreen } from './actions/actions-screen.ts';
import { openBooksScreen } from './books/books-screen.ts';
import { openEmitDialog } from './events/emit-dialog.ts';
import { openIncomingScreen } from './incoming/incoming-screen.ts';
import { openLogScreen } from './log-screen.ts';
import { openOutgoingScreen } from './outgoing/outgoing-screen.ts';
import { openSettingsScreen } from './settings-screen.ts';

export { openEmitDialog };

/** The `open` of each screen, by the screen's name. */
export const openers = {
  actions: openActionsScreen, books: openBooksScreen, incoming: openIncomingScreen,
  log: openLogScreen, outgoing: openOutgoingScreen, settings: openSettingsScreen,
} satisfies Readonly<Record<string, Screen['open']>>;
