/** The signed content: the template of a scheme, parsed once and filled for each request. Pure. */
import { crc32 } from 'node:zlib';
import { getDecoded } from '../request/plain-body.ts';
import type { RequestReader } from '../request/request-reader.ts';
import { PLACEHOLDERS, type Placeholder } from '../scheme/scheme.ts';

export type ContentPart =
  | { readonly kind: 'text'; readonly text: string } | { readonly kind: Placeholder };

type ContentValues = {
  readonly body: Buffer;
  readonly timestamp: string;
  readonly id: string;
  readonly url: string;
  readonly webhookId: string;
  readonly reader: RequestReader;
};

const PLACEHOLDER = /\{([A-Za-z0-9]*)\}/;

/** The parts in order. Throws `RangeError` for an unknown placeholder. */
export function parseContent(template: string): readonly ContentPart[] {
  return template.split(PLACEHOLDER).flatMap((text, index): ContentPart[] => {
    if (index % 2 === 0) return text === '' ? [] : [{ kind: 'text', text }];
    const kind = PLACEHOLDERS.find((name) => name === text);
    if (kind === undefined) throw new RangeError(`{${text}} is no placeholder`);
    return [{ kind }];
  });
}

/** The pieces that were signed, one after the other. */
export function collectPieces(
  content: readonly ContentPart[], values: ContentValues,
): readonly (string | Buffer)[] {
  // The pieces are not joined: a new text for each request takes longer than its pieces.
  return content.map((part) => resolvePiece(part, values));
}

function resolvePiece(part: ContentPart, values: ContentValues): string | Buffer {
  switch (part.kind) {
    case 'text': return part.text;
    case 'body': return values.body;
    case 'plainBody': return getDecoded(values.reader.plainBody());
    case 'timestamp': return values.timestamp;
    case 'id': case 'token': return values.id;
    case 'url': return values.url;
    case 'webhookId': return values.webhookId;
    case 'bodyCrc32': return String(crc32(values.body));
    case 'formSorted': return values.reader.sortedForm();
  }
}
