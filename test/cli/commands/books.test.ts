import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { FORMATS, WRITTEN_FORMATS } from '../../../src/books/transfer/format-list.ts';
import { BOOK_FILE_FORMATS } from '../../books/transfer/book-file-formats.ts';
import { ALONE, WAYS, inPlace } from '../place.ts';
import type { Place, Way } from '../place.ts';

const EMMA = { title: 'Emma', authors: [{ name: 'Jane Austen' }], isbn: '9780141439587' };

async function addBook(place: Place, book: object): Promise<string> {
  return String((await place.json(['book:add', '--input', JSON.stringify(book)]))['id']);
}

const READING = {
  json: 'hookshelf: reading JSON\n', jsonl: 'hookshelf: reading JSON Lines\n',
  csv: 'hookshelf: reading CSV\n',
};

test('import and export take every format of books', () => {
  for (const [name, formats] of [
    ['book:import', FORMATS], ['book:export', WRITTEN_FORMATS],
  ] as const) {
    const command = COMMANDS.find((spec) => spec.name === name);
    assert.deepEqual(command?.options['format']?.values, formats.map((format) => format.name));
  }
});

test('an export takes the filters of a list', () => inPlace(ALONE, async (place) => {
  for (const [title, keywords] of [['Emma', ['love']], ['Dune', ['space', 'war']]]) {
    await place.json(['book:add', '--input', JSON.stringify({ title, keywords })]);
  }
  const titles = async (...words: string[]): Promise<string[]> => {
    const { stdout, stderr } = await place.run(['book:export', '--format', 'jsonl', ...words]);
    assert.equal(stderr, '');
    return [...stdout.matchAll(/"title":"(\w+)"/g)].map(([, title = '']) => title);
  };
  assert.deepEqual((await titles()).sort(), ['Dune', 'Emma']);
  assert.deepEqual(await titles('--keyword', 'war'), ['Dune']);
  assert.deepEqual(await titles('--q', 'emma'), ['Emma']);
  assert.deepEqual(await titles('--q', 'emna'), []);
}));

test('metadata keeps the text of numbers', () => inPlace('through a server', async (place) => {
  const metadata = '"metadata":{"id":820982911946154508,"price":10.00}';
  const added = await place.run(['book:add', '--json', '--input',
    `{"title":"Emma","authors":[{"name":"Jane Austen"}],${metadata}}`]);
  assert.equal(added.code, 0, added.stderr);
  const [, id = ''] = /"id": *"([^"]+)"/.exec(added.stdout) ?? [];
  await place.run(['book:update', '--id', id, '--input', '{"metadata":{"size":1.0}}']);
  const expected = ['"id":820982911946154508', '"price":10.00', '"size":1.0'];
  for (const words of [['book:show', '--id', id, '--json'], ['book:export', '--format', 'jsonl']]) {
    const { stdout } = await place.run(words);
    for (const part of expected) assert.ok(stdout.replaceAll(' ', '').includes(part), stdout);
  }
  const csv = await place.run(['book:export', '--format', 'csv']);
  assert.ok(csv.stdout.includes('820982911946154508'), csv.stdout);
  await place.run(['book:delete', '--id', id]);
  const again = await place.run(['book:import', '--format', 'csv', '--file', '-'],
    { input: csv.stdout });
  const { stdout } = await place.run(['book:list', '--json']);
  assert.equal(stdout.split('820982911946154508').length, 2, again.stderr + stdout);
}));

test('an export is written in every format, by its name', () => inPlace(ALONE, async (place) => {
  await addBook(place, EMMA);
  for (const { name } of WRITTEN_FORMATS) {
    const { code, stdout } = await place.run(['book:export', '--format', name]);
    assert.equal(code, 0, name);
    assert.ok(stdout.includes(EMMA.isbn), `${name}: ${stdout}`);
  }
}));

test('an export has the order that is asked for, and begins once nothing is refused', () =>
  inPlace(ALONE, async (place) => {
    for (const [title, rating] of [['B', 4.5], ['A', 3], ['C', 5]] as const) {
      const authors = [{ name: 'X Y', familyName: 'Y', givenName: 'X' }];
      await addBook(place, { title, authors, reading: { rating, status: 'read' } });
    }
    const words = ['book:export', '--format', 'csv', '--rating-from', '4', '--sort=-rating'];
    const titles = (await place.run(words)).stdout.trim().split('\n').slice(1)
      .map((row) => row.split(',')[3]);
    assert.deepEqual(titles, ['C', 'B']);
    const keys = (text: string): readonly string[] =>
      [...text.matchAll(/^@book\{(.*),$/gm)].map(([, key = '']) => key);
    const bibtex = ['book:export', '--format', 'bibtex'];
    assert.deepEqual(keys((await place.run(bibtex)).stdout), ['Y', 'Ya', 'Yb']);
    assert.deepEqual(keys((await place.run([...bibtex, '--sort', 'title'])).stdout),
      ['Ya', 'Y', 'Yb']);
    for (const wrong of [['--sort', 'raiting'], ['--in', 'review']]) {
      const refused = await place.run(['book:export', '--format', 'csv', ...wrong]);
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, /did you mean `rating`|give `q` some words/);
    }
  }));

for (const way of WAYS) {
  test(`a book is added, shown, changed, listed and deleted, ${way}`, () =>
    inPlace(way, async (place) => {
      const id = await addBook(place, EMMA);
      const shown = await place.json(['book:show', '--id', id]);
      assert.deepEqual([shown['id'], shown['title'], shown['isbn']], [id, EMMA.title, EMMA.isbn]);
      const patch = '{"title":"Emma, again","isbn":null}';
      const changed = await place.run(
        ['book:update', '--identifier', id, '--input', '-'], { input: patch });
      assert.match(changed.stdout, new RegExp(`updated book ${id}: Emma, again`));
      const books = await place.json<Record<string, unknown>[]>(['book:list']);
      assert.deepEqual(books.map((book) => [book['title'], 'isbn' in book]),
        [['Emma, again', false]]);
      const table = (await place.run(['book:list'])).stdout;
      assert.match(table, /^ID +TITLE +AUTHORS +PUBLISHED +ISBN\n\S+ +Emma, again +Jane Austen +-/);
      assert.equal((await place.run(['book:delete', '--id', id])).stdout, `deleted book ${id}\n`);
      assert.deepEqual(await place.json(['book:list']), []);
      assert.equal((await place.run(['book:list'])).stdout, 'no books\n');
    }));

  test(`a book takes in another, with the members that are named, ${way}`, () =>
    inPlace(way, async (place) => {
      const id = await addBook(
        place, { ...EMMA, keywords: ['a'], reading: { rating: 3, status: 'read' } });
      const from = await addBook(place, { ...EMMA, title: 'Emma!', publisher: 'Folio',
        reading: { rating: 5 } });
      const wrong = await place.run(['book:merge', id, '--from', from, '--members', 'titel,id']);
      assert.equal(wrong.code, 1);
      assert.match(wrong.stderr, /\/members\/0: .*"titel": did you mean `title`\?.*\/members\/1: /);
      const merged = await place.run(
        ['book:merge', id, '--from', from.slice(-12), '--members', 'title,reading.rating']);
      assert.equal(merged.stdout, `merged book ${from} into ${id}: Emma!\n`);
      assert.equal(merged.stderr, 'hookshelf: gone with the other book: publisher "Folio"; --fill '
        + 'would keep it\n'
        + `hookshelf: ${formatWayBack(way, from)}\n`);
      const book = await place.json(['book:show', id]);
      assert.deepEqual([book['title'], book['reading'], book['mergedIds']],
        ['Emma!', { status: 'read', rating: 5 }, [from]]);
      const third = await addBook(place, { ...EMMA, title: 'E', publisher: 'Folio',
        keywords: ['b'], reading: { rating: 1, shelves: ['own'], review: 'Good.' } });
      const filled = await place.run(
        ['book:merge', id, '--from', third, '--fill', '--members', 'reading.rating']);
      assert.match(filled.stderr,
        /from the other book: reading\.rating, publisher, reading\.shelves, reading\.review; /);
      assert.match(filled.stderr, /; from both: keywords\n/);
      assert.ok(filled.stderr.includes(
        `\nhookshelf: kept in metadata.source.${third}.members: title\n`), filled.stderr);
      assert.match(filled.stderr, /: kept in metadata\.source\.here\.members: reading\.rating\n/);
      const both = await place.json(['book:show', id]);
      assert.deepEqual([both['title'], both['publisher'], both['keywords'], both['reading']], [
        'Emma!', 'Folio', ['a', 'b'],
        { status: 'read', rating: 1, shelves: ['own'], review: 'Good.' },
      ]);
      await place.json(['book:update', '--id', id, '--input',
        '{"reading":{"startedOn":"2019-05-06"}}']);
      const early = await addBook(place, { ...EMMA, title: 'E',
        reading: { finishedOn: '2016-01-01', owned: true } });
      const { stderr } = await place.run(['book:merge', id, '--from', early, '--fill']);
      assert.match(stderr, /^hookshelf: from the other book: reading\.owned\n/);
      assert.match(stderr, /members: title, reading\.finishedOn\nhookshelf: .*merge.*\n$/);
      const open = await addBook(place, { ...EMMA,
        reading: { status: 'reading', startedOn: '2020-02' } });
      const read = await addBook(place, { ...EMMA,
        reading: { status: 'read', finishedOn: '2020-03' } });
      const ended = await place.run(['book:merge', open, '--from', read, '--fill']);
      assert.match(ended.stderr, /^hookshelf: from .*: reading\.status, reading\.finishedOn\n/);
      assert.deepEqual((await place.json(['book:show', open]))['reading'],
        { status: 'read', startedOn: '2020-02', finishedOn: '2020-03' });
      const back = await place.run(['book:restore', read]);
      if (way !== ALONE) {
        assert.equal(back.stdout, `book ${read} is back\n`);
        assert.deepEqual((await place.json(['book:show', open]))['reading'],
          { status: 'reading', startedOn: '2020-02' });
      }
      const gone = await place.run(['book:merge', id, '--from', from]);
      assert.deepEqual([gone.code, gone.stdout], [1, '']);
      assert.match(gone.stderr, /^hookshelf: there is no book "/);
    }));

  test(`a merge says of each value of the other book where it is, ${way}`, () =>
    inPlace(way, async (place) => {
      const source = (bookId: string): object => ({ goodreads: { 'Book Id': bookId } });
      const id = await addBook(
        place, { title: 'Emma', metadata: { text: 'x'.repeat(15_000), source: source('1') } });
      const from = await addBook(place, {
        title: 'Emma', subtitle: 'S', reading: { review: 'y'.repeat(900) },
        metadata: { 'Lent to': 'Anna', 'text': 'z'.repeat(900), 'source': source('2') },
      });
      const { stderr } = await place.run(['book:merge', id, '--from', from, '--fill']);
      assert.deepEqual(stderr.split('\n'), [
        'hookshelf: from the other book: subtitle, reading.review; from both: metadata',
        `hookshelf: kept in metadata.source.${from}.members: metadata.source.goodreads.Book Id`,
        `hookshelf: gone, as the metadata have no room for it: metadata.text "${'z'.repeat(900)}"`,
        'hookshelf: imports leave records of goodreads:2 alone from now on; to hear them, undo '
          + 'this, delete the other book, and import with --match isbn',
        `hookshelf: ${formatWayBack(way, from)}`, '',
      ]);
      const same = await addBook(place, { title: 'Emma' });
      assert.match((await place.run(['book:merge', id, '--from', same, '--fill'])).stderr,
        /^hookshelf: the other book had nothing that this one lacks\nhookshelf: .*merge/);
    }));

  test(`a refusal is one line that says why, ${way}`, () => inPlace(way, async (place) => {
    const unknown = await place.run(['book:show', '--id', '01980000-0000-7000-8000-000000000001']);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /^hookshelf: .*01980000-0000-7000-8000-000000000001[^\n]*\n$/);
    const wrong = await place.run(['book:add', '--input', '{"title":" ","isbn":"123","titel":1}']);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /^hookshelf: [^\n]*\/titel: .*did you mean `title`/);
    assert.match(wrong.stderr, /\/title: must not be blank.*\/isbn: /);
    for (const words of [['book:update', '--input', '{}'], ['book:delete']]) {
      assert.equal((await place.run([...words, '--id', 'nope'])).code, 1);
    }
    assert.equal((await place.run(['book:list', '--sort', 'colour'])).code, 1);
    assert.equal((await place.run(['book:update', '--id', 'x', '--input', '[]'])).code, 1);
  }));

  test(`a list is filtered, sorted and cut, ${way}`, () => inPlace(way, async (place) => {
    for (const title of ['Persuasion', 'Emma', 'Sanditon']) {
      await addBook(place, { ...EMMA, title });
    }
    await addBook(place, { title: '紅樓夢', authors: [{ name: '曹雪芹' }] });
    const titles = async (...words: string[]): Promise<string[]> => {
      const books = await place.json<{ title: string }[]>(['book:list', ...words]);
      return books.map(({ title }) => title);
    };
    assert.deepEqual(await titles('--q', 'austen', '--sort', 'title'),
      ['Emma', 'Persuasion', 'Sanditon']);
    assert.deepEqual(await titles('--q', 'austen', '--sort=-title', '--limit', '2'),
      ['Sanditon', 'Persuasion']);
    assert.deepEqual(await titles('--author', '曹雪芹'), ['紅樓夢']);
    assert.deepEqual(await titles('--isbn', '978-0-14-143958-7', '--limit', '1'), ['Persuasion']);
    assert.deepEqual(await titles('--author', '曹雪芹', '--author', 'bront'), ['紅樓夢']);
    assert.deepEqual(await titles('--has-isbn', 'false'), ['紅樓夢']);
    await addBook(place, {
      title: 'Poems', publisher: 'Aylott and Jones', bookFormat: 'Hardcover', keywords: ['poetry'],
    });
    assert.deepEqual(await titles('--publisher', 'jones', '--publisher', 'ace'), ['Poems']);
    assert.deepEqual(await titles('--book-format', 'EBook', '--book-format', 'Hardcover'),
      ['Poems']);
    assert.deepEqual(
      await titles('--keyword-not', 'poetry', '--keyword-not', 'x', '--sort=-author,-title'),
      ['紅樓夢', 'Sanditon', 'Persuasion', 'Emma']);
    const { stdout } = await place.run(
      ['book:list', '--keyword', 'poetry', '--fields', 'bookFormat,publisher,title']);
    assert.match(stdout,
      /^ID +TITLE +PUBLISHER +BOOK FORMAT\n\S+ +Poems +Aylott and Jones +Hardcover/);
    const [poems] = await place.json<object[]>(['book:list', '--q', 'poems', '--fields', 'title']);
    assert.deepEqual(Object.keys(poems ?? {}), ['id', 'title']);
    const corrected = await place.run(['book:list', '--q', 'peoms', '--fields', 'title']);
    assert.match(corrected.stdout, /Poems/i);
    assert.match(corrected.stderr, /searched for "poems" instead of "peoms"; --typos off/);
    const named = await place.run(['book:list', '--author', 'austin', '--fields', 'title']);
    assert.match(named.stdout, /Emma/);
    assert.match(named.stderr, /searched for "austen" instead of "austin"; --typos off/);
    const verbatim = await place.run(['book:list', '--q', 'peoms', '--typos', 'off']);
    assert.deepEqual([verbatim.stdout, verbatim.stderr], ['no books\n', '']);
    assert.equal((await place.run(['book:list', '--has-isbn', 'perhaps'])).code, 2);
    assert.match((await place.run(['book:list', '--fields', 'titel'])).stderr, /mean `title`/);
  }));

  test(`a list is explained in place of its books, ${way}`, () => inPlace(way, async (place) => {
    await addBook(place, EMMA);
    const explained = await place.json(['book:list', '--explain', '--q', 'emmma', '--limit', '5']);
    assert.deepEqual(explained, {
      plan: 'order-walk',
      reason: '1 of 1 match: to walk in order of id costs 1 looks, to sort them 100',
      total: 1, ms: explained['ms'],
    });
    const { stdout, stderr } = await place.run(['book:list', '--explain', '--q', 'emmma']);
    assert.match(stdout,
      /^plan    order-walk\nreason  1 of 1 match: .*\ntotal   1\nms      \d/);
    assert.match(stderr, /searched for "emma" instead of "emmma"/);
  }));

  test(`books are found, counted and listed by what they are to their reader, ${way}`, () =>
    inPlace(way, async (place) => {
      const reading = { status: 'read', rating: 4.5, finishedOn: '2024-05', owned: true };
      const input = { title: 'Dune', numberOfPages: 412, reading, series: [{ name: 'Dune' }] };
      await addBook(place, input);
      const found = ['--status', 'read', '--rating-from', '4', '--finished-to', '2024',
        '--owned', 'true', '--series', 'dune'];
      const listed = await place.run(['book:list', ...found, '--sort=-rating']);
      assert.match(listed.stdout, /^ID.*\n.*Dune.*\n$/);
      assert.deepEqual(await place.json(['book:facets', '--by', 'finishedYear', ...found]),
        { total: 1, facets: { finishedYear: [{ value: '2024', count: 1 }] } });
      assert.match((await place.run(['book:statistics', '--by', 'month', ...found])).stdout,
        /^VALUE +BOOKS +PAGES +MEAN RATING\n2024-05 +1 +412 +4\.5\n$/);
      assert.equal((await place.run(['book:statistics', '--by', 'weeks'])).code, 2);
    }));

  test(`facets count what the filters let through, ${way}`, () =>
    inPlace(way, async (place) => {
      await addBook(place, { ...EMMA, datePublished: '1815', keywords: ['classic'] });
      await addBook(place, { title: 'Jane Eyre', datePublished: '1847', keywords: ['Classic'] });
      assert.deepEqual(await place.json(['book:facets', '--by', 'decade', '--q', 'emma']),
        { total: 1, facets: { decade: [{ value: '1810', count: 1 }] } });
      assert.equal((await place.run(['book:facets', '--by', 'author,keyword'])).stdout,
        'FACET    VALUE        COUNT\nauthor   Jane Austen  1\nkeyword  Classic      2\n');
      assert.equal((await place.run(['book:facets', '--q', 'none'])).stdout, 'no books\n');
      const corrected = await place.run(['book:facets', '--by', 'decade', '--q', 'emmma']);
      assert.match(corrected.stdout, /1810/);
      assert.match(corrected.stderr, /searched for "emma" instead of "emmma"; --typos off/);
      const verbatim = await place.run(['book:facets', '--q', 'emmma', '--typos', 'off']);
      assert.deepEqual([verbatim.stdout, verbatim.stderr], ['no books\n', '']);
      const wrong = await place.run(['book:facets', '--by', 'authors']);
      assert.deepEqual([wrong.code, /did you mean `author`/.test(wrong.stderr)], [2, true]);
    }));

  test(`duplicates are listed in groups, ${way}`, () =>
    inPlace(way, async (place) => {
      const list = async (by: string): Promise<string> =>
        (await place.run(['book:duplicates', '--by', by])).stdout;
      const first = await addBook(place, { ...EMMA, bookEdition: '1' });
      assert.equal(await list('isbn'), 'no duplicates\n');
      assert.deepEqual(await place.json(['book:duplicates', '--by', 'isbn']), []);
      const second = await addBook(place, { ...EMMA, title: 'EMMA' });
      await addBook(place, { ...EMMA, bookEdition: '2' });
      const groups = await place.json<{ books: { id: string }[] }[]>(
        ['book:duplicates', '--by', 'title']);
      assert.deepEqual(groups.map(({ books }) => books.map(({ id }) => id)), [[first, second]]);
      assert.match(await list('isbn'), new RegExp('^GROUP +ID +TITLE +AUTHORS +ISBN +UPDATED\\n'
        + `1 +${first} .*\\n1 +${second} .*\\n$`));
      assert.equal((await place.run(['book:duplicates', '--by', 'author'])).code, 2);
    }));

  test(`an import gives back what was exported, in every format, ${way}`, () =>
    inPlace(way, async (place) => {
      const id = await addBook(place, { ...EMMA, metadata: { shelf: [1, { row: 'a;b "c"\n' }] } });
      const title = '"quoted", and; so\non';
      await addBook(place, { title, authors: [{ name: 'A' }, { name: 'B' }] });
      const before = (await place.run(['book:list', '--json'])).stdout;
      for (const format of BOOK_FILE_FORMATS) {
        const file = join(place.folder, `books.${format}`);
        const words = ['book:import', '--file', file];
        const exported = await place.run(['book:export', '--file', file]);
        assert.deepEqual([exported.code, exported.stdout], [0, `exported 2 books to ${file}\n`]);
        const text = readFileSync(file, 'utf8');
        assert.equal((await place.run(['book:export', '--format', format])).stdout, text);
        await inPlace(ALONE, async (other) => {
          const imported = await other.run(words);
          assert.deepEqual([imported.code, imported.stdout, imported.stderr],
            [0, 'imported 2, updated 0, unchanged 0, skipped 0\n', READING[format]]);
          assert.equal((await other.run(['book:list', '--json'])).stdout, before);
          for (const options of [['--dry-run'], []]) {
            const again = await other.run([...words, ...options]);
            assert.deepEqual([again.code, again.stderr], [0, READING[format]]);
            assert.match(again.stdout, /imported 0, updated 0, unchanged 2, skipped 0/);
          }
          await other.json(['book:update', id, '--input', '{"numberOfPages":1}']);
          const later = await other.run(words);
          assert.deepEqual([later.code, later.stdout],
            [1, 'imported 0, updated 0, unchanged 1, skipped 1\n']);
          assert.match(later.stderr, new RegExp(`: a book with this id exists \\(.*${id}\\)\n`
            + 'hookshelf: --on-match update sets what the file says of .*, --replace .*\n$'));
        });
      }
      assert.ok(before.includes(id));
    }));

  test(`an import reports bad records with their lines and goes on, ${way}`, () =>
    inPlace(way, async (place) => {
      const id = await addBook(place, EMMA);
      const file = join(place.folder, 'some.jsonl');
      const lines = ['{"title":"One"}', '{"title":', '', '{"title":"","isbn":"1"}',
        JSON.stringify({ id, title: 'Taken' }), '{"title":"Two"}'];
      writeFileSync(file, lines.join('\n'));
      const dry = await place.run(['book:import', '--file', file, '--dry-run']);
      assert.equal(dry.code, 1);
      assert.match(dry.stdout, /imported 2, updated 0, unchanged 0, skipped 3 \(dry run/);
      assert.equal((await place.json<unknown[]>(['book:list'])).length, 1);
      const { code, stdout, stderr } = await place.run(['book:import', '--file', file]);
      assert.deepEqual([code, stdout], [1, 'imported 2, updated 0, unchanged 0, skipped 3\n']);
      assert.match(stderr, /line 2: .*JSON/);
      assert.match(stderr, /line 4: \/title: must not be empty; \/isbn: /);
      assert.match(stderr, new RegExp(`line 5: .*${id}`));
      const csv = await place.run(['book:import', '--file', '-', '--format', 'csv'],
        { input: 'title\nOne\nTwo,too many\n' });
      assert.deepEqual([csv.code, csv.stdout],
        [1, 'imported 1, updated 0, unchanged 0, skipped 1\n']);
      const { updated, skipped, problems } = await place.json(
        ['book:import', '--file', '-', '--format', 'jsonl', '--replace'],
        { input: `${lines[4]}\n` });
      assert.deepEqual([updated, skipped, problems], [1, 0, []]);
      assert.match((await place.run(['book:show', '--id', id])).stdout, /^title +Taken$/m);
    }));
}

for (const way of WAYS) {
  test(`reports files that cannot be read or written, ${way}`, () =>
    inPlace(way, async (place) => {
      const missing = await place.run(['book:import', '--file', join(place.folder, 'none.json')]);
      assert.match(missing.stderr, /^hookshelf: cannot read .*none\.json: ENOENT/);
      assert.equal(missing.code, 1);
      const folder = await place.run(['book:import', '--file', place.folder, '--format', 'json']);
      assert.match(folder.stderr, /is a directory/);
      const header = await place.run(['book:import', '--file', '-', '--format', 'csv'],
        { input: 'nope,nada\n1,2\n' });
      assert.equal(header.code, 1);
      assert.doesNotMatch(header.stderr, /connection/);
      const target = join(place.folder, 'none', 'books.json');
      assert.match((await place.run(['book:export', '--file', target])).stderr, /ENOENT/);
      const full = await place.run(['book:export', '--file', '/dev/full', '--format', 'csv']);
      assert.match(full.stderr, /^hookshelf: cannot write \/dev\/full: ENOSPC/);
      assert.equal(full.code, 1);
      const input = await place.run(['book:add', '--input', '@/nowhere/book.json']);
      assert.deepEqual([input.code, /--input: ENOENT/.test(input.stderr)], [1, true]);
    }));
}

const MIXED: readonly (readonly [format: string, text: string, lines: readonly number[]])[] = [
  ['json', '[{"title":"a"},\n{"titl":"b"},\n5,\n{"title":""},\n7,\n{"title":"c"},\nx]',
    [2, 3, 4, 5, 7]],
  ['csv', 'title,numberOfPages\na,5\n,6\n"",0\nd,1,2\ne,7\n"f\n', [3, 4, 5, 7]],
];
for (const way of WAYS) {
  test(`reports what is wrong with a file in the order of its lines, ${way}`, () =>
    inPlace(way, async (place) => {
      for (const [format, input, lines] of MIXED) {
        const words = ['book:import', '--file', '-', '--format', format];
        const { code, stderr } = await place.run(words, { input });
        assert.equal(code, 1);
        const told = [...stderr.matchAll(/^hookshelf: line (\d+): /gm)];
        assert.deepEqual(told.map(([, line]) => Number(line)), lines, stderr);
        const { stdout } = await place.run([...words, '--json'], { input });
        const { problems } = JSON.parse(stdout);
        assert.deepEqual(problems.map(({ line }: { line: number }) => line), lines);
      }
    }));
}

test('reports twenty equal problems of an import and counts the rest', () =>
  inPlace(ALONE, async (place) => {
    const lines = Array.from({ length: 100 }, (_, index) => JSON.stringify({
      id: `019b76da-a800-7e30-b965-6d04b8${String(index).padStart(6, '0')}`, title: 'One',
    }));
    const words = ['book:import', '--file', '-', '--format', 'jsonl'];
    await place.run(words, { input: lines.join('\n') });
    const again = await place.run(words, { input: lines.join('\n').replaceAll('One', 'Two') });
    const told = again.stderr.match(/^hookshelf: line \d+: a book with this id exists/gm);
    assert.equal(told?.length, 20);
    assert.match(again.stderr, /^hookshelf: 80 more: a book with this id exists\n/m);
    assert.match(again.stderr, /^hookshelf: --on-match update sets .*, --replace .*$/m);
    const bad = await place.run(words, { input: '{\n'.repeat(100) });
    assert.match(bad.stderr, /^hookshelf: 80 more: not valid JSON[^\n]*\n$/m);
  }));

const UNMATCHABLE = 'hookshelf: 1 record has no id to be known again by: a later import of this '
  + 'file adds it once more, but not with --match isbn,title\n';

test('csv on standard input asks for its --format, and json does not', () =>
  inPlace(ALONE, async (place) => {
    const words = ['book:import', '--file', '-'];
    const csv = await place.run(words, { input: '\ufefftitle\nEmma\n' });
    assert.equal(csv.code, 2);
    assert.match(csv.stderr, /^hookshelf: standard input is taken for JSON, .* --format csv\n$/);
    for (const [input, note] of [
      ['\ufeff \n[{"title":"Emma"}]', UNMATCHABLE], ['{"title":"Emma"}\n', UNMATCHABLE],
      ['', 'hookshelf: the file has no records\n'],
    ] as const) {
      const { code, stderr } = await place.run(words, { input });
      assert.deepEqual([code, stderr], [0, READING.json + note]);
    }
    const books = await place.json<{ title: string }[]>(['book:list']);
    assert.deepEqual(books.map(({ title }) => title), ['Emma', 'Emma'], 'of csv came none');
  }));

test('prints a list longer than a page whole, or up to its limit', () =>
  inPlace(ALONE, async (place) => {
    const lines = Array.from({ length: 1200 }, (_, index) => `{"title":"Book ${index}"}`);
    const input = lines.join('\n');
    const words = ['book:import', '--file', '-', '--format', 'jsonl'];
    const imported = await place.run(words, { input });
    assert.equal(imported.stdout, 'imported 1200, updated 0, unchanged 0, skipped 0\n');
    const all = await place.json<{ title: string }[]>(['book:list']);
    assert.equal(new Set(all.map(({ title }) => title)).size, 1200);
    const some = await place.json<unknown[]>(['book:list', '--limit', '700']);
    assert.deepEqual(some, all.slice(0, 700));
  }));

/** The last line of a merge. */
function formatWayBack(way: Way, from: string): string {
  return way === ALONE
    ? 'no server runs that could undo the merge: the way back is an earlier data:backup'
    : `for a minute this undoes the merge: hookshelf book:restore ${from}`;
}
