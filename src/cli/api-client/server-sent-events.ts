/** Parses server-sent events (HTML Living Standard §9.2) from a response, one by one. */
import { readLines } from './read-lines.ts';

type ServerEvent = {
  /** The last id so far, of this event or an earlier one. */
  readonly id: string;
  /** `message` when the server named none. */
  readonly event: string;
  /** null: the event holds only an id. */
  readonly data: string | null;
};

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
