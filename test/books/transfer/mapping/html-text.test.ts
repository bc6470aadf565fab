import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part, whole } from '../../../../src/books/transfer/mapping/format-table.ts';
import { readHtml, readRichText } from '../../../../src/books/transfer/mapping/html-text.ts';

test('HTML is read as text, whole where its tags only end lines', () => {
  const cases: readonly (readonly [html: string, text: string | null, isWhole: boolean])[] = [
    ['plain', 'plain', true], ['two\nlines', 'two\nlines', true], ['1 < 2 > 0', '1 < 2 > 0', true],
    ['<p>One</p>\n<p class="a">Two</p>', 'One\n\nTwo', true],
    ['<div>One<br>two<br/>three</div>', 'One\ntwo\nthree', true],
    ['<P>One\n  two</P>', 'One two', true], ['<span style="x">A</span>', 'A', true],
    ['A <b>bold</b> word', 'A bold word', false],
    ['<ul><li>One</li><li>Two</li></ul>after', '- One\n\n- Two\n\nafter', false],
    ['<a href="http://a.test/?b&amp;c">link</a>', 'link', false],
    ['<style>p { color: red }</style>A', 'A', false],
    ['<script>1 < 2</SCRIPT>A', 'A', false], ['A<!-- <p> -->B', 'AB', true],
    ['A <!-- open', 'A <!-- open', true], ['A <b', 'A <b', true], ['<b>', null, false],
    ['<div><br></div>', null, true],
    ['<!DOCTYPE html><p>A', 'A', true],
    // Where no tag says where lines end, its own line ends do.
    ['A  <i>b</i>\r\n c\n\n\nd', 'A b\nc\n\nd', false], ['A <i>b</i>\nc<br>d', 'A b c\nd', false],
  ];
  for (const [html, text, isWhole] of cases) {
    assert.deepEqual(readHtml(html), { value: text, isWhole }, html);
  }
});

test('a text of more tags than any review has is not read, and stays where it is', () => {
  assert.deepEqual(readHtml('a<br>'.repeat(20_000)), part(null));
  assert.equal(readHtml('a<br>'.repeat(2000)).isWhole, true);
});

test('references are characters, and unknown ones stay', () => {
  const cases: readonly (readonly [html: string, text: string])[] = [
    ['AT&amp;T &lt;b&gt; &quot;c&quot; &#39;d&#x27;', 'AT&T <b> "c" \'d\''],
    ['&eacute;&Uuml;&ccedil;&Scaron;&aring;&ntilde;&szlig;&AElig;', 'éÜçŠåñßÆ'],
    ['a&nbsp;&mdash;&hellip;&#128512;', 'a —…😀'], ['&unknown; &; & &#0; &#xD800; &#9999999;',
      '&unknown; &; & &#0; &#xD800; &#9999999;'],
    ['&amp;lt;', '&lt;'], ['&constructor;', '&constructor;'],
  ];
  for (const [html, text] of cases) assert.equal(readHtml(html).value, text);
});

test('rich text of Zotero loses its marks alone', () => {
  for (const [text, plain] of [
    ['On <i>E. coli</i> &amp; H<sub>2</sub>O', 'On E. coli & H2O'],
    ['<span class="nocase">iPod</span>', 'iPod'],
    ['<span style="font-variant:small-caps;">Ad</span> 5', 'Ad 5'],
    ['a < b > c', null], ['<script>x</script>', null], ['AT&T', null],
  ] as const) {
    assert.deepEqual(readRichText(text), plain === null ? whole(text) : part(plain), text);
  }
});
