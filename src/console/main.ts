/**
 * The page: its frame, and the screen that the address names.
 *
 * `checkServer` runs at the start, and every 10 s while the server is reachable. When it fails,
 * `checkServerSoon` repeats it every 2 s. When any other request finds the server unreachable, the
 * session calls `onConnectionChange`, which begins the same repetition. A refused token ends it;
 * after the sign-in `onSignedIn` shows the screen.
 */
import { goToScreen, href, parseAddress, rememberQuery } from './base/screen-address.ts';
import { BASE, hasStatus } from './base/api-calls.ts';
import { fill, h } from './base/dom.ts';
import { refreshTimes } from './base/format.ts';
import { callerSession } from './base/caller-session.ts';
import {
  hasFailure, noticeRegion, showFailureIn, showNotice, tellEndedWork, undoLast,
} from './parts/notice.ts';
import { showNotHere, type Screen } from './parts/screen.ts';
import { openDialog } from './parts/dialog.ts';
import { listenToLeaving } from './parts/forms/unsaved-forms.ts';
import { listenToLinks, loadAccess, openSignIn, takeLinkedToken } from './parts/sign-in.ts';
import { customerScreens, screens } from './screens/all-screens.ts';

const REFRESH_TIMES_MS = 10_000;
const CHECK_SERVER_MS = 10_000;
const RETRY_MS = 2000;
/** A letter chooses a screen when it follows `g` within this time. */
const SEQUENCE_MS = 1500;
const THEME_KEY = 'hookshelf-theme';
/** The operator's title of the console, which the server puts into the page. */
const TITLE = document.title;
const THEMES = ['system', 'light', 'dark'] as const;
const main = h('main', { id: 'main', tabindex: -1 });
const navigation = h('nav', { 'aria-label': 'Screens' });
const banner = h('p.banner', { role: 'alert', hidden: true },
  'The connection to the server is lost. What you see may be old; trying again.');
const signOut = h('button.quiet', { hidden: true, onclick: () => {
  callerSession.signOut();
  location.reload();
} }, 'Sign out');
/** The docs of the whole API: hidden until it is clear that the user is no customer. */
const docs = h('a.button.quiet', { href: `${BASE}/docs`, hidden: true }, 'Docs');
let closeScreen: () => void = () => {};
/** null: nothing has been shown yet. */
let displayedHash: string | null = null;
let retryTimer: ReturnType<typeof setTimeout> | undefined;

function allowedScreens(): readonly Screen[] {
  return callerSession.isCustomer ? customerScreens
    : screens.filter(({ scope = 'read' }) => callerSession.may(scope));
}

function showScreen(): void {
  const address = parseAddress();
  rememberQuery();
  // The first screen is the overview, which every token may see.
  const [name = screens[0]?.name] = address.path;
  const screen = allowedScreens().find((candidate) => candidate.name === name);
  closeScreen();
  // Open dialogs belong to the screen before.
  document.querySelectorAll<HTMLDialogElement>('dialog:not([data-stays])')
    .forEach((candidate) => candidate.close());
  // Each screen has its own container: a late response must not show up on the next screen.
  const container = h('div');
  fill(main, container);
  document.title = `${screen?.title ?? 'Not here'} – ${TITLE}`;
  closeScreen = screen === undefined ? showNotFound(container, name)
    : screen.open(container, address);
  showNavigation(screen?.name);
  const hasAddressChanged = displayedHash !== null && displayedHash !== location.hash;
  displayedHash = location.hash;
  if (!hasAddressChanged) return;
  scrollTo(0, 0);
  focusTitle();
}

function showNotFound(container: HTMLElement, name: string | undefined): () => void {
  const scope = callerSession.isCustomer ? undefined
    : screens.find((candidate) => candidate.name === name)?.scope;
  return showNotHere(container, scope === undefined ? `There is no such page: ${location.hash}`
    : `This page takes the scope ${scope}; your token has ${callerSession.access.scope}.`);
}

function showNavigation(current: string | undefined): void {
  signOut.hidden = callerSession.token === null;
  docs.hidden = callerSession.isCustomer;
  fill(navigation, ...allowedScreens().map(({ name, title }) => h('a', {
    href: href([name]), 'aria-current': name === current ? 'page' : null,
  }, title)));
  const currentLink = navigation.querySelector<HTMLElement>('[aria-current]');
  // Not scrollIntoView, which would move the starting point of Tab.
  if (currentLink === null) return;
  // Not below the edge, which fades.
  const edge = parseFloat(getComputedStyle(navigation).paddingLeft);
  navigation.scrollLeft = currentLink.offsetLeft - navigation.offsetLeft - edge;
}

/** Focuses the title once there is one, so that screen readers announce the new screen. */
function focusTitle(): void {
  const focus = (): boolean => {
    const title = main.querySelector('h1');
    title?.focus({ preventScroll: true });
    return title !== null;
  };
  main.focus({ preventScroll: true });
  if (focus()) return;
  const observer = new MutationObserver(() => {
    // The focus stays where the user has moved it meanwhile.
    if (document.activeElement !== main || focus()) observer.disconnect();
  });
  observer.observe(main, { childList: true, subtree: true });
}

/**
 * A form that is being filled in stays, also one in a dialog: the token may have expired meanwhile.
 * Every form for a record has the class `record` (`recordForm`, and the first step of a new
 * incoming webhook).
 */
function onSignedIn(): void {
  if (document.querySelector('form.record') === null) return showScreen();
  showNavigation(parseAddress().path[0]);
  showNotice('Signed in. What you typed is still here.');
}

/**
 * Asks the server for the token's scope, which also shows whether the server is reachable. On
 * success it shows the first screen, if none is shown yet; on failure it tries again soon.
 */
async function checkServer(): Promise<void> {
  clearTimeout(retryTimer);
  try {
    await loadAccess();
    if (displayedHash === null) showScreen();
  } catch (thrown) {
    // `callerSession.onRefused` has opened the sign-in dialog, and `onSignedIn` goes on from there.
    if (hasStatus(thrown, 401)) return;
    if (displayedHash === null) showFailureIn(main, thrown, () => void checkServer());
    checkServerSoon();
  }
}

function checkServerSoon(): void {
  clearTimeout(retryTimer);
  retryTimer = setTimeout(() => void checkServer(), RETRY_MS);
}

/**
 * Light or dark: by the preference of the system, or as chosen here. The head of page.html applies
 * the choice before the first paint.
 */
function themeSwitch(): HTMLElement {
  let theme = THEMES.find((one) => one === localStorage.getItem(THEME_KEY)) ?? 'system';
  const button = h('button.quiet', { onclick: () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
    localStorage.setItem(THEME_KEY, theme);
    show();
  } });
  function show(): void {
    document.documentElement.dataset['theme'] = theme;
    const name = `${theme.charAt(0).toUpperCase()}${theme.slice(1)}`;
    button.setAttribute('aria-label', `Theme: ${name}`);
    fill(button, h('span.word', 'Theme:\u00a0'), name);
  }
  show();
  return button;
}

/** `/` searches, `g` and a letter changes the screen, `u` undoes, `?` shows the keys. */
function listenToKeys(): void {
  let prefixAtMs = -Infinity;
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.key === '/') {
      const search = document.querySelector('main input[type="search"]');
      if (!(search instanceof HTMLElement)) return;
      event.preventDefault();
      search.focus();
    } else if (event.key === '?') {
      openKeysDialog();
    } else if (event.key === 'g') {
      prefixAtMs = event.timeStamp;
    } else if (event.timeStamp - prefixAtMs < SEQUENCE_MS) {
      prefixAtMs = -Infinity;
      const screen = allowedScreens().find(({ key }) => key === event.key);
      if (screen !== undefined) goToScreen([screen.name]);
    } else if (event.key === 'u') {
      undoLast();
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}

function openKeysDialog(): void {
  const rows = [['/', 'search'], ['?', 'these keys'], ['Esc', 'close'], ['Enter', 'send a form'],
    ['Ctrl+Enter', 'send a form from a field of several lines'],
    ['u', 'undo a deletion'],
    ...allowedScreens().map(({ key, title }) => [`g ${key}`, title])];
  openDialog('Keys', [
    h('dl.keys', {}, ...rows.map(([keys = '', meaning = '']) =>
      h('div', h('dt',
        ...keys.split(' ').flatMap((key) => [' ', h('kbd', key)])), h('dd', meaning)))),
  ], { close: 'Close' });
}

callerSession.onRefused = () => openSignIn(onSignedIn);
callerSession.onConnectionChange = (isOnline) => {
  banner.hidden = isOnline;
  if (!isOnline) checkServerSoon();
  else if (displayedHash !== null && hasFailure(main)) showScreen();
};
document.querySelector('.skip')?.addEventListener('click', (event) => {
  // The link's `#main` is no address of a screen.
  event.preventDefault();
  main.focus();
});
fill(document.querySelector('#app') ?? document.body,
  h('header.top',
    h('a.brand', { href: '#/' }, TITLE), navigation,
    h('div.tools', docs, themeSwitch(), signOut, h('button.quiet', {
        'aria-label': 'Keys',
        onclick: openKeysDialog,
      }, '?'))),
  banner, main, noticeRegion());
listenToKeys();
tellEndedWork();
// Before any other listener to addresses: nothing of a token may be shown.
listenToLinks(() => {
  history.replaceState(null, '', '#/');
  location.reload();
});
listenToLeaving(showScreen);
setInterval(refreshTimes, REFRESH_TIMES_MS);
setInterval(() => {
  // Screens that send no requests notice here that the server is gone. While it is unreachable,
  // `checkServerSoon` repeats the check.
  if (!document.hidden && displayedHash !== null && callerSession.isOnline) void checkServer();
}, CHECK_SERVER_MS);
void takeLinkedToken('#/').then(checkServer);
