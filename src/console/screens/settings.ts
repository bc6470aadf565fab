/** Every setting with its value and where it came from; tokens; what runs. */
import { get } from '../base/api.ts';
import { fill, h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { counted, time } from '../base/format.ts';
import { facts, heading } from '../parts/facts.ts';
import { badge } from '../parts/badge.ts';
import { emptyState } from '../parts/notice.ts';
import { openView } from '../parts/screen.ts';
import type { Screen } from '../parts/screen.ts';
import { table } from '../parts/table.ts';
import type { ServiceStatus } from '../../monitoring/monitoring-routes.ts';
import type { PublicSetting } from '../../settings/public-settings.ts';

type Token = {
  readonly identifier: string; readonly name: string; readonly scope: string;
  readonly createdAt: string; readonly lastUsedAt?: string; readonly expiresAt?: string;
  readonly revokedAt?: string;
};

export const settingsScreen: Screen = {
  name: 'settings', title: 'Settings', key: 's', scope: 'admin',
  open(place) {
    return openView(place, async () => {
      const [settings, tokens, status] = await Promise.all([
        get<readonly PublicSetting[]>('/api/settings'), get<readonly Token[]>('/api/tokens'),
        get<ServiceStatus>('/api/status'),
      ]);
      render(place, settings, tokens, status);
    });
  },
};

function render(
  place: HTMLElement, settings: readonly PublicSetting[], tokens: readonly Token[],
  { version, node, startedAt }: ServiceStatus,
): void {
  const search = h('input', { type: 'search', oninput: () => show() });
  const found = h('p', { class: 'count', role: 'status' });
  const list = h('div');
  const show = (): void => {
    const wanted = search.value.toLowerCase();
    const rows = settings.filter(({ name, meaning, origin }) =>
      `${name} ${meaning} ${origin}`.toLowerCase().includes(wanted));
    found.textContent = counted(rows.length, 'setting');
    fill(list, table(['Setting', 'Value', 'From', 'Meaning'], rows.map(settingRow), 'stacked'));
  };
  show();
  fill(place, heading('Settings'),
    facts([['Version', version], ['Node', node], ['Started', time(startedAt)]]),
    h('h2', {}, 'Tokens'),
    tokens.length === 0 ? emptyState('There are none. One for somebody who may look:',
      'hookshelf token:create --name someone --scope read')
      : table(['Name', 'Scope', 'Created', 'Last used', 'State'], tokens.map(tokenRow), 'stacked'),
    h('h2', {}, 'All settings'),
    h('label', { class: 'filter' }, 'Search', search),
    found, list);
}

function settingRow({ name, value, origin, unit, meaning, variable }: PublicSetting): Child[] {
  const text = value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  return [h('span', { title: variable }, name), h('span', {}, h('code', {}, text), ` ${unit}`),
    origin === 'default' ? origin : h('strong', {}, origin), meaning];
}

function tokenRow(token: Token): Child[] {
  const { name, scope, createdAt, lastUsedAt } = token;
  return [name, scope, time(createdAt), time(lastUsedAt, 'never'), badge(stateOf(token))];
}

function stateOf({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) < Date.now() ? 'expired' : 'enabled';
}
