/** The page: its frame, and the screen that the address names. */
import { currentAddress, href } from './base/address.ts';
import { ApiError } from './base/api.ts';
import { fill, h } from './base/dom.ts';
import { refreshTimes } from './base/format.ts';
import { session } from './base/session.ts';
import { listenToKeys, showKeys } from './keys.ts';
import { noticeRegion } from './parts/notice.ts';
import type { Screen } from './parts/screen.ts';
import { askForToken, learnScope } from './parts/sign-in.ts';
import { screens } from './screens/all.ts';
import { themeSwitch } from './theme.ts';

const TIMES_MS = 10_000;
const RETRY_START_MS = 2000;
const main = h('main', { id: 'main', tabindex: -1 });
const navigation = h('nav', { 'aria-label': 'Screens' });
const banner = h('p', { class: 'banner', role: 'alert', hidden: true },
  'The connection to the server is lost. What you see may be old; trying again.');
let close: () => void = () => {};
let shownName = '';

function allowed(): readonly Screen[] {
  return screens.filter(({ scope = 'read' }) => session.may(scope));
}

function showScreen(): void {
  const address = currentAddress();
  const shown = allowed();
  const screen = shown.find(({ name }) => name === address.path[0]) ?? shown[0];
  if (screen === undefined) return;
  close();
  fill(main);
  document.title = `${screen.title} – hookshelf`;
  close = screen.open(main, address);
  fill(navigation, ...shown.map(({ name, title }) => h('a', {
    href: href([name]), 'aria-current': name === screen.name ? 'page' : null,
  }, title)));
  const isOther = shownName !== '' && shownName !== location.hash;
  shownName = location.hash === '' ? '#' : location.hash;
  if (!isOther) return;
  scrollTo(0, 0);
  // Whoever hears the page is told that it is another one.
  const title = main.querySelector('h1');
  if (title !== null) title.focus({ preventScroll: true });
}

async function start(): Promise<void> {
  try {
    await learnScope();
  } catch (thrown) {
    // The sign-in goes on from here.
    if (thrown instanceof ApiError && thrown.status === 401) return;
    setTimeout(() => void start(), RETRY_START_MS);
    return;
  }
  showScreen();
}

session.onRefused = () => askForToken(showScreen);
session.onConnection = (isOnline) => {
  banner.hidden = isOnline;
};
fill(document.querySelector('#app') ?? document.body,
  h('header', { class: 'top' },
    h('a', { class: 'brand', href: '#/' }, 'hookshelf'), navigation,
    h('div', { class: 'tools' }, themeSwitch(), h('button', {
      type: 'button', class: 'quiet', 'aria-label': 'Keys', onclick: () => showKeys(allowed()),
    }, '?'))),
  banner, main, noticeRegion());
listenToKeys(allowed);
addEventListener('hashchange', showScreen);
setInterval(refreshTimes, TIMES_MS);
void start();
