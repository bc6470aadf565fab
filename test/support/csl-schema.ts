/**
 * What the schema of CSL's input data says (citationstyles.org, csl-data.json 1.0), for checking
 * what is written.
 */
const TEXT = { type: 'string' };
const TEXT_OR_NUMBER = { type: ['string', 'number'] };
const FLAG = { type: ['string', 'number', 'boolean'] };
const NAME = {
  type: 'object', additionalProperties: false,
  properties: {
    family: TEXT, given: TEXT, 'dropping-particle': TEXT, 'non-dropping-particle': TEXT,
    suffix: TEXT, literal: TEXT, 'comma-suffix': FLAG, 'static-ordering': FLAG,
    'parse-names': FLAG,
  },
};
const DATE = {
  type: 'object', additionalProperties: false,
  properties: {
    'date-parts': {
      type: 'array', maxItems: 2, items: { type: 'array', maxItems: 3, items: TEXT_OR_NUMBER },
    },
    season: TEXT_OR_NUMBER, circa: FLAG, literal: TEXT, raw: TEXT, edtf: TEXT,
  },
};
const NAMES = { type: 'array', items: NAME };

/** Of the members that a book may have; the schema has more, for other kinds of works. */
export const cslSchema = {
  type: 'array',
  items: {
    type: 'object', required: ['type', 'id'], additionalProperties: false,
    properties: {
      type: { enum: ['book', 'classic', 'chapter', 'article-journal', 'webpage'] },
      id: TEXT_OR_NUMBER,
      author: NAMES, editor: NAMES, translator: NAMES,
      issued: DATE, accessed: DATE, 'original-date': DATE,
      abstract: TEXT, edition: TEXT_OR_NUMBER, ISBN: TEXT, ISSN: TEXT, keyword: TEXT,
      language: TEXT, note: TEXT, 'number-of-pages': TEXT_OR_NUMBER, publisher: TEXT,
      'publisher-place': TEXT, title: TEXT, 'title-short': TEXT, URL: TEXT,
      volume: TEXT_OR_NUMBER, 'collection-title': TEXT, 'collection-number': TEXT_OR_NUMBER,
      'container-title': TEXT, 'citation-key': TEXT, 'narrator': NAMES, 'volume-title': TEXT,
      custom: { type: 'object' },
    },
  },
};
