import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeLatex, decodeLatexUrl, encodeLatex, hasBalancedBraces,
} from '../../../../src/books/transfer/grammars/latex.ts';
import { below, createRandom } from '../../../support/random.ts';

const TEXTS: readonly (readonly [latex: string, text: string])[] = [
  ['plain  text\n\there', 'plain text here'],
  ['G{\\"u}nter M\\"uller', 'Günter Müller'],
  ["Caf\\'{e} caf\\'e Caf\\' e", 'Café café Café'],
  ['\\c{c} \\v{s} \\H{o} \\k a \\r{a} \\d{o} \\u g', 'ç š ő ą å ọ ğ'],
  ["\\'{\\i} \\^{\\i} {\\'{\\i}} \\u{\\j}", 'í î í j̆'],
  ['Stra{\\ss}e, Stra\\ss{}e, \\o\\ \\ae\\ {\\aa} {\\l}{\\o}', 'Straße, Straße, ø æ å łø'],
  ['\\OE uvre \\TH{}or \\DJ \\i', 'Œuvre Þor Đı'],
  ['pages 1--2, so---there', 'pages 1–2, so—there'],
  ["``so'' `it' isn't ?`Que? !`No!", "“so” ‘it' isn't ¿Que? ¡No!"],
  ['Donald~E. Knuth', 'Donald E. Knuth'],
  ['\\& \\% \\$ \\# \\_ \\{x\\}', '& % $ # _ {x}'],
  ['50% of R&D costs $5 #1 a_b^c', '50% of R&D costs $5 #1 a_b^c'],
  ['\\textbackslash{} \\textasciitilde{}\\textasciicircum{}', '\\ ~^'],
  ['one\\\\two\\ three\\,four', 'one two three four'],
  ['soft\\-hyphen\\/', 'softhyphen'],
  ['{\\textbraceleft}a\\textbraceright', '{a}'],
];

test('accents, symbols, dashes, quotes, ties and escapes are plain text', () => {
  for (const [latex, text] of TEXTS) {
    assert.deepEqual(decodeLatex(latex), { text, hasMarkup: false, hasGroups: false }, latex);
  }
});

test('markup and mathematics are read as well as they can be, and told of', () => {
  const texts: readonly (readonly [latex: string, text: string])[] = [
    ['\\textit{It} and \\emph{this}', 'It and this'],
    ['{\\em so} {\\bfseries bold}', 'so bold'],
    ['\\enquote{a \\emph{b} c} d', '“a b c” d'],
    ['\\href{http://a.example}{text} here', 'text here'],
    ['$x^2$ and $\\alpha\\to\\infty$', 'x^2 and α→∞'],
    ['\\unknown{t\\"e\\emph{x}t} \\Unknown text', '\\unknown{tëxt} \\Unknown text'],
  ];
  for (const [latex, text] of texts) {
    assert.equal(decodeLatex(latex).text, text, latex);
    assert.ok(decodeLatex(latex).hasMarkup, latex);
  }
});

test('braces that keep the case of letters are told from those of accents', () => {
  assert.deepEqual(decodeLatex('The {TCP/IP} Guide'),
    { text: 'The TCP/IP Guide', hasMarkup: false, hasGroups: true });
  for (const latex of ['{\\"u}', '\\"{u}', '\\ss{}', '\\mbox{a}', '{}']) {
    assert.equal(decodeLatex(latex).hasGroups, false, latex);
  }
});

test('text with broken braces, accents and commands is read all the same', () => {
  const texts: readonly (readonly [latex: string, text: string])[] = [
    ['a } b { c', 'a b c'], ['\\"', '¨'], ["x\\' ", 'x´'], ['\\', ''], ['\\enquote{a', '“a'],
    ['\\url{a', ''], ['\\c{}', '¸'], ['$', '$'], ['a$b', 'a$b'],
  ];
  for (const [latex, text] of texts) assert.equal(decodeLatex(latex).text, text, latex);
});

test('any text is read back as it was, from balanced braces', () => {
  const pieces = [
    '\\', '{', '}', '$', '&', '#', '%', '_', '~', '^', '`', "'", '-', '"', '@', 'a', 'é', ' ', '?',
    '!', '本', '😀', '‮אב', 'e\u0301', '<b>', '\\emph', '=', ',', ' and ', '\u00a0',
  ];
  const random = createRandom(3301);
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: below(random, 9) },
      () => pieces[below(random, pieces.length)] ?? '').join('').replace(/ +/g, ' ').trim();
    const latex = encodeLatex(text);
    assert.equal(decodeLatex(latex).text, text.replace(/^ | $/g, ''), latex);
    assert.equal(decodeLatex(latex).hasMarkup, false, latex);
    assert.ok(hasBalancedBraces(latex), latex);
  }
});

test('white space is one blank, and control characters are left out', () => {
  assert.equal(encodeLatex(' a\r\n\t b\u0000\u001b \u0001 c\u0085'), 'a b c');
});

test('an address is read with its escapes and without', () => {
  const url = 'https://a.example/x_y?b=1&c=%20~d#e';
  for (const latex of [
    url, `\\url{${url}}`, `{${url}}`, 'https://a.example/x\\_y?b=1\\&c=\\%20\\~{}d\\#e',
  ]) {
    assert.equal(decodeLatexUrl(latex), url);
  }
});
