// Source maps that tell lines and no columns: a third of what esbuild writes, which tells the place of
// every token. Stack traces need no more, and the package holds them.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const GOES_ON = 32;

/** The text of a source map (ECMA-426) with one segment for each change of the source's line. */
export function withLinesOnly(text) {
  const map = JSON.parse(text);
  let [source, line, lastSource, lastLine] = [0, 0, 0, 0];
  const lines = map.mappings.split(';').map((segments) => {
    let [column, lastColumn] = [0, 0];
    const kept = [];
    for (const segment of segments.split(',').filter((one) => one !== '')) {
      // Each number is the difference to the segment before.
      const [columns, sources, sourceLines] = decode(segment);
      column += columns;
      source += sources;
      line += sourceLines;
      if (kept.length > 0 && source === lastSource && line === lastLine) continue;
      kept.push([column - lastColumn, source - lastSource, line - lastLine, 0].map(encode).join(''));
      [lastColumn, lastSource, lastLine] = [column, source, line];
    }
    return kept.join(',');
  });
  return JSON.stringify({ ...map, names: [], mappings: lines.join(';') });
}

/** Base64 VLQ: five bits a digit, the lowest first; the lowest of all is the sign. */
function decode(segment) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value += (digit % GOES_ON) << shift;
    shift += 5;
    if (digit >= GOES_ON) continue;
    numbers.push(value % 2 === 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function encode(number) {
  let rest = number < 0 ? -number * 2 + 1 : number * 2;
  let text = '';
  do {
    const digit = rest % GOES_ON;
    rest = Math.floor(rest / GOES_ON);
    text += DIGITS[rest > 0 ? digit + GOES_ON : digit];
  } while (rest > 0);
  return text;
}
