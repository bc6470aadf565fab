/** Two programs in one catalog: what one says of a book takes nothing away from another. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { startBookServer } from '../../support/book-server.ts';
import type { BookServer } from '../../support/book-server.ts';

type Line = Readonly<Record<string, unknown>>;

const ISBN = '9780439023481';
const LIBRARYTHING = [
  'Book Id\tTitle\tPrimary Author\tReview\tRating\tTags\tCollections\tISBN',
  `1\tA\tLe Guin, Ursula K.\tGreat.\t4.5\tsf, gender\tFavorites\t[${ISBN}]\n`,
].join('\n');

let server: BookServer;

beforeEach(async () => {
  server = await startBookServer();
});

afterEach(() => server.close());

test('an import keeps what another source said, and tells what it replaces', async () => {
  await importFile('librarything', LIBRARYTHING);
  const file = storygraphFile({ tags: 'sci-fi, sf', rating: '4.25', review: 'Still great.' });
  const { count } = await importFile('storygraph', file);
  assert.deepEqual(count['replacedMembers'], { 'reading.rating': 1, 'reading.review': 1 });
  const book = await readBook();
  assert.deepEqual(book.keywords, ['sf', 'gender', 'sci-fi']);
  assert.deepEqual(book.authors,
    [{ name: 'Ursula K. Le Guin', givenName: 'Ursula K.', familyName: 'Le Guin' }]);
  assert.equal(book.reading.review, 'Still great.');
  assert.deepEqual(book.metadata.source.librarything.members,
    { 'reading.rating': 4.5, 'reading.review': 'Great.' });
  const stored = await readBooks();
  for (const [format, again] of [['librarything', LIBRARYTHING], ['storygraph', file]] as const) {
    assert.equal((await importFile(format, again)).count['unchanged'], 1, format);
  }
  assert.equal(await readBooks(), stored);
});

test('a source that says something else has its new word, and its old one is forgotten',
  async () => {
    await importFile('librarything', LIBRARYTHING);
    await importFile('storygraph', storygraphFile({ review: 'Still great.' }));
    await importFile('librarything', LIBRARYTHING.replace('Great.', 'Mine.'));
    const { reading, metadata: { source } } = await readBook();
    assert.equal(reading.review, 'Mine.');
    assert.equal(source.librarything.members, undefined);
    assert.deepEqual(source.storygraph.members, { 'reading.review': 'Still great.' });
  });

test('a date that says less than that of the book changes nothing, unless the file is from here',
  async () => {
    const made = { title: 'A', datePublished: '2008-09-14', isbn: ISBN, reading: {
      startedOn: '2020-02-03', finishedOn: '2020-03-04',
    } };
    const { id } = JSON.parse((await server.ask('POST', '/api/books', JSON.stringify(made))).text);
    const vague = { ...made, datePublished: '2008', reading: {
      startedOn: '2020-02', finishedOn: '2020',
    } };
    for (const onMatch of ['update', 'fill']) {
      const { count } = await importFile(
        'jsonl', JSON.stringify(vague), `&onMatch=${onMatch}`);
      assert.equal(count['replacedMembers'], undefined);
      const { datePublished, reading } = JSON.parse(await readBooks())[0];
      assert.deepEqual([datePublished, reading], [made.datePublished, made.reading], onMatch);
    }
    const other = { ...vague, datePublished: '2009', reading: { finishedOn: '2020-03-05' } };
    await importFile('jsonl', JSON.stringify(other));
    assert.equal(JSON.parse(await readBooks())[0].datePublished, '2009');
    await importFile('jsonl', JSON.stringify({ ...other, id, reading: { finishedOn: '2020' } }),
      '&onMatch=update');
    assert.deepEqual(JSON.parse(await readBooks())[0].reading,
      { startedOn: '2020-02-03', finishedOn: '2020' });
  });

test('the keywords that a source alone has said are set as a whole', async () => {
  await importFile('storygraph', storygraphFile({ tags: 'one, two' }));
  await importFile('bookwyrm',
    `title,author_text,remote_id,isbn_13,rating\nA,Ursula K. Le Guin,https://b/1,${ISBN},4\n`);
  await importFile('storygraph', storygraphFile({ tags: 'two' }));
  assert.deepEqual((await readBook()).keywords, ['two']);
});

test('keywords that have no room beside those of another source are passed over', async () => {
  const tags = Array.from({ length: 99 }, (_, index) => `tag ${index}`);
  await importFile('librarything', LIBRARYTHING.replace('sf, gender', tags.join(', ')));
  await importFile('storygraph', storygraphFile({ tags: 'one, two' }));
  const { keywords, metadata: { source } } = await readBook();
  assert.deepEqual(keywords, tags);
  assert.deepEqual(source.storygraph.members, { keywords: ['one', 'two'] });
});

test('a book that one source says to be read, another does not make to-read', async () => {
  await importFile('storygraph', storygraphFile({ status: 'read', date: '2023/05/20' }));
  await importFile('bookwyrm', 'title,author_text,remote_id,isbn_13,shelf,shelf_name\n'
    + `A,Ursula K. Le Guin,https://b/1,${ISBN},to-read,To Read\n`);
  const { reading, metadata: { source } } = await readBook();
  assert.deepEqual([reading.status, reading.finishedOn], ['read', '2023-05-20']);
  assert.deepEqual(source.bookwyrm.members, { 'reading.status': 'to-read' });
  // It may take back its own word.
  await importFile('storygraph', storygraphFile({ status: 'to-read' }));
  assert.equal((await readBook()).reading.status, 'to-read');
});

test('the year of a work does not replace that of an edition, which replaces it', async () => {
  const work = 'Work ID,Title,Authors,First Publish Year,Bookshelf\nOL1W,A,X,1969,Already Read\n';
  const edition = 'Book Id,Title,Author,Year Published\n1,A,X,2000\n';
  for (const files of [[['goodreads', edition], ['openlibrary', work]],
    [['openlibrary', work], ['goodreads', edition]]] as const) {
    for (const [format, file] of [...files, ...files]) {
      await server.ask('POST', `/api/books/import?format=${format}&match=isbn,title`, file,
        { 'Content-Type': 'text/csv' });
    }
    const book = await readBook();
    assert.equal(book.datePublished, '2000');
    assert.deepEqual(book.metadata.source.openlibrary.members, { datePublished: '1969' });
    await server.ask('DELETE', `/api/books/${book.id}`);
  }
});

test('what a fill passes over stays beside the source that said it', async () => {
  await importFile('librarything', LIBRARYTHING);
  const file = storygraphFile({ tags: 'sci-fi', rating: '4.75', status: 'read' });
  await importFile('storygraph', file, '&onMatch=fill');
  const { keywords, reading, metadata: { source } } = await readBook();
  assert.deepEqual([keywords, reading.rating, reading.status],
    [['sf', 'gender', 'sci-fi'], 4.5, 'read']);
  assert.deepEqual(source.storygraph.members, { 'reading.rating': 4.75 });
  const { count } = await importFile('storygraph', file, '&onMatch=fill');
  assert.equal(count['unchanged'], 1);
});

test('keywords that differ in case alone are one, as the catalog spells it', async () => {
  await importFile('librarything', LIBRARYTHING.replace('sf, gender', 'humour, SF'));
  await importFile('storygraph', storygraphFile({ tags: 'Humour, Cats, cats' }));
  assert.deepEqual((await readBook()).keywords, ['humour', 'SF', 'Cats']);
  const { count } = await importFile('storygraph', storygraphFile({ tags: 'Humour, CATS' }));
  assert.deepEqual(count['replacedMembers'], undefined);
  assert.deepEqual((await readBook()).keywords, ['humour', 'SF', 'Cats']);
});

test('a file of our own without ids keeps what a program has said, as another program does',
  async () => {
    await importFile('librarything', LIBRARYTHING);
    const [stored] = JSON.parse(await readBooks());
    await server.edit(stored.id, { reading: { shelves: ['Favorites', 'mine'] } });
    const files = [
      ['csv', `title,authors,isbn,keywords,reading.shelves,reading.rating\n`
        + `A,Ursula K. Le Guin,${ISBN},SF; own,lent,4.5\n`],
      ['jsonl', JSON.stringify({
        title: 'A', authors: [{ name: 'Ursula K. Le Guin' }], isbn: ISBN,
        keywords: ['SF', 'own', 'third'], reading: { shelves: ['lent'] },
      })],
    ] as const;
    for (const [format, file] of files) await importFile(format, file);
    const { authors, keywords, reading } = await readBook();
    assert.deepEqual(authors, stored.authors);
    assert.deepEqual(keywords, ['sf', 'gender', 'own', 'third']);
    assert.deepEqual(reading.shelves, ['lent', 'mine']);
    for (const [format, file] of files) {
      const { count } = await importFile(format, file);
      assert.equal(count['unchanged'], 1, format);
    }
  });

test('a file of our own without ids sets the lists of a book that no program knows', async () => {
  await server.ask('POST', '/api/books', JSON.stringify(
    { title: 'A', isbn: ISBN, keywords: ['wrong'], reading: { shelves: ['old'], rating: 4 } }));
  const { count } = await importFile(
    'csv', `title,isbn,keywords,reading.shelves\nA,${ISBN},right,new\n`);
  assert.deepEqual(count['replacedMembers'], { 'keywords': 1, 'reading.shelves': 1 });
  const { keywords, reading } = await readBook();
  assert.deepEqual([keywords, reading], [['right'], { rating: 4, shelves: ['new'] }]);
});

test('a fill adds the keywords and shelves that the book has not', async () => {
  await server.ask('POST', '/api/books', JSON.stringify(
    { title: 'A', isbn: ISBN, keywords: ['mine'], reading: { shelves: ['lent'] } }));
  const file = `title,isbn,keywords,reading.shelves\nB,${ISBN},Mine; sf,gift; LENT\n`;
  for (const outcome of ['updated', 'unchanged']) {
    const { count } = await importFile('csv', file, '&onMatch=fill');
    assert.deepEqual([count[outcome], count['replacedMembers']], [1, undefined]);
    const { title, keywords, reading } = await readBook();
    assert.deepEqual([title, keywords, reading.shelves],
      ['A', ['mine', 'sf'], ['lent', 'gift']]);
  }
});

test('a date that contradicts the one of the book is kept beside, and told with its book',
  async () => {
    await importFile('librarything', withDates('2021-05-20', ''));
    const file = storygraphFile({ date: '2019/03/01' });
    const { count } = await importFile('storygraph', file);
    assert.deepEqual([count['updated'], count['leftOut'], count['putAside']],
      [1, {}, { 'reading.finishedOn': 1 }]);
    assert.deepEqual(count['firstPutAside'],
      { 'reading.finishedOn': { line: 2, record: 1, title: 'A' } });
    const { reading, metadata: { source } } = await readBook();
    assert.deepEqual([reading.startedOn, reading.finishedOn], ['2021-05-20', undefined]);
    assert.deepEqual(source.storygraph.members, { 'reading.finishedOn': '2019-03-01' });
    const stored = await readBooks();
    assert.equal((await importFile('storygraph', file)).count['unchanged'], 1);
    assert.equal(await readBooks(), stored);
  });

test('the dates of a book are those of its last reading, whichever program comes first',
  async () => {
    const earlier = ['librarything', withDates('2021-05-20', '2021-06-01')] as const;
    const later = ['storygraph', storygraphFile({ date: '2023/02/03' })] as const;
    for (const files of [[earlier, later], [later, earlier]]) {
      for (const [format, file] of [...files, ...files]) await importFile(format, file);
      const { id, reading, metadata: { source } } = await readBook();
      assert.deepEqual([reading.startedOn, reading.finishedOn], [undefined, '2023-02-03']);
      assert.deepEqual(source.librarything.members,
        { 'reading.startedOn': '2021-05-20', 'reading.finishedOn': '2021-06-01' });
      await server.ask('DELETE', `/api/books/${id}`);
    }
  });

test('a lower count of readings of another program does not replace a higher', async () => {
  const file = (count: number): string =>
    `Book Id,Title,Author,ISBN13,Read Count\n1,A,X,${ISBN},${count}\n`;
  await importFile('goodreads', file(3));
  await importFile('storygraph', `Title,Authors,ISBN/UID,Read Count\nA,X,${ISBN},2\n`);
  const { reading, metadata: { source } } = await readBook();
  assert.equal(reading.readCount, 3);
  assert.deepEqual(source.storygraph.members, { 'reading.readCount': 2 });
  await importFile('goodreads', file(1));
  assert.equal((await readBook()).reading.readCount, 1, 'its own word a source may change');
});

test('a start that somebody set here stays, and a source may correct its own dates', async () => {
  await importFile('librarything', withDates('', '2021-06-01'));
  const { id } = await readBook();
  await server.edit(id, { reading: { startedOn: '2021-05-20' } });
  await importFile('librarything', withDates('', '2021-05-30'));
  await importFile('librarything', withDates('', '2021-06-02'));
  const { reading } = await readBook();
  assert.deepEqual([reading.startedOn, reading.finishedOn], ['2021-05-20', '2021-06-02']);
});

test('a book that is read again is not read by what another program says of before', async () => {
  await importFile('librarything',
    withDates('2024-01-10', '').replace('Favorites', 'Currently reading'));
  await importFile('storygraph', storygraphFile({ status: 'read', date: '2021/06/01' }));
  const { reading, metadata: { source } } = await readBook();
  assert.deepEqual([reading.status, reading.startedOn], ['reading', '2024-01-10']);
  assert.deepEqual(source.storygraph.members,
    { 'reading.status': 'read', 'reading.finishedOn': '2021-06-01' });
});

test('a fill adds no date of another reading', async () => {
  await importFile('storygraph', storygraphFile({ date: '2023/02/03' }));
  await importFile('librarything', withDates('2021-05-20', '2021-06-01'), '&onMatch=fill');
  const { reading } = await readBook();
  assert.deepEqual([reading.startedOn, reading.finishedOn], [undefined, '2023-02-03']);
});

test('a fill gives a book that is not read yet no date on which it was finished', async () => {
  const { text } = await server.ask('POST', '/api/books',
    JSON.stringify({ title: 'A', isbn: ISBN, reading: { status: 'reading' } }));
  const file = storygraphFile({ status: 'read', date: '2023/05/20', rating: '4' });
  await importFile('storygraph', file, '&onMatch=fill');
  const { reading, metadata: { source } } = await readBook();
  assert.deepEqual(reading, { status: 'reading', rating: 4 });
  assert.deepEqual(source.storygraph.members,
    { 'reading.status': 'read', 'reading.finishedOn': '2023-05-20' });
  await server.edit(JSON.parse(text).id, { reading: { status: null } });
  await importFile('storygraph', file, '&onMatch=fill');
  assert.deepEqual((await readBook()).reading,
    { status: 'read', rating: 4, finishedOn: '2023-05-20' });
});

test('a value that has no room in the metadata stays, and the new one stands there', async () => {
  const review = 'r'.repeat(20_000);
  await importFile('librarything', LIBRARYTHING.replace('Great.', review));
  const file = storygraphFile({ review: 'Still great.', rating: '4.25' });
  for (const outcome of ['updated', 'unchanged']) {
    const { count } = await importFile('storygraph', file);
    assert.equal(count[outcome], 1, JSON.stringify(count));
    assert.deepEqual([count['leftOut'], count['keptMembers'], count['replacedMembers']],
      [{}, ...outcome === 'updated'
        ? [{ 'reading.review': 1 }, { 'reading.rating': 1 }] : [undefined, undefined]]);
    const book = await readBook();
    assert.deepEqual([book.reading.review, book.reading.rating], [review, 4.25]);
    assert.deepEqual(book.metadata.source.storygraph.members, { 'reading.review': 'Still great.' });
  }
  await importFile('librarything', LIBRARYTHING.replace('Great.', 'Short.'));
  assert.equal((await readBook()).reading.review, 'Short.', 'its own word a source may change');
});

test('of two values without room the new one is left out, and named', async () => {
  const { text } = await server.ask('POST', '/api/books',
    JSON.stringify({ title: 'A', isbn: ISBN, reading: { review: 'm'.repeat(20_000) } }));
  const { count } = await importFile('storygraph', storygraphFile({ review: 'r'.repeat(18_000) }));
  assert.deepEqual([count['leftOut'], count['keptMembers'], count['firstKept']], [
    { 'storygraph.reading.review': 1 }, { 'reading.review': 1 },
    { 'reading.review': { line: 2, record: 1, title: 'A' } },
  ]);
  assert.equal((await readBook()).reading.review, JSON.parse(text).reading.review);
});

test('dates that have no room stay together', async () => {
  const reading = { startedOn: '2020-01-01', finishedOn: '2020-02-02' };
  await server.ask('POST', '/api/books', JSON.stringify(
    { title: 'A', isbn: ISBN, reading, metadata: { full: 'x'.repeat(15_850) } }));
  const { count } = await importFile('storygraph', storygraphFile({ date: '2019/01/01' })
    .replace('Last Date Read', 'Dates Read').replace('2019/01/01', '2018/01/01-2018/02/02'));
  assert.equal(count['skipped'], 0);
  assert.deepEqual((await readBook()).reading, reading);
});

test('a name with the family first is the author that the book has', async () => {
  await importFile('librarything', LIBRARYTHING);
  const { authors } = await readBook();
  const file = 'title,authors,reading.owned\nA,"Le Guin, Ursula K.",WAHR\n';
  const { count } = await importFile('csv', file, '', 'title');
  assert.deepEqual([count['updated'], count['replacedMembers']], [1, undefined]);
  const book = await readBook();
  assert.deepEqual([book.authors, book.reading.owned], [authors, true]);
});

test('authors and series keep their letters too, whatever their place', async () => {
  const goodreads = (title: string, name: string, inverted: string, place: number): string =>
    `Book Id,Title,Author,Author l-f,ISBN13\n7,"${title}, #${place})",${name},"${inverted}",${
      ISBN}\n`;
  await importFile('goodreads', goodreads('森 (日本', '春樹 村上', '村上, 春樹', 1));
  const damaged = goodreads('? (??', '?? ??', '??, ??', 2);
  const librarything = `Book Id\tTitle\tPrimary Author\tISBN\n9\t?\t??, ??\t[${ISBN}]\n`;
  const csv = `title,authors,isbn\n?,Jay Rubin; ?? ??,${ISBN}\n`;
  for (const [format, file, names] of [
    ['goodreads', damaged, ['春樹 村上']], ['librarything', librarything, ['春樹 村上']],
    ['csv', csv, ['Jay Rubin', '春樹 村上']],
  ] as const) {
    const { count } = await importFile(format, file);
    assert.equal(count['lostLetters'], 1, format);
    const { title, authors, series } = await readBook();
    assert.deepEqual([title, authors, series],
      ['森', names.map((name) => ({ name })), [{ name: '日本', position: 2 }]], format);
  }
});

test('a book keeps its letters where a spreadsheet has made ? of them', async () => {
  const file = (title: string, author: string, tags: string, review = 'Dobrze?'): string =>
    `id,title,authors,isbn,keywords,reading.review,metadata.Półka\n,${title},${author},${ISBN},${
      tags},${review},Łódź?\n`;
  await importFile('csv', file('Głos Pana', 'Stanisław Lem', 'fantastyka; książki'));
  const stored = await readBooks();
  const [{ id }] = JSON.parse(stored);
  const damaged =
    file('G?os Pana', 'Stanis?aw Lem', 'ksi??ki; fantastyka').replace('Łódź?', '?ód??');
  for (const [text, query] of [
    [damaged, ''], [damaged, '&onMatch=fill'],
    [damaged.replace('\n,', `\n${id},`), '&onMatch=update'],
  ] as const) {
    const { count } = await importFile('csv', text, query);
    assert.deepEqual([count['lostLetters'], count['replacedMembers']], [1, undefined]);
    const [{ title, authors, keywords, metadata: { Półka: shelf } }] =
      JSON.parse(await readBooks());
    assert.deepEqual([title, authors[0].name, shelf], ['Głos Pana', 'Stanisław Lem', 'Łódź?']);
    assert.deepEqual([...keywords].sort(), ['fantastyka', 'książki']);
  }
  const { count } = await importFile('csv', damaged.replace('Dobrze?', 'Dobrze!'));
  assert.equal(count['lostLetters'], 1);
  const { title, reading } = await readBook();
  assert.deepEqual([title, reading.review], ['Głos Pana', 'Dobrze!']);
});

test('a subtitle stands once, whether programs have it in the title or beside it', async () => {
  const files = [
    ['bibtex', `@book{a, title={A}, subtitle={B}, isbn={${ISBN}}}`],
    ['ris', `TY  - BOOK\nID  - a\nTI  - A: B\nSN  - ${ISBN}\nER  - \n`],
    ['goodreads', `Book Id,Title,Author,ISBN13\n1,A: B,X,${ISBN}\n`],
    ['librarything', LIBRARYTHING.replace('1\tA\t', '1\tA : B\t')],
  ] as const;
  for (const [firstFormat, firstFile] of files) {
    await importFile(firstFormat, firstFile);
    const { id, title, subtitle } = await readBook();
    for (const query of ['', '&onMatch=fill', '']) {
      for (const [format, file] of files) {
        const { count } = await importFile(format, file, query);
        assert.equal(Object(count['replacedMembers']).title, undefined, format);
        const book = await readBook();
        const told = `${firstFormat} ${format}`;
        assert.deepEqual([book.title, book.subtitle], [title, subtitle], told);
      }
    }
    await server.ask('DELETE', `/api/books/${id}`);
  }
});

test('a series without a place in it leaves the place that the book has', async () => {
  const series = [{ name: 'Dune Chronicles', position: 2 }];
  for (const [said, expected] of [
    [[{ name: 'dune chronicles' }], series],
    [[{ name: 'Dune Chronicles', position: 3 }], [{ name: 'Dune Chronicles', position: 3 }]],
    [[{ name: 'Dune Chronicles' }, { name: 'Other' }], [...series, { name: 'Other' }]],
  ]) {
    const { text } = await server.ask('POST', '/api/books',
      JSON.stringify({ title: 'A', isbn: ISBN, series }));
    await importFile('jsonl', JSON.stringify({ title: 'A', isbn: ISBN, series: said }));
    assert.deepEqual((await readBook()).series, expected);
    await server.ask('DELETE', `/api/books/${JSON.parse(text).id}`);
  }
});

test('what was set here and an import replaces is kept beside the sources', async () => {
  const reading = { review: 'Mine.', rating: 2, shelves: ['mine'] };
  const { text } = await server.ask('POST', '/api/books',
    JSON.stringify({ title: 'B', isbn: ISBN, keywords: ['own'], reading }));
  const { id } = JSON.parse(text);
  const { count } = await importFile('librarything', LIBRARYTHING);
  assert.deepEqual(count['replacedMembers'], {
    'title': 1, 'keywords': 1, 'reading.rating': 1, 'reading.review': 1, 'reading.shelves': 1,
  });
  const book = await readBook();
  assert.deepEqual(book.reading.shelves, ['Favorites']);
  assert.deepEqual(book.metadata.source.here.members, {
    'title': 'B', 'keywords': ['own'],
    'reading.rating': 2, 'reading.review': 'Mine.', 'reading.shelves': ['mine'],
  });
  const stored = await readBooks();
  assert.equal((await importFile('librarything', LIBRARYTHING)).count['unchanged'], 1);
  assert.equal(await readBooks(), stored);
  await server.edit(id, { reading: { review: 'Edited.' } });
  await importFile('storygraph', storygraphFile({ review: 'Still great.' }));
  const { here, librarything } = (await readBook()).metadata.source;
  assert.equal(here.members['reading.review'], 'Edited.');
  assert.equal(librarything.members?.['reading.review'], undefined);
});

test('a column of a table of our own that was edited here is kept beside, or stays', async () => {
  const files = {
    csv: (shelf: string, note: string) =>
      `title,isbn,metadata.Shelf,metadata.Note\nA,${ISBN},${shelf},${note}\n`,
    json: (shelf: string, note: string) =>
      JSON.stringify([{ title: 'A', isbn: ISBN, metadata: { Shelf: shelf, Note: note } }]),
  };
  for (const [format, createFile] of Object.entries(files)) {
    const { text } = await server.ask('POST', '/api/books',
      JSON.stringify({ title: 'A', isbn: ISBN, metadata: { Shelf: 'cellar', Own: 'x' } }));
    const { id } = JSON.parse(text);
    const importAgain = async (shelf: string, note: string) => {
      const { count } = await importFile(format, createFile(shelf, note));
      const { source, 'x-hookshelf': _, ...metadata } = (await readBook()).metadata;
      return { count, metadata, here: source.here.members };
    };
    const first = await importAgain('one', 'n');
    assert.deepEqual(first.count['replacedMembers'], { 'metadata.Shelf': 1 }, format);
    assert.deepEqual(first.metadata, { Shelf: 'one', Own: 'x', Note: 'n' });
    assert.deepEqual(first.here, { 'metadata.Shelf': 'cellar' });
    await server.edit(id, { metadata: { Shelf: 'attic' } });
    assert.equal((await importAgain('one', 'n')).count['unchanged'], 1);
    const second = await importAgain('one', 'm');
    assert.equal(second.count['replacedMembers'], undefined);
    assert.deepEqual(second.metadata, { Shelf: 'attic', Own: 'x', Note: 'm' });
    const third = await importAgain('two', 'm');
    assert.deepEqual(third.count['replacedMembers'], { 'metadata.Shelf': 1 });
    assert.deepEqual(third.metadata, { Shelf: 'two', Own: 'x', Note: 'm' });
    assert.deepEqual(third.here, { 'metadata.Shelf': 'attic' });
    await server.ask('DELETE', `/api/books/${id}`);
  }
});

test('a file with the ids of the books sets the columns that were edited here', async () => {
  const record = { title: 'A', isbn: ISBN, metadata: { Shelf: 'one', Note: 'n' } };
  await importFile('json', JSON.stringify([record]));
  const { id } = await readBook();
  await server.edit(id, { metadata: { Shelf: 'attic' } });
  await importFile('json', JSON.stringify([{ ...record, id, metadata: { Shelf: 'one' } }]));
  const { metadata } = await readBook();
  assert.deepEqual([metadata.Shelf, metadata.Note, metadata.source], ['one', 'n', undefined]);
});

test('columns of our own without room beside stay, and the new ones stand there', async () => {
  const own = { Shelf: 'x'.repeat(9_000), Note: 'y'.repeat(6_000) };
  await server.ask('POST', '/api/books',
    JSON.stringify({ title: 'A', isbn: ISBN, metadata: own }));
  const file = `title,isbn,metadata.Shelf,metadata.Note\nA,${ISBN},s,${'z'.repeat(7_000)}\n`;
  const { count } = await importFile('csv', file);
  assert.deepEqual(count['keptMembers'], { 'metadata.Shelf': 1 });
  assert.deepEqual(count['leftOut'], { 'csv.metadata.Note': 1 });
  const { source, 'x-hookshelf': _, ...metadata } = (await readBook()).metadata;
  assert.deepEqual(metadata, own);
  assert.deepEqual(source.csv.members, { 'metadata.Shelf': 's' });
  const stored = await readBooks();
  assert.equal((await importFile('csv', file)).count['unchanged'], 1);
  assert.equal(await readBooks(), stored);
});

test('a title that stands in for a missing one is not kept', async () => {
  await importFile('isbn', ISBN);
  const { count } = await importFile('librarything', LIBRARYTHING);
  assert.equal(count['replacedMembers'], undefined);
  assert.equal((await readBook()).metadata.source.here, undefined);
});

test('keywords and shelves that were added here stay when a source changes its own', async () => {
  const createFile = (tags: string, shelves: string): string => LIBRARYTHING
    .replace('sf, gender', tags).replace('Favorites', shelves);
  await importFile('librarything', createFile('sf, gender', 'ya, 2012'));
  const [{ id }] = JSON.parse(await readBooks());
  await server.edit(id, {
    keywords: ['sf', 'gender', 'MINE'], reading: { shelves: ['ya', '2012', 'mine'] },
  });
  const { count } = await importFile('librarything', createFile('sf, new', 'ya, favorites'));
  const { keywords, reading, metadata } = await readBook();
  assert.deepEqual(keywords, ['sf', 'new', 'MINE']);
  assert.deepEqual(reading.shelves, ['ya', 'favorites', 'mine']);
  assert.equal(count['replacedMembers'], undefined);
  assert.equal(metadata.source.here, undefined);
  await importFile('librarything', createFile('sf', 'ya, Mine'));
  assert.deepEqual((await readBook()).keywords, ['sf', 'MINE']);
  assert.deepEqual((await readBook()).reading.shelves, ['ya', 'Mine']);
  // A list that was changed otherwise is the source's again, and is kept.
  await server.edit(id, { keywords: ['MINE'] });
  await importFile('librarything', createFile('new', 'ya'));
  assert.deepEqual((await readBook()).keywords, ['new']);
  assert.deepEqual((await readBook()).metadata.source.here.members.keywords, ['MINE']);
});

test('shelves that were inserted here among those of a source stay, too', async () => {
  const createFile = (shelves: string): string => LIBRARYTHING.replace('Favorites', shelves);
  await importFile('librarything', createFile('ya, 2012'));
  const { id } = await readBook();
  for (const [inserted, added] of [
    [['mine', 'ya', '2012'], ['mine']], [['ya', 'mine', '2012'], ['mine']],
    [['ya', 'a', 'b', 'c', '2012'], ['a', 'b', 'c']],
  ] as const) {
    await importFile('librarything', createFile('ya, 2012'));
    await server.edit(id, { reading: { shelves: inserted } });
    const { count } = await importFile('librarything', createFile('ya, new'));
    assert.deepEqual([(await readBook()).reading.shelves, count['replacedMembers']],
      [['ya', 'new', ...added], undefined]);
    await server.edit(id, { reading: { shelves: ['ya', 'new'] } });
  }
});

test('a longer field of a record makes room for what another source said', async () => {
  await importFile('librarything', LIBRARYTHING.replace('Great.', 'r'.repeat(7500)));
  const html = `<div>${'<em>a</em> '.repeat(1100)}</div>`;
  const file = storygraphFile({ review: html });
  for (const outcome of ['updated', 'unchanged']) {
    const { count } = await importFile('storygraph', file);
    assert.deepEqual([count[outcome], count['leftOut']], [1, { Review: 1 }]);
  }
  const { reading, metadata: { source } } = await readBook();
  assert.equal(reading.review.length, 2199);
  assert.equal(source.librarything.members['reading.review'].length, 7500);
  assert.deepEqual(source.storygraph, { 'ISBN/UID': ISBN });
});

test('exports do not write what a source says otherwise than the book', async () => {
  await importFile('bibtex', `@book{a, title={A}, keywords={one}, isbn={${ISBN}}, publisher={P}}`);
  await importFile('librarything', `${LIBRARYTHING.split('\n')[0]}\tPublication\n`
    + `1\tA\t\t\t\t\t\t[${ISBN}]\tQ (1990)\n`);
  assert.deepEqual((await readBook()).metadata.source.bibtex.members, { publisher: 'P' });
  const file = (await server.ask('GET', '/api/books?format=bibtex')).text;
  assert.doesNotMatch(file, /members/);
  const { count } = await importFile('bibtex', file);
  assert.equal(count['unchanged'], 1, JSON.stringify(count));
});

test('an export of ours comes back unchanged in the format that a book came from', async () => {
  const book = {
    '@type': 'Book', '@id': 'https://example.org/1', 'name': 'A', 'author': 'Ursula K. Le Guin',
    'isbn': ISBN, 'offers': { price: '9.99' },
    'review': { reviewRating: { ratingValue: '9', bestRating: '10' } },
  };
  await importFile('librarything', LIBRARYTHING);
  await importFile('jsonld', JSON.stringify(book));
  const stored = await readBooks();
  const file = (await server.ask('GET', '/api/books?format=jsonld')).text;
  const { count } = await importFile('jsonld', file);
  assert.deepEqual([count['updated'], count['unchanged']], [0, 1]);
  assert.equal(await readBooks(), stored);
});

/** The file with the dates between which the book was read. */
function withDates(startedOn: string, finishedOn: string): string {
  const [columns = '', row = ''] = LIBRARYTHING.split('\n');
  return `${columns}\tDate Started\tDate Read\n${row}\t${startedOn}\t${finishedOn}\n`;
}

type StorygraphBook = {
  readonly tags?: string; readonly rating?: string; readonly review?: string;
  readonly status?: string; readonly date?: string;
};

function storygraphFile(
  { tags = '', rating = '', review = '', status = '', date = '' }: StorygraphBook,
): string {
  return 'Title,Authors,ISBN/UID,Tags,Star Rating,Review,Read Status,Last Date Read\n'
    + `A,Ursula K. Le Guin,${ISBN},"${tags}",${rating},${review},${status},${date}\n`;
}

async function importFile(
  format: string, file: string, query = '', match = 'isbn',
): Promise<{ readonly count: Line }> {
  const { status, text } = await server.ask('POST',
    `/api/books/import?format=${format}&match=${match}${query}`, file,
    { 'Content-Type': 'text/csv' });
  assert.equal(status, 200, text);
  return { count: JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') };
}

async function readBooks(): Promise<string> {
  return (await server.ask('GET', '/api/books')).text;
}

async function readBook() {
  return JSON.parse(await readBooks())[0];
}
