/** Asks a book list as an HTTP client would, without a server. */
import type { BookList } from '../../src/books/list/book-list.ts';
import type { Exchange } from '../../src/server/http-route.ts';
import type { NaiveBook } from './naive-list.ts';

export type ListAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly books: readonly NaiveBook[];
  readonly total: number;
  /** The query of the next page. */
  readonly next: string | null;
};

export type GetOptions = {
  readonly response?: { destroyed: boolean };
  /** As a command asks, through the control socket. */
  readonly isControl?: boolean;
  /** Called between two pieces of the answer. */
  readonly betweenPieces?: () => void;
};

export async function getList(
  list: BookList, search: string, options: GetOptions = {},
): Promise<ListAnswer> {
  const { response = { destroyed: false }, isControl = false, betweenPieces = () => {} } = options;
  const sent: { status: number; headers: readonly string[]; pieces: Buffer[] }[] = [];
  const exchange = {
    search,
    request: { method: 'GET' },
    response,
    isControl,
    route: { path: '/api/books' },
    linkTo: (path: string) => path,
    send(status: number, headers: readonly string[], body: Buffer) {
      sent.push({ status, headers, pieces: [body] });
      betweenPieces();
    },
    async sendStream(status: number, headers: readonly string[], pull: () => Buffer[] | null) {
      const pieces: Buffer[] = [];
      for (let some = pull(); some !== null; some = pull()) {
        pieces.push(...some);
        betweenPieces();
      }
      sent.push({ status, headers, pieces });
    },
  };
  await list.sendJson(exchange as unknown as Exchange);
  const [answer] = sent;
  if (answer === undefined || sent.length > 1) throw new Error(`${sent.length} answers`);
  const headers: Record<string, string> = {};
  for (let index = 0; index < answer.headers.length; index += 2) {
    headers[String(answer.headers[index]).toLowerCase()] = String(answer.headers[index + 1]);
  }
  const text = Buffer.concat(answer.pieces).toString();
  const link = /^<\/api\/books\?([^>]*)>; rel="next"$/.exec(headers['link'] ?? '');
  return {
    status: answer.status, headers, text, books: JSON.parse(text),
    total: Number(headers['x-total-count']), next: link?.[1] ?? null,
  };
}

/**
 * All pages from a query on; `between` is called before each but the first. The total of each is
 * added to `totals`.
 */
export async function walkPages(
  list: BookList, search: string, between: (seen: readonly NaiveBook[]) => void = () => {},
  totals: number[] = [],
): Promise<NaiveBook[]> {
  const books: NaiveBook[] = [];
  for (let next: string | null = search; next !== null;) {
    if (next !== search) between(books);
    const page: ListAnswer = await getList(list, next);
    books.push(...page.books);
    totals.push(page.total);
    next = page.next;
  }
  return books;
}
