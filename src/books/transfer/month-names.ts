/** The months in English, in their order, as BibTeX and other programs name them. */

export const MONTH_NAMES: readonly string[] = [
  'january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october',
  'november', 'december',
];

/** Their first three letters: BibTeX's own names for them. */
export const MONTHS: readonly string[] = MONTH_NAMES.map((name) => name.slice(0, 3));
