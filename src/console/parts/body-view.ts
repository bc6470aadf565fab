/** Shows an untrusted body: formatted if it is JSON, raw if it is text, and as hex. */
import { sendRequest } from '../base/api-calls.ts';
import { saveFile } from '../base/file-transfer.ts';
import { fill, h } from '../base/dom.ts';
import { formatBytes } from '../base/format.ts';
import { formatPrettyJson } from '../base/json-text.ts';
import { ChoiceButtons } from './buttons.ts';
import { copyButton } from './code-block.ts';
import { showFailureNotice } from './notice.ts';

const SHOWN_BYTES_MAX = 1 << 20;
const HEX_BYTES_MAX = 16_384;
const TEXT_LENGTH_MAX = 200_000;
const ROW_BYTES = 16;

/** Fetches and shows the body at `path`; a long one only when the user asks for it. */
export function bodySection(path: string, length: number): HTMLElement {
  const container = h('div');
  const show = async (): Promise<void> => {
    try {
      const response = await sendRequest('GET', path);
      fill(container, response.ok ? renderBody(new Uint8Array(await response.arrayBuffer()))
        : h('p.hint', 'It is not kept.'));
    } catch (thrown) {
      showFailureNotice(thrown);
    }
  };
  if (length === 0) container.append(h('p.hint', 'There is none.'));
  else if (length <= SHOWN_BYTES_MAX) void show();
  else {
    container.append(h('button', { onclick: () => void show() },
      `Show ${formatBytes(length)}`));
  }
  return h('section', h('h2', 'Body'), container);
}

type BodyView = readonly [name: string, content: string];

function renderBody(body: Uint8Array): HTMLElement {
  const text = decodeText(body);
  const pretty = text === null ? null : formatPrettyJson(text);
  const hex: BodyView = ['Hex', formatHex(body)];
  const views = [hex];
  if (text !== null) views.unshift(['Raw', text]);
  if (pretty !== null) views.unshift(['Pretty', pretty]);
  const container = h('div.code');
  const show = ([, content]: BodyView): void => {
    const isCut = content.length > TEXT_LENGTH_MAX;
    fill(container, copyButton(content),
      h('pre', { tabindex: 0 }, isCut ? content.slice(0, TEXT_LENGTH_MAX) : content),
      isCut ? h('p.hint', 'The rest is left out here: download it.') : null);
  };
  const [first = hex] = views;
  const buttons = new ChoiceButtons(views.map((view) => [view, view[0]] as const), first, show);
  show(first);
  const download = h('button', {
    onclick: () => saveFile(new Blob([new Uint8Array(body)]), 'body'),
  }, 'Download');
  return h('div', h('div.actions', {}, ...buttons.elements, download), container);
}

function decodeText(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

function formatHex(body: Uint8Array): string {
  const rows: string[] = [];
  for (let offset = 0; offset < Math.min(body.length, HEX_BYTES_MAX); offset += ROW_BYTES) {
    const row = [...body.subarray(offset, offset + ROW_BYTES)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.map((byte) =>
      byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.').join('');
    rows.push(`${offset.toString(16).padStart(6, '0')}  ${hex.padEnd(ROW_BYTES * 3)} ${text}`);
  }
  if (body.length > HEX_BYTES_MAX) rows.push('…');
  return rows.join('\n');
}
