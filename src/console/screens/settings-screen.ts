/** The settings screen: all settings with their origins, tokens, version and start. */
import type { ScreenAddress } from '../base/screen-address.ts';
import { getJson } from '../base/api-calls.ts';
import { fill, h, type Child } from '../base/dom.ts';
import { formatQuantity, formatValue, timeElement } from '../base/format.ts';
import { badge } from '../parts/badge.ts';
import { emptyState } from '../parts/notice.ts';
import { heading, linkButton, openView } from '../parts/screen.ts';
import { factList, stackedTable } from '../parts/tables.ts';
import { openConfigurationScreen } from './configuration/configuration-screen.ts';
import type { ServiceStatus } from '../../monitoring/monitoring-schema.ts';
import type { ResponseBodyOf } from '../../app/api-types.ts';
import type { PublicSetting } from '../../settings/public-settings.ts';

type ListedToken = ResponseBodyOf<'GET', '/api/tokens'>[number];

const TOKEN_TITLES = ['Name', 'Scope', 'For', 'Created', 'Expires', 'Last used', 'State'];

export function openSettingsScreen(
  container: HTMLElement, { path: [, step] }: ScreenAddress,
): () => void {
  if (step === 'configuration') return openConfigurationScreen(container);
  return openView(container, async () => {
    const [settings, tokens, status] = await Promise.all([
      getJson<readonly PublicSetting[]>('/api/settings'),
      getJson<readonly ListedToken[]>('/api/tokens'),
      getJson<ServiceStatus>('/api/status'),
    ]);
    render(container, settings, tokens, status);
  });
}

function render(
  container: HTMLElement, settings: readonly PublicSetting[], tokens: readonly ListedToken[],
  { version, node, startedAt }: ServiceStatus,
): void {
  const search = h('input', { type: 'search', oninput: () => show() });
  const settingCount = h('p.count', { role: 'status' });
  const list = h('div');
  const show = (): void => {
    const searchText = search.value.toLowerCase();
    const rows = settings.filter(({ name, meaning, origin }) =>
      `${name} ${meaning} ${origin}`.toLowerCase().includes(searchText));
    settingCount.textContent = formatQuantity(rows.length, 'setting');
    const titles = ['Setting', 'Value', 'From', 'Meaning'];
    fill(list, stackedTable(titles, rows.map(renderSetting)));
  };
  show();
  fill(container,
    heading('Settings', linkButton('Configuration as a file', ['settings', 'configuration'])),
    factList([['Version', version], ['Node', node], ['Started', timeElement(startedAt)]]),
    h('h2', 'Tokens'),
    tokens.length === 0 ? emptyState('There are none. The first one closes the API, and this '
      + 'page, to all who have none, so begin with one for yourself that may do everything:',
    'hookshelf token:create --name console --scope admin')
      : stackedTable(TOKEN_TITLES, tokens.map(renderToken)),
    h('h2', 'All settings'),
    h('label.filter', 'Search', search),
    settingCount, list);
}

function renderSetting(setting: PublicSetting): Child[] {
  const { name, value, origin, unit, meaning, variable: environmentVariable } = setting;
  return [
    h('span', { title: environmentVariable }, name),
    h('span', h('code', formatValue(value)), ` ${unit}`),
    origin === 'default' ? origin : h('strong', origin), meaning,
  ];
}

function renderToken(token: ListedToken): Child[] {
  const { name, scope, events, webhooks, createdAt, expiresAt, lastUsedAt } = token;
  return [name, scope, (webhooks ?? events)?.join(', ') ?? 'all', timeElement(createdAt),
    timeElement(expiresAt, 'never'), timeElement(lastUsedAt, 'never'),
    badge(findTokenState(token))];
}

function findTokenState({ revokedAt, expiresAt }: ListedToken): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) < Date.now() ? 'expired' : 'enabled';
}
