/** `GET /api/books` and `GET /api/books/{id}` in the formats that books are written in. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBookServer } from '../support/book-server.ts';
import type { Answer, BookServer } from '../support/book-server.ts';
import { longTest } from '../support/long.ts';

const JSON_TYPE = 'application/json';
const JSON_LD = 'application/ld+json';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

let server: BookServer;
let path = '';

before(async () => {
  server = await startBookServer();
  for (const title of ['Persuasion', 'Emma', '=1+1']) {
    const answer = await server.ask('POST', '/api/books',
      JSON.stringify({ title, authors: [{ name: 'Jane Austen' }], metadata: { shelf: 'A1' } }));
    path = String(answer.headers['location']);
  }
});

after(() => server.close());

function get(target: string, headers: Record<string, string> = {}): Promise<Answer> {
  return server.ask('GET', target, '', headers);
}

function typeOf({ headers }: Answer): string | undefined {
  return headers['content-type']?.split(';')[0];
}

test('without a wish, or with that for anything, it is the same JSON', async () => {
  for (const target of ['/api/books', '/api/books?limit=2', path]) {
    const plain = await get(target);
    assert.equal(plain.status, 200);
    assert.equal(plain.headers.vary, 'Accept');
    for (const accept of ['*/*', JSON_TYPE, 'application/*', BROWSER,
      'application/json, text/plain, */*', 'text/csv;q=0.5, application/json;q=0.6', '*/*;q=0.1',
      // Nothing, and what Java's own client sends.
      '', ' , ', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', '*']) {
      const answer = await get(target, { Accept: accept });
      assert.deepEqual([answer.status, typeOf(answer)], [200, JSON_TYPE], accept);
      assert.equal(answer.text, plain.text, accept);
      assert.equal(answer.headers.etag, plain.headers.etag);
    }
    const named = await get(`${target}${target.includes('?') ? '&' : '?'}format=json`,
      { Accept: 'text/html' });
    assert.equal(named.text, plain.text);
  }
});

test('a key that a book brought along stays, also where older ones are alike', async () => {
  const bibtex = await startBookServer();
  try {
    const book = JSON.stringify({ title: 'Emma', authors: [{ name: 'Jane Austen' }] });
    for (let count = 0; count < 2; count += 1) await bibtex.ask('POST', '/api/books', book);
    const imported = '@book{Austen, title = {Persuasion}}\n@book{Austena, title = {Sanditon}}\n';
    await bibtex.ask('POST', '/api/books/import?format=bibtex', imported);
    for (const query of ['', '&sort=-title', '&limit=10']) {
      const { text } = await bibtex.ask('GET', `/api/books?format=bibtex${query}`);
      assert.match(text, /@book\{Austen,\s+title = \{+Persuasion/, query);
      assert.match(text, /@book\{Austena,\s+title = \{+Sanditon/, query);
      const keys = [...text.matchAll(/^@book\{(.*),$/gm)].map(([, key]) => key).sort();
      assert.deepEqual(keys, ['Austen', 'Austena', 'Austenb', 'Austenc'], query);
    }
    const alone = await bibtex.ask('GET', '/api/books?format=bibtex&limit=1');
    assert.match(alone.text, /^@book\{Austen,/);
  } finally {
    await bibtex.close();
  }
});

test('letters follow the keys of BibTeX in id order, however an answer is sorted', async () => {
  const bibtex = await startBookServer();
  try {
    const ids = [...'123'].map((digit) => `00000000-0000-7000-8000-00000000000${digit}`);
    const books = ids.map((id, index) =>
      ({ id, title: 'CBA'[index], authors: [{ name: 'Jane Austen' }] }));
    await bibtex.ask('POST', '/api/books/import?format=json', JSON.stringify(books));
    const cases = [
      ['', 'C Austen, B Austena, A Austenb'], ['&sort=title', 'A Austenb, B Austena, C Austen'],
      ['&sort=-id', 'A Austenb, B Austena, C Austen'],
      ['&sort=title&limit=2', 'A Austena, B Austen'],
      ['&author=austen&sort=title', 'A Austenb, B Austena, C Austen'],
    ] as const;
    for (const [query, expected] of cases) {
      const { text } = await bibtex.ask('GET', `/api/books?format=bibtex${query}`);
      const entries = [...text.matchAll(/@book\{(\w+),[^@]*title = \{+(\w)/g)];
      assert.equal(entries.map(([, key, title]) => `${title} ${key}`).join(', '), expected, query);
    }
  } finally {
    await bibtex.close();
  }
});

test('the format that is wanted most is sent, one named literally before others', async () => {
  const cases: readonly (readonly [accept: string, type: string])[] = [
    ['text/csv', 'text/csv'], ['TEXT/CSV', 'text/csv'], ['text/*', 'text/csv'],
    ['application/jsonl', 'application/jsonl'], ['application/x-ndjson', 'application/x-ndjson'],
    [JSON_LD, JSON_LD], ['application/ld+json;profile="http://a/b, c;q=0"', JSON_LD],
    ['application/json;q=0.1, application/ld+json;q=0.9', JSON_LD],
    ['application/ld+json, */*', JSON_LD], ['text/csv, application/json', 'text/csv'],
    ['application/json, text/csv', JSON_TYPE], ['text/html, text/csv;q=0.001', 'text/csv'],
    ['application/json;q=0, application/ld+json;q=0.2, */*;q=0.1', JSON_LD],
  ];
  for (const [accept, type] of cases) {
    for (const target of ['/api/books', path]) {
      const answer = await get(target, { Accept: accept });
      assert.deepEqual([answer.status, typeOf(answer)], [200, type], accept);
      assert.equal(answer.headers.vary, 'Accept', accept);
    }
  }
});

test('a caller that takes nothing of what there is gets 406, which names it', async () => {
  for (const accept of ['text/html', 'image/png', '*/*;q=0', 'application/json;q=0', 'text/csv;q=x',
    'text/tab-separated-values', 'text/csv;q=2', '*;q=.0']) {
    for (const target of ['/api/books', path]) {
      const answer = await get(target, { Accept: accept });
      assert.deepEqual([answer.status, typeOf(answer)], [406, 'application/problem+json'], accept);
      assert.equal(answer.headers.vary, 'Accept');
      assert.match(answer.text, /application\/json, .*text\/csv, .*ld\+json.*\?format=csv/);
    }
  }
});

test('?spreadsheet=true is csv that a spreadsheet opens, and for no other format', async () => {
  for (const [query, accept] of [
    ['format=csv&spreadsheet=true', JSON_TYPE], ['spreadsheet=true', 'text/csv'],
  ] as const) {
    const { text } = await get(`/api/books?${query}`, { Accept: accept });
    assert.match(text, /^\ufeffid,[^]*,'=1\+1,/);
  }
  const plain = await get('/api/books?format=csv');
  assert.equal((await get('/api/books?format=csv&spreadsheet=false')).text, plain.text);
  for (const [query, detail] of [
    ['spreadsheet=true', /`spreadsheet` is for csv, and this answer is json: .*format=csv/],
    ['spreadsheet=true&format=ris', /this answer is ris/],
    ['spreadsheet=yes&format=csv', /`spreadsheet` must be true or false, not "yes"/],
  ] as const) {
    const refused = await get(`/api/books?${query}`);
    assert.equal(refused.status, 400, query);
    assert.match(JSON.parse(refused.text).detail, detail);
  }
});

test('?format= beats Accept, and one that is not written is refused', async () => {
  for (const target of ['/api/books', path]) {
    const answer = await get(`${target}?format=jsonld`, { Accept: 'text/html' });
    assert.deepEqual([answer.status, typeOf(answer)], [200, JSON_LD]);
    for (const query of ['format=pdf', 'format=', 'format=CSV', 'format=csv&format=csv',
      '%66ormat=pdf']) {
      const refused = await get(`${target}?${query}`);
      assert.equal(refused.status, 400, query);
    }
    const { text } = await get(`${target}?format=cvs`);
    assert.match(text, /must be one of json, jsonl, csv, jsonld.* did you mean `csv`\?/);
  }
  assert.equal((await get('/api/books/facets?facet=author&format=csv')).status, 400);
});

test('list parameters hold in every format, and the next page has the same', async () => {
  const first = await get('/api/books?format=csv&limit=1&sort=title&q=austen');
  assert.equal(first.headers['x-total-count'], '3');
  assert.match(first.text, /^id,.*\r\n.*=1\+1/);
  const next = /<(.*)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? '';
  assert.match(next, /format=csv/);
  const second = await get(next);
  assert.match(second.text, /Emma/);
  assert.equal(typeOf(second), 'text/csv');
  const json = await get('/api/books?limit=1&sort=title&q=austen');
  const cursor = /cursor=([^>&]+)/.exec(String(json.headers.link))?.[1] ?? '';
  const graph = await get(`/api/books?limit=1&sort=title&q=austen&cursor=${cursor}`,
    { Accept: JSON_LD });
  assert.deepEqual(JSON.parse(graph.text)['@graph'].map((node: { name: string }) => node.name),
    ['Emma']);
});

test('members can be chosen where a format has them as they are, and plans are JSON', async () => {
  const lines = await get('/api/books?fields=title&format=jsonl');
  assert.deepEqual(lines.text.split('\n').slice(0, -1).map((line) => Object.keys(JSON.parse(line))),
    [['id', 'title'], ['id', 'title'], ['id', 'title']]);
  assert.deepEqual(Object.keys(JSON.parse((await get(`${path}?format=jsonl&fields=title`)).text)),
    ['id', 'title']);
  for (const target of ['/api/books', path]) {
    const refused = await get(`${target}?fields=title&format=csv`);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /`fields` is for json and jsonl alone/);
  }
  const explained = await get('/api/books?explain=true');
  assert.deepEqual([explained.status, explained.headers.vary], [200, 'Accept']);
  const plan = await get('/api/books?explain=true&format=csv');
  assert.equal(plan.status, 400);
  assert.match(plan.text, /`explain` is answered as JSON alone/);
});

test('one book is one object, one row or one line', async () => {
  const { title } = JSON.parse((await get(path)).text);
  const node = JSON.parse((await get(path, { Accept: JSON_LD })).text);
  assert.deepEqual([node['@context'], node['@type'], node.name],
    ['https://schema.org', 'Book', title]);
  assert.equal((await get(`${path}?format=csv`)).text.split('\r\n').length, 3);
  assert.equal((await get(`${path}?format=jsonl`)).text, `${(await get(path)).text}\n`);
});

test('text formats that are files are sent as such', async () => {
  for (const target of ['/api/books', path]) {
    const names = await Promise.all(['json', 'jsonl', 'csv', 'jsonld'].map(async (format) =>
      (await get(`${target}?format=${format}`)).headers['content-disposition']));
    assert.deepEqual(names, [undefined, 'attachment; filename="books.jsonl"',
      'attachment; filename="books.csv"', undefined]);
  }
  assert.equal((await get('/api/books?format=csv')).headers['content-type'],
    'text/csv; charset=utf-8');
});

test('each format has a tag of its own, which 304 is given for', async () => {
  const tags = await Promise.all(['json', 'jsonl', 'csv', 'jsonld'].map(async (format) =>
    String((await get(`${path}?format=${format}`)).headers.etag)));
  assert.equal(new Set(tags).size, 4);
  const [json = '', , csv = '', jsonld = ''] = tags;
  const cases: readonly (readonly [format: string, tag: string, status: number])[] = [
    ['jsonld', jsonld, 304], ['jsonld', `W/${jsonld}`, 304], ['jsonld', '*', 304],
    ['jsonld', `"x", ${jsonld}`, 304], ['jsonld', json, 200], ['json', jsonld, 200],
    ['csv', csv, 304], ['csv', jsonld, 200], ['json', json, 304],
  ];
  for (const [format, tag, status] of cases) {
    const answer = await get(`${path}?format=${format}`, { 'If-None-Match': tag });
    assert.equal(answer.status, status, `${format} ${tag}`);
    assert.equal(answer.headers.vary, 'Accept');
    if (status === 304) assert.equal(answer.text, '');
  }
  assert.equal((await get(`${path}?format=csv`, { 'If-Match': json })).status, 412);
});

test('HEAD has the headers of GET', async () => {
  for (const target of ['/api/books?format=csv', `${path}?format=jsonld`, path]) {
    const [whole, head] = [await get(target), await server.ask('HEAD', target)];
    assert.deepEqual([head.status, head.text], [200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'vary', 'content-disposition']) {
      assert.equal(head.headers[name], whole.headers[name], `${target} ${name}`);
    }
  }
});

longTest('a whole catalog is streamed in every format, each book once', async () => {
  const count = 1000;
  const books = Array.from({ length: count }, (_, number) =>
    `${JSON.stringify({ title: `Made ${number}`, description: 'x'.repeat(300) })}\n`).join('');
  await server.ask('POST', '/api/books/import', books, { 'Content-Type': 'application/jsonl' });
  const plain = JSON.parse((await get('/api/books')).text).map(({ title }: Titled) => title);
  assert.equal(plain.length, count + 3);
  for (const search of ['', '&sort=-title', '&q=made']) {
    const json = JSON.parse((await get(`/api/books?${search}`)).text);
    const titles = json.map(({ title }: Titled) => title);
    const lines = await get(`/api/books?format=jsonl${search}`);
    assert.equal(lines.headers['content-length'], undefined, 'it is streamed');
    const lineTitles = lines.text.trimEnd().split('\n').map((line) => JSON.parse(line).title);
    assert.deepEqual(lineTitles, titles);
    const graph = await get(`/api/books?format=jsonld${search}`);
    assert.deepEqual(JSON.parse(graph.text)['@graph'].map(({ name }: { name: string }) => name),
      titles);
    const rows = (await get(`/api/books?format=csv${search}`)).text;
    assert.equal(rows.split('\r\n').length, titles.length + 2);
  }
});

type Titled = { readonly title: string };
