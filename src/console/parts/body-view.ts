/** Bytes of strangers: pretty where they are JSON, raw where they are text, and as hex. */
import { send } from '../base/api.ts';
import { fill, h } from '../base/dom.ts';
import { bytes } from '../base/format.ts';
import { prettyJson } from '../base/json-text.ts';
import { copyButton } from './code.ts';
import { tellFailure } from './notice.ts';

const SHOWN_BYTES_MAX = 1 << 20;
const HEX_BYTES_MAX = 16_384;
const TEXT_LENGTH_MAX = 200_000;
const ROW = 16;

/** The body that is at that path: asked for when it is long. */
export function bodySection(path: string, length: number): HTMLElement {
  const place = h('div');
  const show = async (): Promise<void> => {
    try {
      const response = await send('GET', path);
      fill(place, response.ok ? bodyView(new Uint8Array(await response.arrayBuffer()))
        : h('p', { class: 'hint' }, 'It is not kept.'));
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  if (length === 0) place.append(h('p', { class: 'hint' }, 'There is none.'));
  else if (length <= SHOWN_BYTES_MAX) void show();
  else {
    place.append(h('button', { type: 'button', onclick: () => void show() },
      `Show ${bytes(length)}`));
  }
  return h('section', {}, h('h2', {}, 'Body'), place);
}

function bodyView(body: Uint8Array): HTMLElement {
  const text = textOf(body);
  const pretty = text === null ? null : prettyJson(text);
  const forms: (readonly [name: string, content: string])[] = [['Hex', hexOf(body)]];
  if (text !== null) forms.unshift(['Raw', text]);
  if (pretty !== null) forms.unshift(['Pretty', pretty]);
  const place = h('div', { class: 'code' });
  const buttons = forms.map(([name, content]) => h('button', { type: 'button', onclick: () =>
    show(name, content) }, name));
  const show = (name: string, content: string): void => {
    const isCut = content.length > TEXT_LENGTH_MAX;
    fill(place, copyButton(content),
      h('pre', { tabindex: 0 }, isCut ? content.slice(0, TEXT_LENGTH_MAX) : content),
      isCut ? h('p', { class: 'hint' }, 'The rest is left out here: download it.') : null);
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.textContent === name));
    }
  };
  const [first] = forms;
  if (first !== undefined) show(...first);
  const download = h('button', { type: 'button', onclick: () => {
    const url = URL.createObjectURL(new Blob([new Uint8Array(body)]));
    h('a', { href: url, download: 'body' }).click();
    URL.revokeObjectURL(url);
  } }, 'Download');
  return h('div', {}, h('div', { class: 'actions' }, ...buttons, download), place);
}

/** null: it is no text. */
function textOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

function hexOf(body: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(body.length, HEX_BYTES_MAX); at += ROW) {
    const row = [...body.subarray(at, at + ROW)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.map((byte) =>
      byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.').join('');
    rows.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(ROW * 3)} ${text}`);
  }
  if (body.length > HEX_BYTES_MAX) rows.push('…');
  return rows.join('\n');
}
