/** The lines of a response, one by one: of server-sent events, and of JSON Lines. */
import { StringDecoder } from 'node:string_decoder';

/** No server of ours sends a longer line; without a limit it would fill the memory. */
const LINE_CHARACTERS_MAX = 64 << 20;

/** A line that is not ended, as the response has broken off, is none. */
export async function* readLines(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const text = Buffer.isBuffer(chunk) ? decoder.write(chunk) : String(chunk);
    // Only what has come is split: a long line would be searched again with each of its pieces.
    const [end = '', ...others] = text.split('\n');
    const lines = [rest + end, ...others];
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS_MAX) throw new RangeError('a line of the stream is too long');
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
