/** The page: its frame, and the screen that the address names. */
import { currentAddress, href } from './base/address.ts';
import { ApiError, BASE } from './base/api.ts';
import { fill, h } from './base/dom.ts';
import { refreshTimes } from './base/format.ts';
import { session } from './base/session.ts';
import { listenToKeys, showKeys } from './keys.ts';
import { emptyState, noticeRegion, showFailure, tell } from './parts/notice.ts';
import { heading } from './parts/facts.ts';
import type { Screen } from './parts/screen.ts';
import { askForToken, learnScope } from './parts/sign-in.ts';
import { screens } from './screens/all.ts';
import { themeSwitch } from './theme.ts';

const TIMES_MS = 10_000;
const RETRY_MS = 2000;
const main = h('main', { id: 'main', tabindex: -1 });
const navigation = h('nav', { 'aria-label': 'Screens' });
const banner = h('p', { class: 'banner', role: 'alert', hidden: true },
  'The connection to the server is lost. What you see may be old; trying again.');
const signOut = h('button', { type: 'button', class: 'quiet', onclick: () => {
  session.signOut();
  location.reload();
} }, 'Sign out');
let close: () => void = () => {};
/** null: nothing has been shown yet. */
let shownHash: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

function allowed(): readonly Screen[] {
  return screens.filter(({ scope = 'read' }) => session.may(scope));
}

function showScreen(): void {
  const address = currentAddress();
  const [name = screens[0]?.name] = address.path;
  const screen = allowed().find((one) => one.name === name);
  close();
  // What they ask is of the screen before.
  document.querySelectorAll<HTMLDialogElement>('dialog:not([data-stays])')
    .forEach((one) => one.close());
  // Of its own: an answer that comes when one has gone on is not shown on another screen.
  const place = h('div');
  fill(main, place);
  document.title = `${screen?.title ?? 'Not here'} – hookshelf`;
  close = screen === undefined ? showNothing(place) : screen.open(place, address);
  showNavigation(screen?.name);
  const isOther = shownHash !== null && shownHash !== location.hash;
  shownHash = location.hash;
  if (!isOther) return;
  scrollTo(0, 0);
  focusTitle();
}

function showNothing(place: HTMLElement): () => void {
  fill(place, heading('Not here'), emptyState('There is no such screen, or it takes a token of '
    + `another scope: yours may ${session.scope}.`, null));
  return () => {};
}

function showNavigation(current: string | undefined): void {
  signOut.hidden = session.token === null;
  fill(navigation, ...allowed().map(({ name, title }) => h('a', {
    href: href([name]), 'aria-current': name === current ? 'page' : null,
  }, title)));
  const shown = navigation.querySelector<HTMLElement>('[aria-current]');
  // Not scrollIntoView: Tab would go on from there.
  if (shown !== null) navigation.scrollLeft = shown.offsetLeft - navigation.offsetLeft;
}

/** Whoever hears the page is told that it is another one, as soon as it has a title. */
function focusTitle(): void {
  const focus = (): boolean => {
    const title = main.querySelector('h1');
    title?.focus({ preventScroll: true });
    return title !== null;
  };
  main.focus({ preventScroll: true });
  if (focus()) return;
  const observer = new MutationObserver(() => {
    // Whoever has gone elsewhere meanwhile stays there.
    if (document.activeElement !== main || focus()) observer.disconnect();
  });
  observer.observe(main, { childList: true, subtree: true });
}

/** Nothing that is being typed is lost to a token that has ended meanwhile. */
function onSignedIn(): void {
  if (main.querySelector('form.record') === null) return showScreen();
  showNavigation(currentAddress().path[0]);
  tell('Signed in. What you typed is still here.');
}

/** Asks until the server answers, which is told of by the session. */
async function reach(): Promise<void> {
  clearTimeout(timer);
  try {
    await learnScope();
    if (shownHash === null) showScreen();
  } catch (thrown) {
    // The sign-in goes on from here.
    if (thrown instanceof ApiError && thrown.status === 401) return;
    if (shownHash === null) showFailure(main, thrown, () => void reach());
    reachSoon();
  }
}

function reachSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void reach(), RETRY_MS);
}

session.onRefused = () => askForToken(onSignedIn);
session.onConnection = (isOnline) => {
  banner.hidden = isOnline;
  if (!isOnline) reachSoon();
  else if (shownHash !== null && main.querySelector('.failure') !== null) showScreen();
};
document.querySelector('.skip')?.addEventListener('click', (event) => {
  // Its target is no address of a screen.
  event.preventDefault();
  main.focus();
});
fill(document.querySelector('#app') ?? document.body,
  h('header', { class: 'top' },
    h('a', { class: 'brand', href: '#/' }, 'hookshelf'), navigation,
    h('div', { class: 'tools' }, h('a', { class: 'button quiet', href: `${BASE}/docs` }, 'Docs'),
      themeSwitch(), signOut, h('button', {
        type: 'button', class: 'quiet', 'aria-label': 'Keys', onclick: () => showKeys(allowed()),
      }, '?'))),
  banner, main, noticeRegion());
listenToKeys(allowed);
addEventListener('hashchange', showScreen);
setInterval(() => {
  refreshTimes();
  // A screen that asks for nothing learns here that the server is gone.
  if (!document.hidden && shownHash !== null && session.isOnline) void reach();
}, TIMES_MS);
void reach();
