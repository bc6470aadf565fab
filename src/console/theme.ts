/**
 * Light or dark: by the system's preference, or as chosen here. What was chosen is set by the head
 * of page.html, before the first paint.
 */
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
    const name = `${theme.charAt(0).toUpperCase()}${theme.slice(1)}`;
    button.textContent = name;
    button.setAttribute('aria-label', `Theme: ${name}`);
  }
  show();
  return button;
}
