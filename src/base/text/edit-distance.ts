/**
 * The edit distance of two words: how many letters (code points) have to be inserted, deleted or
 * replaced, or swapped with their neighbour, to make one of the other, where no part is changed
 * twice (optimal string alignment). Pure.
 */

/** The distance of two words, or `distanceMax` + 1 when it is larger than `distanceMax`. */
export function editDistance(from: string, to: string, distanceMax: number): number {
  const rows = new EditDistanceRows(from, distanceMax);
  let depth = 0;
  for (const letter of to) {
    if (!rows.setLetter(depth, letter.codePointAt(0) ?? 0)) return distanceMax + 1;
    depth += 1;
  }
  return rows.distance(depth);
}

/**
 * The rows of the table of distances between one word and others, which are given letter by letter.
 * The rows of a common beginning stay when its letters do: so a walk through a sorted dictionary
 * computes few of them.
 *
 * Row `r` is for the first `r` letters of the other word. Its cells are for the first `r - max` to
 * `r + max` letters of the word: elsewhere the lengths alone make the distance too large. So a row
 * takes the same time however long the words are.
 */
export class EditDistanceRows {
  readonly #word: readonly number[];
  readonly #distanceMax: number;
  readonly #width: number;
  readonly #cells: Uint8Array;
  /** The letters of the other word, of which the first `#letterCount` have rows. */
  readonly #letters: number[] = [];
  #letterCount = 0;

  /** `distanceMax` must be below 255, as a cell is a byte. */
  constructor(word: string, distanceMax: number) {
    this.#word = Array.from(word, (letter) => letter.codePointAt(0) ?? 0);
    this.#distanceMax = distanceMax;
    this.#width = 2 * distanceMax + 1;
    this.#cells = new Uint8Array((this.#word.length + distanceMax + 1) * this.#width);
    for (let cell = 0; cell < this.#width; cell += 1) {
      const column = cell - distanceMax;
      const isCell = column >= 0 && column <= this.#word.length;
      this.#cells[cell] = isCell ? column : distanceMax + 1;
    }
  }

  /**
   * Sets a letter of the other word (0 is the first), whose earlier letters are set. A letter that
   * differs from the former letter in its place drops all later letters. Returns whether any word
   * that begins with these letters may be near enough. If not, no later letter may be set.
   */
  setLetter(depth: number, letter: number): boolean {
    if (depth < this.#letterCount && this.#letters[depth] === letter) return true;
    this.#letterCount = depth;
    const row = depth + 1;
    if (row > this.#word.length + this.#distanceMax) return false;
    let least = this.#distanceMax + 1;
    for (let cell = 0; cell < this.#width; cell += 1) {
      const distance = this.#cellDistance(row, cell, letter);
      this.#cells[row * this.#width + cell] = distance;
      if (distance < least) least = distance;
    }
    // A swap reaches two rows back, but costs no less than replacing the first of its letters.
    if (least > this.#distanceMax) return false;
    this.#letters[depth] = letter;
    this.#letterCount = row;
    return true;
  }

  /** The distance of the first `depth` letters that are set; see `editDistance`. */
  distance(depth: number): number {
    const cell = this.#word.length - depth + this.#distanceMax;
    if (cell < 0 || cell >= this.#width) return this.#distanceMax + 1;
    return this.#cells[depth * this.#width + cell] ?? 0;
  }

  #cellDistance(row: number, cell: number, letter: number): number {
    const cells = this.#cells;
    const width = this.#width;
    const column = row + cell - this.#distanceMax;
    let distance = this.#distanceMax + 1;
    if (column < 0 || column > this.#word.length) return distance;
    if (column === 0) return Math.min(distance, row);
    const above = (row - 1) * width + cell;
    const cost = this.#word[column - 1] === letter ? 0 : 1;
    distance = Math.min(distance, (cells[above] ?? 0) + cost);
    if (cell + 1 < width) distance = Math.min(distance, (cells[above + 1] ?? 0) + 1);
    if (cell > 0) distance = Math.min(distance, (cells[above + width - 1] ?? 0) + 1);
    const isSwap = row > 1 && column > 1 && this.#word[column - 2] === letter
      && this.#word[column - 1] === this.#letters[row - 2];
    return isSwap ? Math.min(distance, (cells[above - width] ?? 0) + 1) : distance;
  }
}
