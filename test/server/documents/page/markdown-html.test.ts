import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHAPTERS } from '../../../../src/manual/chapters.ts';
import { readChapter } from '../../../../src/manual/read-chapter.ts';
import { renderMarkdown } from '../../../../src/server/documents/page/markdown-html.ts';

const CASES = [
  ['# A `b` & c: d', '<h1 id="a-b--c-d">A <code>b</code> &amp; c: d</h1>'],
  ['one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>'],
  ['**a `*` b** and *c*, 2 * 3',
    '<p><strong>a <code>*</code> b</strong> and <em>c</em>, 2 * 3</p>'],
  ['[a `[b]`](x.md#y) [c](#z)', '<p><a href="x#y">a <code>[b]</code></a> <a href="#z">c</a></p>'],
  ['<http://a.b/c>',
    '<p><a href="http://a.b/c" rel="noreferrer">http://a.b/c</a></p>'],
  ['![A picture](a.png)', '<p><span class="note">Picture: A picture.</span> </p>'],
  ['``a `b` ``', '<p><code>a `b`</code></p>'],
  ['`\\{{` is \\{{', '<p><code>\\{{</code> is {{</p>'],
  ['- a\n  b\n- c\n\n  d', '<ul><li>a\nb</li><li>c\n<p>d</p></li></ul>'],
  ['2. a\n   ```sh\n   b\n   ```\n3. c\n\n- d', '<ol start="2"><li>a\n<div class="code"><button '
    + 'type="button" class="copy" hidden>Copy</button><pre><code>b</code></pre></div></li>'
    + '<li>c</li></ol>\n<ul><li>d</li></ul>'],
  ['```console fails\n$ a\n\n# b <c>\n```', '<pre><code>$ a\n\n# b &lt;c&gt;</code></pre>'],
  ['| a | |\n|---|:-:|\n| `b \\| c` | d |', '<table><thead><tr><th>a</th><th></th></tr></thead>'
    + '<tbody><tr><td><code>b | c</code></td><td>d</td></tr></tbody></table>'],
  ['<script>alert("1")</script> `<b>`',
    '<p>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; <code>&lt;b&gt;</code></p>'],
] as const;

test('renders the Markdown of the manual', () => {
  for (const [text, html] of CASES) assert.equal(renderMarkdown(text), html);
});

test('nothing that is open at the end is lost, and nothing takes long', () => {
  for (const text of ['```sh\na', '- ', '**a', '[a](b', '`a', '| a |', '#', '\\', '<http://']) {
    const shown = renderMarkdown(text).replace(/<[^>]*>/g, '');
    assert.ok(shown.length >= text.replace(/^```\w*\n|^- /, '').length, text);
  }
  for (const part of ['[', '**', '`', '![', '*a', '- a\n', '| |\n', '```\n']) {
    assert.ok(renderMarkdown(part.repeat(2000)).length > 0, part);
  }
});

test('no chapter has Markdown that is left as it is, and every link leads to a heading', () => {
  const pages = new Map(CHAPTERS.map((chapter) =>
    [chapter.name, renderMarkdown(readChapter(chapter))]));
  for (const [name, page] of pages) {
    const text = page.replace(/<pre>.*?<\/pre>|<code>.*?<\/code>/gs, '').replace(/<[^>]*>/g, ' ');
    assert.equal(/`|\*\*\w|\]\(|^(?:#|\||- )/m.exec(text), null, name);
    for (const [, target = name, anchor] of page.matchAll(/href="([a-z-]+)?#([^"]+)"/g)) {
      assert.ok(pages.get(target)?.includes(` id="${anchor}">`), `${name}: ${target}#${anchor}`);
    }
    for (const [, target = ''] of page.matchAll(/href="([^":#]+)"/g)) {
      assert.ok(pages.has(target), `${name}: ${target}`);
    }
  }
});
