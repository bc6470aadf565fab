import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHAPTERS } from '../../src/manual/chapters.ts';
import { readChapter } from '../../src/manual/read-chapter.ts';
import { searchManual } from '../../src/manual/search-manual.ts';
import { renderMarkdown } from '../../src/server/documents/page/markdown-html.ts';

test('finds first the section whose heading, or the chapter whose summary, has the word', () => {
  for (const [words, place] of [
    ['nginx', 'service#behind-a-reverse-proxy'],
    ['Reverse PROXY', 'service#behind-a-reverse-proxy'],
    ['slack discord ntfy', 'outgoing#to-slack-discord-or-ntfy'],
    ['restore', 'data#the-data-directory'], ['upgrades', 'service#upgrade-and-back'],
  ] as const) {
    const [section] = searchManual(words);
    assert.equal(`${section?.chapter}#${section?.anchor}`, place, words);
  }
});

test('a section must have all the words, or words that begin with them', () => {
  assert.ok(searchManual('proxy').length > searchManual('proxy nginx').length);
  assert.deepEqual(searchManual('proxy xylophone'), []);
  assert.deepEqual(searchManual('roxy'), [], 'a word within a word');
  for (const nothing of ['', ' ', '<>', '../*']) assert.deepEqual(searchManual(nothing), []);
});

test('a later search cuts no chapter again', () => {
  const [section] = searchManual('nginx');
  assert.ok(section !== undefined);
  assert.equal(searchManual('nginx')[0], section);
});

test('each section that is found has its anchor in the page of its chapter', () => {
  const pages = new Map(CHAPTERS.map((chapter) =>
    [chapter.name, renderMarkdown(readChapter(chapter))]));
  const sections = searchManual('a');
  assert.ok(sections.length > 200);
  assert.deepEqual(sections.filter(({ chapter, anchor }) =>
    pages.get(chapter)?.includes(` id="${anchor}">`) !== true), []);
});
