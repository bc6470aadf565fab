/** Text fit for a terminal: what rewrites, hides or reorders what a person sees is made visible. */

// Line and paragraph separators with C0 and C1; of the format characters (bidirectional marks and
// overrides, zero-width spaces, tags) all but those that are drawn, as the Arabic number sign is.
const CONTROL = String.raw`[\p{Cc}\u2028\u2029]`;
const DRAWN = String.raw`[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]`;
// Persian, Hindi and emoji are written with joiners; beside Latin and spaces those only hide.
const JOINED = String.raw`[^\u0000-\u02ff\u2000-\u206f]`;
const JOINER = String.raw`(?<=${JOINED})[\u200c\u200d](?=${JOINED})`;
const ESCAPED = new RegExp(`${CONTROL}|(?!${DRAWN}|${JOINER})\\p{Cf}`, 'gu');

/** `text` on one line, with control and invisible characters as `\u…` of JSON. */
export function escapeControls(text: string): string {
  return text.replace(ESCAPED, (character) =>
    character.split('').map((unit) =>
      `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''));
}

/** Escapes each line of `text` by `escapeControls`. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

/** Escapes what stands between the line ends and tabs of `text`, which do no harm. */
export function escapeText(text: string): string {
  return text.split(/(\r?\n|\t)/)
    .map((part, index) => index % 2 === 1 ? part : escapeControls(part)).join('');
}
