import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPrintableJson } from '../../../src/cli/terminal/output.ts';
import { runCommand } from '../io.ts';
import { WAYS, inPlace } from '../place.ts';

const HIDDEN = '\u001b]0;owned\u0007\u009b2J\u202e\u200f\u061c\u2066';
const NO_CONTROLS = /^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200f\u202e\u2066\ufeff]*$/;

test('JSON holds no control or direction character, and parses to the same value', () => {
  const value = { text: `a${HIDDEN}\u007f\u0085\ufeff`, 'na\u009bme': ['ünï ☃'] };
  const text = formatPrintableJson(value);
  assert.match(text, NO_CONTROLS);
  assert.deepEqual(JSON.parse(text), value);
  assert.deepEqual(JSON.parse(formatPrintableJson(value, 2)), value);
});

for (const way of WAYS) {
  test(`no line, table, object or export takes a terminal over, ${way}`, () =>
    inPlace(way, async (place) => {
      const input = JSON.stringify({ title: HIDDEN, authors: [{ name: HIDDEN }] });
      const added = await place.run(['book:add', '--input', '-'], { input });
      assert.match(added.stdout, /^added book \S+: \\u001b\]0;owned\\u0007/);
      const [id = ''] = /[0-9a-f]{8}-\S+(?=:)/.exec(added.stdout) ?? [];
      for (const words of [
        ['book:list'], ['book:list', '--json'], ['book:show', '--id', id], ['book:export'],
        ['book:export', '--format', 'jsonl'], ['book:show', '--id', id, '--json'],
      ]) {
        const { stdout, code } = await place.run(words, { columns: 200 });
        assert.equal(code, 0);
        assert.match(stdout, NO_CONTROLS, words.join(' '));
        assert.match(stdout, /\\u001b\]0;owned\\u0007\\u009b2J\\u202e\\u200f\\u061c/);
      }
      const csv = await place.run(['book:export', '--format', 'csv'], { columns: 80 });
      assert.match(csv.stdout.replaceAll('\r\n', '\n'), NO_CONTROLS);
      assert.match(csv.stdout, /\\u001b\]0;owned/);
      // Into a file or a pipe everything goes as it is.
      const piped = await place.run(['book:export', '--format', 'csv']);
      assert.ok(piped.stdout.includes(HIDDEN));
    }));
}

test('the lines of a text stand below one another, and none of them looks like a member', () =>
  inPlace('without a server', async (place) => {
    const text = 'one\ttwo\r\nid  three\n\u001b[2J\rfour\n';
    const { id } = await place.json(['book:add', '--input', '-'],
      { input: JSON.stringify({ title: 'Emma', metadata: { text } }) });
    const { stdout } = await place.run(['book:show', String(id)]);
    const indent = ' '.repeat('metadata.text  '.length);
    assert.ok(stdout.includes(`metadata.text  one\ttwo\n${indent}id  three\n`
      + `${indent}\\u001b[2J\\u000dfour\n`), stdout);
    assert.doesNotMatch(stdout, /four\n +\n/);
  }));

test('an error line is redacted, escaped and one line, with --debug too', async () => {
  for (const flags of [[], ['--debug']]) {
    const { code, stderr } = await runCommand([
      `http://user:pa55word@host/?token=t0ken\n${HIDDEN}`, ...flags,
    ]);
    assert.equal(code, 2);
    const [first = '', ...rest] = stderr.trimEnd().split('\n');
    assert.match(first, /^hookshelf: unknown command "http:\/\/\*{3}@host\/\?token=\*{3} \\u001b/);
    assert.equal(rest.length > 0, flags.length > 0);
    assert.match(stderr, NO_CONTROLS);
    assert.doesNotMatch(stderr, /pa55word|t0ken/);
  }
});

const COLOURED = /\u001b\[\d+m/;
const PLACES: readonly (readonly [
  name: string, environment: Readonly<Record<string, string>>, columns: number | null,
  isColoured: boolean,
])[] = [
  ['a terminal', { TERM: 'xterm-256color' }, 80, true],
  ['a terminal without TERM', {}, 80, true],
  ['a terminal with an empty NO_COLOR', { NO_COLOR: '' }, 80, true],
  ['a terminal with NO_COLOR', { NO_COLOR: '1', TERM: 'xterm' }, 80, false],
  ['a dumb terminal', { TERM: 'dumb' }, 80, false],
  ['a pipe', { TERM: 'xterm' }, null, false],
];
for (const [name, environment, columns, isColoured] of PLACES) {
  test(`${name} gets ${isColoured ? '' : 'no '}colours`, () =>
    inPlace('through a server', async (place) => {
      const options = { environment, isColoured: true, ...columns === null ? {} : { columns } };
      await place.run(['book:add', '--input', '{"title":"Emma"}'], options);
      for (const words of [['book:list'], ['doctor'], ['help'], ['help', 'serve']]) {
        const { stdout } = await place.run(words, options);
        assert.equal(COLOURED.test(stdout), isColoured, words.join(' '));
      }
      const { stderr } = await place.run(['nonsense'], options);
      assert.equal(COLOURED.test(stderr), isColoured);
      // What a program reads has none, wherever it goes.
      for (const words of [['book:list', '--json'], ['version'], ['completion', 'bash']]) {
        const { stdout, code } = await place.run(words, options);
        assert.deepEqual([code, COLOURED.test(stdout)], [0, false]);
      }
    }));
}
