/** Parses server-sent events (HTML Living Standard §9.2) from a response, one by one. */
import { StringDecoder } from 'node:string_decoder';

type ServerEvent = {
  /** The last id so far, of this event or an earlier one. */
  readonly id: string;
  /** `message` when the server named none. */
  readonly event: string;
  /** null: the event holds only an id. */
  readonly data: string | null;
};

/** No server of ours sends a longer line; without a limit it would fill the memory. */
const LINE_CHARACTERS_MAX = 64 << 20;

/** Ends with the response; throws when it breaks off. */
export async function* readEvents(stream: AsyncIterable<unknown>): AsyncGenerator<ServerEvent> {
  let id = '';
  let fields = new Map<string, string>();
  for await (const line of readLines(stream)) {
    if (line !== '') {
      addField(fields, line);
      continue;
    }
    id = fields.get('id') ?? id;
    const data = fields.get('data') ?? null;
    if (data !== null || fields.has('id')) {
      yield { id, event: fields.get('event') ?? 'message', data };
    }
    fields = new Map();
  }
}

function addField(fields: Map<string, string>, line: string): void {
  const colon = line.indexOf(':');
  // A line that begins with a colon is a comment.
  if (colon === 0) return;
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
  const before = name === 'data' ? fields.get(name) : undefined;
  fields.set(name, before === undefined ? value : `${before}\n${value}`);
}

async function* readLines(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const text = Buffer.isBuffer(chunk) ? decoder.write(chunk) : String(chunk);
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS_MAX) throw new RangeError('a line of the stream is too long');
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
