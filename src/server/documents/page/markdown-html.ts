/**
 * Renders the Markdown that the manual is written in: headings, paragraphs, lists, tables, fenced
 * code, links, pictures, code and emphasis. HTML in it is text: all of it is escaped. Pure.
 */
import { toHeadingAnchor } from '../../../base/text/heading-anchor.ts';
import { escapeHtml, renderCode, renderTable } from './html.ts';

/** Code in these languages is no input to copy: it shows what is printed. */
const SHOWN_LANGUAGES = ['console', 'text'];
/** A word for the tests of the manual may stand behind the language. */
const FENCE = /^```(\w*)(?: \w+)?$/;
const HEADING = /^(#{1,4}) (.*)$/;
const TABLE_RULE = /^\|(?: *:?-+:? *\|)+$/;
const LIST_ITEM = /^([-*]|(\d+)\.) +/;

/** The pages of chapters lie beside each other: `x.md#y` is at `x#y`. */
export function renderMarkdown(text: string): string {
  return renderBlocks(text.split('\n'));
}

function renderBlocks(lines: readonly string[]): string {
  const blocks: string[] = [];
  for (let start = 0; start < lines.length;) {
    const line = lines[start] ?? '';
    const end = findBlockEnd(lines, start);
    if (line !== '') blocks.push(renderBlock(lines.slice(start, end)));
    start = end;
  }
  return blocks.join('\n');
}

/** The index behind the last line of the block that begins with the line at `start`. */
function findBlockEnd(lines: readonly string[], start: number): number {
  const line = lines[start] ?? '';
  const findNext = (isNext: (line: string, index: number) => boolean): number => {
    let index = start + 1;
    while (index < lines.length && !isNext(lines[index] ?? '', index)) index += 1;
    return index;
  };
  if (line === '' || HEADING.test(line)) return start + 1;
  if (FENCE.test(line)) return Math.min(findNext((one) => one === '```') + 1, lines.length);
  if (LIST_ITEM.test(line)) {
    // A list goes on behind an empty line with what is indented, and with items of its kind.
    const isNumbered = /^\d/.test(line);
    const continues = (next: string): boolean => next.startsWith('  ')
      || LIST_ITEM.test(next) && /^\d/.test(next) === isNumbered;
    return findNext((one, index) => one === '' && !continues(lines[index + 1] ?? ''));
  }
  return findNext((one) => one === '' || FENCE.test(one) || HEADING.test(one)
    || LIST_ITEM.test(one) && !/^\d/.test(one));
}

function renderBlock(lines: readonly string[]): string {
  const [first = '', second = ''] = lines;
  const [, marks = '', heading = ''] = HEADING.exec(first) ?? [];
  if (marks !== '') {
    const level = marks.length;
    return `<h${level} id="${toHeadingAnchor(heading)}">${renderInline(heading)}</h${level}>`;
  }
  const [fence, language = ''] = FENCE.exec(first) ?? [];
  if (fence !== undefined) return renderFenced(lines.slice(1, -1).join('\n'), language);
  if (LIST_ITEM.test(first)) return renderList(lines);
  if (first.startsWith('|') && TABLE_RULE.test(second)) {
    return renderTable(splitRow(first), lines.slice(2).map(splitRow));
  }
  return `<p>${renderInline(lines.join('\n'))}</p>`;
}

function renderFenced(code: string, language: string): string {
  const html = escapeHtml(code);
  return SHOWN_LANGUAGES.includes(language) ? `<pre><code>${html}</code></pre>` : renderCode(html);
}

function renderList(lines: readonly string[]): string {
  const [, , number] = LIST_ITEM.exec(lines[0] ?? '') ?? [];
  const items: string[][] = [];
  for (const line of lines) {
    const marker = LIST_ITEM.exec(line)?.[0];
    // Items are indented by two or three columns, as their marker is wide.
    if (marker === undefined) items.at(-1)?.push(line.replace(/^ {2,3}/, ''));
    else items.push([line.slice(marker.length)]);
  }
  const body = items.map((item) => `<li>${renderItem(item)}</li>`).join('');
  return number === undefined ? `<ul>${body}</ul>` : `<ol start="${number}">${body}</ol>`;
}

/** The first paragraph of an item stands in it as it is. */
function renderItem(lines: readonly string[]): string {
  const html = renderBlocks(lines);
  return html.startsWith('<p>') ? html.slice('<p>'.length).replace('</p>', '') : html;
}

/** The cells of a row as HTML. A `\|` is no border of a cell, in code neither. */
function splitRow(row: string): readonly string[] {
  return row.replace(/^\|/, '').replace(/\|$/, '').split(/(?<!\\)\|/)
    .map((cell) => renderInline(cell.trim().replaceAll('\\|', '|')));
}

/** Elements within a text, by how they begin. The first pattern that fits is taken. */
const INLINE: readonly (readonly [RegExp, (...parts: readonly string[]) => string])[] = [
  [/``(.+?)``/y, (code) => `<code>${escapeHtml(code.trim())}</code>`],
  [/`([^`]+)`/y, (code) => `<code>${escapeHtml(code)}</code>`],
  [/!\[([^\]]*)\]\([^)]*\)\n?/y, (title) => `<span class="note">Picture: ${title}.</span> `],
  [/\[((?:`[^`]*`|[^\]`])+)\]\(([^)\s]+)\)/y, renderLink],
  [/<(https?:[^\s>]+)>/y, (url) => renderLink(url, url)],
  [/\*\*((?:`[^`]*`|[^*`])+)\*\*/y, (text) => `<strong>${renderInline(text)}</strong>`],
  [/\*((?:`[^`]*`|[^*`\s])[^*`]*)\*/y, (text) => `<em>${renderInline(text)}</em>`],
  [/\\([\\`*[\]{|<])/y, escapeHtml],
];
const PLAIN = /[^`![<*\\]+|./sy;

function renderInline(text: string): string {
  let html = '';
  for (let index = 0; index < text.length;) {
    const [end, part] = readInline(text, index);
    html += part;
    index = end;
  }
  return html;
}

/** The index behind what stands at `index`, and its HTML. */
function readInline(text: string, index: number): readonly [end: number, html: string] {
  for (const [pattern, render] of INLINE) {
    pattern.lastIndex = index;
    const match = pattern.exec(text);
    if (match !== null) return [index + match[0].length, render(...match.slice(1))];
  }
  PLAIN.lastIndex = index;
  const plain = PLAIN.exec(text)?.[0] ?? '';
  return [index + plain.length, escapeHtml(plain)];
}

function renderLink(text: string, target: string): string {
  const isElsewhere = target.includes('://');
  const href = isElsewhere ? target : target.replace(/\.md(?=#|$)/, '');
  const rel = isElsewhere ? ' rel="noreferrer"' : '';
  return `<a href="${escapeHtml(href)}"${rel}>${renderInline(text)}</a>`;
}
