/** Finds the sections of the manual that have some words. A section ends at the next heading. */
import { toHeadingAnchor } from '../base/text/heading-anchor.ts';
import { CHAPTERS } from './chapters.ts';
import type { Chapter } from './chapters.ts';
import { readChapter } from './read-chapter.ts';

export type Section = {
  /** The name of its chapter. */
  readonly chapter: string;
  readonly heading: string;
  readonly anchor: string;
};

/** Each word is looked for in half a megabyte: 1 ms. */
const WORDS_MAX = 8;
/** A word in the heading says more of a section than any number of them in its text. */
const HEADING_WEIGHT = 20;
const TEXT_WEIGHT_MAX = 10;

/**
 * The sections that have all the words, or words that begin with them, in heading and text; those
 * that say most of them come first. Throws `unavailable` as `readChapter`.
 */
export function searchManual(text: string): readonly Section[] {
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))].slice(0, WORDS_MAX)
    .map((word) => word.length > 3 ? word.replace(/s$/, '') : word);
  if (words.length === 0) return [];
  sections ??= CHAPTERS.flatMap(splitChapter);
  return sections
    .map(({ section, title, body }) => {
      const weights = words.map((word) => HEADING_WEIGHT * countWord(title, word, 1)
        + countWord(body, word, TEXT_WEIGHT_MAX));
      return { section, weight: weights.reduce((sum, one) => sum + one), weights };
    })
    .filter(({ weights }) => !weights.includes(0))
    .sort((left, right) => right.weight - left.weight)
    .map(({ section }) => section);
}

/** Kept from the first search on: to read and to cut the chapters takes ten times a search. */
let sections: readonly SectionText[] | null = null;

type SectionText = { readonly section: Section; readonly title: string; readonly body: string };

/** The first section of a chapter has the chapter's summary in its title. In lower case. */
function splitChapter(chapter: Chapter): readonly SectionText[] {
  const text = readChapter(chapter).replace(/^```.*?^```/gms, hideHeadings);
  return text.split(/^#+ /m).slice(1).map((part, index) => {
    const [heading = ''] = part.split('\n', 1);
    const title = index === 0 ? `${heading} ${chapter.summary}` : heading;
    return {
      section: { chapter: chapter.name, heading, anchor: toHeadingAnchor(heading) },
      title: title.toLowerCase(), body: part.slice(heading.length).toLowerCase(),
    };
  });
}

/** A line of code that begins with `#` is a comment. */
function hideHeadings(code: string): string {
  return code.replace(/^#/gm, ' ');
}

/** How often the word, in lower case, begins a word of the text; `max`: so often, or more. */
function countWord(text: string, word: string, max: number): number {
  let count = 0;
  let at = text.indexOf(word);
  for (; at >= 0 && count < max; at = text.indexOf(word, at + word.length)) {
    if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) count += 1;
  }
  return count;
}
