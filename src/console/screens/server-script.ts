/** The script of the screens for who runs the server. */
export { openLogScreen } from './log-screen.ts';
export { openSettingsScreen } from './settings-screen.ts';
