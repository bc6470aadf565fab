/** Every setting with its value and where it came from; tokens; what runs. */
import { get } from '../base/api.ts';
import { fill, h } from '../base/dom.ts';
import { time } from '../base/format.ts';
import { facts, heading } from '../parts/facts.ts';
import { badge } from '../parts/badge.ts';
import { codeBlock } from '../parts/code.ts';
import { showFailure } from '../parts/notice.ts';
import { nothing } from '../parts/screen.ts';
import type { Screen } from '../parts/screen.ts';
import type { Status } from '../../monitoring/routes.ts';
import type { ShownSetting } from '../../settings/shown.ts';

type Token = {
  readonly identifier: string; readonly name: string; readonly scope: string;
  readonly createdAt: string; readonly lastUsedAt?: string; readonly expiresAt?: string;
  readonly revokedAt?: string;
};

export const settingsScreen: Screen = {
  name: 'settings', title: 'Settings', key: 's', scope: 'admin',
  open(place) {
    const show = async (): Promise<void> => {
      try {
        const [settings, tokens, status] = await Promise.all([
          get<readonly ShownSetting[]>('/api/settings'), get<readonly Token[]>('/api/tokens'),
          get<Status>('/api/status'),
        ]);
        render(place, settings, tokens, status);
      } catch (thrown) {
        showFailure(place, thrown, () => void show());
      }
    };
    void show();
    return nothing;
  },
};

function render(
  place: HTMLElement, settings: readonly ShownSetting[], tokens: readonly Token[],
  { version, node, startedAt }: Status,
): void {
  const search = h('input', { type: 'search', 'aria-label': 'Search the settings',
    placeholder: 'Search', oninput: () => show() });
  const body = h('tbody');
  const show = (): void => fill(body, ...settings.filter(({ name, meaning }) =>
    `${name} ${meaning}`.toLowerCase().includes(search.value.toLowerCase())).map(settingRow));
  show();
  fill(place, heading('Settings'),
    facts([['Version', version], ['Node', node], ['Started', time(startedAt)]]),
    h('h2', {}, 'Tokens'),
    tokens.length === 0 ? h('div', {}, h('p', {}, 'There are none. One for somebody who may look:'),
      codeBlock('hookshelf token:create --name someone --scope read'))
      : table(['Name', 'Scope', 'Created', 'Last used', 'State'], tokens.map(tokenRow)),
    h('h2', {}, 'Settings'), search,
    h('table', { class: 'plain' }, headRow(['Setting', 'Value', 'From', 'Meaning']), body));
}

function settingRow({ name, value, origin, unit, meaning, variable }: ShownSetting): HTMLElement {
  const text = value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  return h('tr', {}, h('th', { scope: 'row', title: variable }, name),
    h('td', {}, h('code', {}, text), unit === '' ? null : ` ${unit}`),
    h('td', {}, origin === 'default' ? origin : h('strong', {}, origin)), h('td', {}, meaning));
}

function tokenRow(token: Token): HTMLElement {
  return h('tr', {}, h('th', { scope: 'row' }, token.name), h('td', {}, token.scope),
    h('td', {}, time(token.createdAt)), h('td', {}, time(token.lastUsedAt, 'never')),
    h('td', {}, badge(stateOf(token))));
}

function stateOf({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) < Date.now() ? 'expired' : 'enabled';
}

function table(titles: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  return h('table', { class: 'plain' }, headRow(titles), h('tbody', {}, ...rows));
}

function headRow(titles: readonly string[]): HTMLElement {
  return h('thead', {}, h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title))));
}
