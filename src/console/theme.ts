/** Light or dark: by the system's preference, or as chosen here. */
import { h } from './base/dom.ts';

const THEME_KEY = 'hookshelf-theme';
const THEMES = ['system', 'light', 'dark'] as const;

export function themeSwitch(): HTMLElement {
  let theme = THEMES.find((one) => one === localStorage.getItem(THEME_KEY)) ?? 'system';
  const button = h('button', { type: 'button', class: 'quiet', onclick: () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
    localStorage.setItem(THEME_KEY, theme);
    show();
  } });
  function show(): void {
    document.documentElement.dataset['theme'] = theme;
    button.textContent = `Theme: ${theme}`;
  }
  show();
  return button;
}
