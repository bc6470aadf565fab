/** The blocks of PEM text (RFC 7468), each from its line of BEGIN to its line of END. */

export type PemBlock = {
  /** The type of the block: `CERTIFICATE`, `PRIVATE KEY` … */
  readonly label: string;
  /** The block from its first line to its last, with LF line ends and one at the end. */
  readonly text: string;
};

const BEGIN = '-----BEGIN ';
const DASHES = '-----';

/** The whole blocks of a text, in order; what stands between them is left out. */
export function listPemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let at = 0; ;) {
    const start = text.indexOf(BEGIN, at);
    const labelEnd = start === -1 ? -1 : text.indexOf(DASHES, start + BEGIN.length);
    if (labelEnd === -1) return blocks;
    const label = text.slice(start + BEGIN.length, labelEnd);
    const endLine = `-----END ${label}-----`;
    const endStart = text.indexOf(endLine, labelEnd);
    // A block that was cut: a search for the end of each further one would cost its length again.
    if (endStart === -1) return blocks;
    at = endStart + endLine.length;
    blocks.push({ label, text: `${text.slice(start, at).replaceAll('\r\n', '\n')}\n` });
  }
}
