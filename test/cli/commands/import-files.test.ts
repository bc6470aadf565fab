/** `book:import` of files of other programs. */
import assert from 'node:assert/strict';
import { existsSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ImportReport } from '../../../src/cli/commands/books/import-report.ts';
import { Output } from '../../../src/cli/terminal/output.ts';
import { WAYS, inPlace } from '../place.ts';

const GOODREADS = 'Book Id,Title,Author,Exclusive Shelf,My Review\n'
  + '1,"Emma, again",Jane Austen,read,good\n3,Persuasion,Jane Austen,to-read,\n';

for (const way of WAYS) {
  test(`an export is told first and counted last, and again it changes nothing, ${way}`, () =>
    inPlace(way, async (place) => {
      const file = join(place.folder, 'goodreads.csv');
      const words = ['book:import', '--file', file];
      const steps = [
        [GOODREADS, ['--dry-run'],
          'would have imported 2, updated 0, unchanged 0, skipped 0 '
            + '(dry run, nothing was changed)'],
        [GOODREADS, [], 'imported 2, updated 0, unchanged 0, skipped 0'],
        [GOODREADS, [], 'imported 0, updated 0, unchanged 2, skipped 0'],
        [GOODREADS.replace('good', 'better'), [], 'imported 0, updated 1, unchanged 1, skipped 0'],
        [`${GOODREADS}4,New,A B,read,\n`, ['--match', 'title'],
          'imported 1, updated 1, unchanged 1, skipped 0'],
      ] as const;
      for (const [text, options, count] of steps) {
        writeFileSync(file, text);
        const { code, stdout, stderr } = await place.run([...words, ...options]);
        assert.deepEqual([code, stdout, stderr],
          [0, `${count}\n`, 'hookshelf: reading a Goodreads export\n']);
      }
      const left = await place.run([...words, '--on-match', 'skip']);
      assert.deepEqual([left.code, left.stdout],
        [1, 'imported 0, updated 0, unchanged 0, skipped 3\n']);
      assert.match(left.stderr, /line 2: the catalog has this book \(record 1, key 1, \S+\)$/m);
    }));
}

for (const way of WAYS) {
  test(`--verbose names new and changed books, and the members that change, ${way}`, () =>
    inPlace(way, async (place) => {
      const words = ['book:import', '--file', '-', '--format', 'goodreads', '--verbose'];
      const input = GOODREADS;
      const first = await place.run([...words, '--dry-run'], { input });
      assert.equal(first.stderr, 'hookshelf: reading a Goodreads export\n'
        + 'hookshelf: line 2: would import "Emma, again"\n'
        + 'hookshelf: line 3: would import "Persuasion"\n');
      await place.run(words, { input });
      const later = { input: GOODREADS.replace('good', 'better').replace('Persuasion', 'P') };
      const changes = `: reading.review: "good" → "better"
hookshelf: line 3: would update "P" \\(\\S+\\): title: "Persuasion" → "P"\n$`;
      const { stderr } = await place.run([...words, '--dry-run'], later);
      assert.match(stderr, new RegExp(`line 2: would update "Emma, again" \\(\\S+\\)${changes}`));
      const { stdout } = await place.run([...words, '--json', '--replace'], later);
      const { changes: [, change], ...count } = JSON.parse(stdout);
      assert.deepEqual(
        [change.line, change.status, change.title, change.members, change.values],
        [3, 'replaced', 'P', ['title'], { title: '"Persuasion" → "P"' }]);
      assert.deepEqual([count.imported, count.updated, count.replaced], [0, 2, 2]);
      const again = await place.run([...words, '--replace'], { input });
      assert.equal(again.stdout, 'imported 0, updated 2, unchanged 0, skipped 0\n');
    }));
}

test('a bad record is named by its line, its number and its key', () =>
  inPlace('without a server', async (place) => {
    const words = ['book:import', '--file', '-', '--format', 'goodreads'];
    const input = GOODREADS.replace('Persuasion', '');
    const { code, stderr } = await place.run(words, { input });
    assert.equal(code, 1);
    const detail = '/title: is required: the record has no text in `Title`';
    assert.ok(stderr.includes(`hookshelf: line 3: ${detail} (record 2, key 3)\n`), stderr);
    const { stdout } = await place.run([...words, '--json'], { input });
    const { problems, format } = JSON.parse(stdout);
    assert.deepEqual(problems, [{ line: 3, record: 2, key: '3', detail }]);
    assert.equal(format, 'goodreads');
  }));

test('a bad record is named by its number where several stand on a line', () =>
  inPlace('without a server', async (place) => {
    const importJson = (input: string) =>
      place.run(['book:import', '--file', '-', '--format', 'json'], { input });
    const { stderr } = await importJson('[{"title":""},{"title":"A"},{"title":" "},{"title":"B"]');
    assert.deepEqual(stderr.split('\n').slice(1, 4), [
      'hookshelf: line 1: /title: must not be empty (record 1)',
      'hookshelf: record 3: /title: must not be blank',
      'hookshelf: record 4: the brackets of this record do not match; reading goes on at the next '
        + 'line that begins with `{`',
    ]);
  }));

for (const way of WAYS) {
  test(`a long file whose header is unusable is refused with what is wrong, ${way}`, () =>
    inPlace(way, async (place) => {
      const file = join(place.folder, 'long.csv');
      writeFileSync(file, `nope,nada\n${'1,2\n'.repeat(2_000_000)}`);
      const { code, stderr } = await place.run(['book:import', '--file', file]);
      assert.equal(code, 1);
      assert.match(stderr, /^hookshelf: reading CSV\nhookshelf: line 1, the header of the csv: /);
    }));
}

test('a record without an id of its source is known again by what it says', () =>
  inPlace('without a server', async (place) => {
    const words = ['book:import', '--file', '-', '--format', 'storygraph'];
    const input = 'Title,Authors,ISBN/UID\nZine,A,\nPamphlet,B,\nEmma,Jane Austen,9780141439587\n';
    const note = (records: string): string => `hookshelf: ${records} changed, a later import adds `;
    for (const [options, text, count, told = ''] of [
      [['--dry-run'], input, 'would have imported 3, updated 0, unchanged 0',
        '2 records have no id of their source: once they have'],
      [[], input, 'imported 3, updated 0, unchanged 0',
        '2 records have no id of their source: once they have'],
      [[], input, 'imported 0, updated 0, unchanged 3'],
      [['--dry-run'], input, 'would have imported 0, updated 0, unchanged 3'],
      [['--match', 'isbn'], input, 'imported 0, updated 0, unchanged 3'],
      [['--match', 'isbn,title'], input, 'imported 0, updated 0, unchanged 3'],
      [[], input.replace('Zine,A', 'Zine,C'), 'imported 1, updated 0, unchanged 2',
        '1 record has no id of its source: once it has'],
    ] as const) {
      const result = await place.run([...words, ...options], { input: text });
      assert.deepEqual([result.code, result.stdout.slice(0, count.length)], [0, count]);
      const [first, second = ''] = result.stderr.split(/(?<=\n)/);
      assert.equal(first, 'hookshelf: reading a StoryGraph export\n');
      assert.equal(second.startsWith(told === '' ? '' : note(told)), true, second);
      assert.equal(second === '', told === '');
    }
  }));

test('a check tells of values that are put aside, and of ISBNs that the catalog has', () =>
  inPlace('without a server', async (place) => {
    const importAs = (format: string, input: string, ...options: string[]) =>
      place.run(['book:import', '--file', '-', '--format', format, ...options], { input });
    await importAs('storygraph', 'Title,Authors,ISBN/UID\nEmma,Jane Austen,9780141439587\n');
    const file = 'Book Id,Title,Author,ISBN13,My Rating,Number of Pages\n'
      + '1,Emma,Jane Austen,9780141439587,5,300\n2,B,X,9.78E+12,7,\n3,C,X,9780141439588,,0\n';
    const notes = [
      'hookshelf: put aside: isbn in 2 records, the first is "B" (line 3): not valid; see '
        + 'metadata.source',
      'hookshelf: put aside: reading.rating in 1 record, it is "B" (line 3): not valid; see '
        + 'metadata.source',
    ];
    const isbnNote = 'hookshelf: 1 new book would have the ISBN of another book: it is "Emma" '
      + '(line 2); with --match isbn the import updates that book instead';
    for (const [options, counts, told] of [
      [['--dry-run'], 'would have imported 3, updated 0', [...notes, isbnNote]],
      [['--dry-run', '--match', 'isbn'], 'would have imported 2, updated 1', notes],
      [['--match', 'isbn'], 'imported 2, updated 1', notes],
      [[], 'imported 0, updated 0', notes],
    ] as const) {
      const { stdout, stderr } = await importAs('goodreads', file, ...options);
      assert.equal(stdout.startsWith(counts), true, stdout);
      assert.deepEqual(stderr.trimEnd().split('\n').slice(1), told);
    }
    const books = await place.json<{ metadata?: object }[]>(['book:list', '--q', 'x']);
    assert.deepEqual(books.map(({ metadata }) => Object(metadata).source), [
      { goodreads: { 'Book Id': '2', ISBN13: '9.78E+12', 'My Rating': '7' } },
      { goodreads: { 'Book Id': '3', ISBN13: '9780141439588', 'Number of Pages': '0' } },
    ]);
  }));

test('what a spreadsheet has damaged is told, and books with a rounded ISBN stay apart', () =>
  inPlace('without a server', async (place) => {
    const importAs = (format: string, input: string) =>
      place.run(['book:import', '--file', '-', '--format', format], { input });
    const storygraph = 'Title,Authors,ISBN/UID,Last Date Read\n'
      + 'A,X,9.78E+12,3/11/2018\nB,Y,9.78E+12,03.11.2018\n';
    for (const counts of ['imported 2, updated 0, unchanged 0',
      'imported 0, updated 0, unchanged 2']) {
      const { stdout, stderr } = await importAs('storygraph', storygraph);
      assert.equal(stdout, `${counts}, skipped 0\n`);
      assert.deepEqual(stderr.split('\n').slice(1, 3), [
        'hookshelf: put aside: isbn in 2 records, the first is "A" (line 2): not valid; see '
          + 'metadata.source',
        'hookshelf: put aside: reading.finishedOn in 1 record, it is "A" (line 2): not valid, or '
          + 'not of the last reading; see metadata.source',
      ]);
    }
    const dates = await place.json<{ reading: object }[]>(['book:list', '--sort', 'title']);
    assert.deepEqual(dates.map(({ reading }) => reading),
      [{ finishedOn: '2018' }, { finishedOn: '2018-11-03' }]);
    const own = await importAs('csv', 'title,isbn\nC,9.78E+12\n');
    assert.equal(own.stdout, 'imported 1, updated 0, unchanged 0, skipped 0\n');
    assert.match(own.stderr,
      /: put aside: isbn in 1 record, it is "C" \(line 2\): not valid; see metadata\n/);
  }));

test('a rounded ISBN is not kept beside the ISBN of the book that it is', () =>
  inPlace('without a server', async (place) => {
    const isbn = '9783522202602';
    await place.run(['book:import', '--file', '-', '--format', 'csv'],
      { input: `title,isbn\nMomo,${isbn}\n` });
    for (const [rounded, kept] of [
      ['9.78E+12', undefined], ['"9,78352E+12"', undefined], ['9.79E+12', '9.79E+12'],
    ] as const) {
      const input = `title,isbn,publisher\nMomo,${rounded},Thienemann\n`;
      await place.run(
        ['book:import', '--file', '-', '--format', 'csv', '--match', 'title'], { input });
      const [book] = await place.json<{ isbn: string; publisher: string; metadata?: object }[]>(
        ['book:list']);
      assert.deepEqual([book?.isbn, book?.publisher, Object(book?.metadata).isbn],
        [isbn, 'Thienemann', kept]);
    }
  }));

test('a new book of the title and author of another is told, with the way to merge it', () =>
  inPlace('without a server', async (place) => {
    const importAs = (format: string, input: string, ...options: string[]) =>
      place.run(['book:import', '--file', '-', '--format', format, ...options], { input });
    await importAs('csv', 'title,authors,datePublished\nEMMA,Jane Austen,2003\nB,X,1999\n');
    const [{ id: otherId = '' } = {}] =
      await place.json<{ id: string }[]>(['book:list', '--q', 'emma']);
    const file = 'Book Id,Title,Author,Year Published\n'
      + '1,Émma,Jane Austen,2010\n2,A,X,1999\n3,b,X,2001\n4,B,X,2002\n';
    const tell = (merge: string): string => 'hookshelf: reading a Goodreads export\nhookshelf: 3 '
      + 'new books have title and first author of another book: the first is "Émma" (line 2), and '
      + `${merge} makes one of the two; book:duplicates --by title lists books that are there twice`
      + '\n';
    const check = await importAs('goodreads', file, '--dry-run');
    assert.deepEqual([check.code, check.stderr], [0, tell('book:merge')]);
    const { stdout } = await importAs('goodreads', file, '--json');
    const { sameTitle, alike } = JSON.parse(stdout);
    const { id } = alike.sameTitle;
    assert.deepEqual([sameTitle, alike],
      [3, { sameTitle: { line: 2, record: 1, title: 'Émma', id, otherId } }]);
    const merge = await place.run(['book:merge', otherId, '--from', id, '--fill']);
    assert.equal(merge.code, 0, merge.stderr);
    const again = await importAs('goodreads', file);
    assert.equal(again.stdout, 'imported 0, updated 0, unchanged 4, skipped 0\n');
    const more = await importAs('goodreads', file.replace('1,Émma', '5,Emma'), '--match', 'title');
    assert.match(more.stderr, new RegExp('1 new book has .* book: it is "Emma" \\(line 2\\), and '
      + `book:merge ${otherId} --from [-0-9a-f]{36} --fill makes `));
  }));

test('a finish date without a status is told, and a column of statuses mends it', () =>
  inPlace('without a server', async (place) => {
    const importOwn = (input: string, ...options: string[]) => place.run(
      ['book:import', '--file', '-', '--format', 'csv', ...options], { input });
    const { stderr } = await importOwn('Titel,Gelesen am\nEmma,2020\n');
    assert.match(stderr, new RegExp('1 new book has a finish date and no status, and does not '
      + 'count as read: it is "Emma" \\(line 2\\); a column reading.status with "read" says so, in '
      + 'the same file with --match isbn,title\n'));
    const { stdout } = await importOwn('Titel,Gelesen am,reading.status\nEmma,2020,read\n',
      '--match', 'isbn,title');
    assert.equal(stdout, 'imported 0, updated 1, unchanged 0, skipped 0\n');
  }));

test('records of a merged book are told by the first, with the book that took it in', () =>
  inPlace('without a server', async (place) => {
    const file = `${GOODREADS}4,Other,X,,\n`;
    const importAgain = () => place.run(
      ['book:import', '--file', '-', '--format', 'goodreads'], { input: file });
    await importAgain();
    const [emma, persuasion, other] = await place.json<{ id: string }[]>(['book:list']);
    for (const from of [emma, persuasion]) {
      await place.run(['book:merge', other?.id ?? '', '--from', from?.id ?? '']);
    }
    assert.equal((await importAgain()).stderr, 'hookshelf: reading a Goodreads export\n'
      + 'hookshelf: 2 records are of books that were merged into another: nothing of it was taken; '
      + `the first is "Emma, again" (line 2), and book:update ${other?.id} writes by hand what you `
      + 'want of it\n');
  }));

test('a record of our own without an id is told, and matched by its title as the line says', () =>
  inPlace('without a server', async (place) => {
    const words = ['book:import', '--file', '-', '--format', 'csv'];
    const input = 'title\nZine\nPamphlet\n';
    const note = 'hookshelf: 2 records have no id to be known again by: a later import of this '
      + 'file adds them once more, but not with --match isbn,title\n';
    for (const [options, count] of [
      [['--dry-run'], 'would have imported 2, updated 0, unchanged 0'],
      [[], 'imported 2, updated 0, unchanged 0'],
      [['--match', 'isbn,title'], 'imported 0, updated 2, unchanged 0'],
      [['--match', 'isbn'], 'imported 2, updated 0, unchanged 0'],
    ] as const) {
      const result = await place.run([...words, ...options], { input });
      assert.deepEqual([result.code, result.stdout.slice(0, count.length)], [0, count]);
      const isTold = !options.some((option) => option.includes('title'));
      assert.equal(result.stderr, `hookshelf: reading CSV\n${isTold ? note : ''}`);
    }
  }));

test('another encoding than UTF-8 is told with the format', () =>
  inPlace('without a server', async (place) => {
    for (const [name, bytes] of [
      ['UTF-16', Buffer.from('\ufefftitle\nÉmile\n', 'utf16le')],
      ['Windows-1252', Buffer.from('title\n\xc9mile\n', 'latin1')],
    ] as const) {
      const file = join(place.folder, 'books.csv');
      writeFileSync(file, bytes);
      const { stderr } = await place.run(['book:import', '--file', file]);
      assert.match(stderr, new RegExp(`^hookshelf: reading CSV \\(${name}\\)\n`));
    }
    const books = await place.json<{ title: string }[]>(['book:list']);
    assert.deepEqual(books.map(({ title }) => title), ['Émile', 'Émile']);
  }));

test('an encoding that is named, or that a .bib names, is that of the file', () =>
  inPlace('without a server', async (place) => {
    const file = join(place.folder, 'books.csv');
    writeFileSync(file, Buffer.from('title\n\xa3\xf3d\x9f\n', 'latin1'));
    const bibtex = join(place.folder, 'books.bib');
    writeFileSync(bibtex, Buffer.from('% Encoding: Cp1250\n@book{k, title={\xa3}}\n', 'latin1'));
    const words = ['book:import', '--file', file, '--charset', 'windows-1250'];
    for (const options of [['--dry-run'], []]) {
      const { stderr } = await place.run([...words, ...options]);
      assert.match(stderr, /^hookshelf: reading CSV \(Windows-1250\)\n/);
    }
    const named = await place.run(['book:import', '--file', bibtex]);
    assert.equal(named.stderr, 'hookshelf: reading BibTeX (Windows-1250)\n');
    const books = await place.json<{ title: string }[]>(['book:list']);
    assert.deepEqual(books.map(({ title }) => title), ['Łódź', 'Ł']);

    writeFileSync(bibtex, '% Encoding: Cp850\n@book{k, title={A}}\n');
    const unknown = await place.run(['book:import', '--file', bibtex]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /the charset "Cp850" is unknown: known are utf-8, /);
    const misspelt = await place.run([...words.slice(0, -1), 'x-no']);
    assert.equal(misspelt.code, 2);
    assert.match(misspelt.stderr, /the charset "x-no" is unknown: known are utf-8, /);
  }));

test('another encoding that late bytes tell is told at the end, also of a dry run', () =>
  inPlace('without a server', async (place) => {
    const file = join(place.folder, 'books.csv');
    const early = `${'x'.repeat(1000)}\n`.repeat(600);
    writeFileSync(file, Buffer.from(`title\n${early}\xc9\n`, 'latin1'));
    const words = ['book:import', '--file', file];
    for (const options of [['--dry-run'], [], ['--dry-run']]) {
      const { stderr } = await place.run([...words, ...options]);
      assert.ok(stderr.startsWith('hookshelf: reading CSV\n'
        + 'hookshelf: the file is no UTF-8: it was read as Windows-1252\n'), stderr);
    }
  }));

test('a file that could be two things is refused with both names, and nothing is sent', () =>
  inPlace('without a server', async (place) => {
    const file = join(place.folder, 'books.csv');
    writeFileSync(file, 'Book Id,Title\n1,A\n');
    const { code, stderr } = await place.run(['book:import', '--file', file]);
    assert.equal(code, 1);
    assert.equal(stderr, 'hookshelf: the file could be a Goodreads export or a LibraryThing '
      + 'export: name its format, goodreads or librarything\n');
    const named = await place.run(['book:import', '--file', file, '--format', 'goodreads']);
    assert.match(named.stderr, /the header of a Goodreads export: there is no column `Author`/);
  }));

test('a file that is refused makes no data directory', () =>
  inPlace('without a server', async (place) => {
    rmdirSync(place.data);
    const file = join(place.folder, 'books.csv');
    for (const [text, problem] of [
      [`<!DOCTYPE html>\n<html>${'<p>'.repeat(50_000)}\n`, 'the file is no table, but a web page'],
      ['Wer,title\nA,B\n', 'there is no column "Wem": there are "Wer", "title"'],
      ['', 'the file is empty'],
    ] as const) {
      writeFileSync(file, text);
      const { code, stderr } = await place.run(
        ['book:import', '--file', file, '--format', 'csv', '--column', 'Wem=authors']);
      assert.equal(code, 1);
      assert.ok(stderr.includes(problem), stderr);
      assert.equal(existsSync(place.data), false);
    }
  }));

test('books that an import has made twice are merged by the command that it names', () =>
  inPlace('without a server', async (place) => {
    const importAs = (format: string, input: string, ...options: string[]) =>
      place.run(['book:import', '--file', '-', '--format', format, ...options], { input });
    await importAs('goodreads', 'Book Id,Title,Author,ISBN13\n1,Emma,Jane Austen,9780141439587\n');
    const file = 'Title,Authors,ISBN/UID,Star Rating\nEmma,Jane Austen,9780141439587,4.25\n';
    for (const options of [[], ['--match', 'isbn']]) {
      const { code, stderr } = await importAs('storygraph', file, ...options);
      assert.equal(code, 0);
      assert.match(stderr, /1 book is there twice now, with one ISBN: it is "Emma" \(line 2\), /);
      if (options.length === 0) continue;
      const [, command = ''] = /and (book:merge .*) makes one/.exec(stderr) ?? [];
      assert.equal((await place.run(command.split(' '))).code, 0, command);
    }
    const [book, ...others] = await place.json<{ reading?: object }[]>(['book:list']);
    assert.deepEqual([book?.reading, others], [{ rating: 4.25 }, []]);
    const { stdout } = await importAs('storygraph', file, '--match', 'isbn');
    assert.equal(stdout, 'imported 0, updated 0, unchanged 1, skipped 0\n');
  }));

test('a file of our own without ids tells of the books that it has made twice', () =>
  inPlace('without a server', async (place) => {
    const emma = { title: 'Emma', authors: [{ name: 'Jane Austen' }], isbn: '9780141439587' };
    const zine = { title: 'Zine', authors: [{ name: 'X' }] };
    const importAs = (format: string, input: string, ...options: string[]) =>
      place.run(['book:import', '--file', '-', '--format', format, ...options], { input });
    await importAs('goodreads', 'Book Id,Title,Author,ISBN13\n1,Emma,Jane Austen,9780141439587\n'
      + '2,Zine,X,\n');
    for (const [format, input] of [
      ['csv', 'title,authors,isbn\nEmma,Jane Austen,9780141439587\nZine,X,\n'],
      ['json', JSON.stringify([emma, zine])],
      ['jsonl', `${JSON.stringify(emma)}\n${JSON.stringify(zine)}\n`],
    ] as const) {
      const { stdout, stderr } = await importAs(format, input);
      assert.equal(stdout, 'imported 2, updated 0, unchanged 0, skipped 0\n');
      assert.match(stderr, /1 book is there twice now, with one ISBN: it is "Emma" \(line \d\), /);
      assert.match(stderr, /1 new book has title and first author of another book: it is "Zine" /);
      const { sameIsbn, sameTitle } = JSON.parse((await importAs(format, input, '--json')).stdout);
      assert.deepEqual([sameIsbn, sameTitle], [1, 1]);
    }
  }));

test('what a file says as the book says it is noted, and told without its digests', () =>
  inPlace('without a server', async (place) => {
    await place.json(['book:add', '--input', JSON.stringify({
      title: 'Emma', isbn: '9780141439587',
      metadata: { source: { goodreads: { 'Book Id': '1' } } },
    })]);
    const words = ['book:import', '--file', '-', '--format', 'goodreads', '--verbose'];
    const file = (rating: string): { input: string } => ({
      input: `Book Id,Title,Author,ISBN13,My Rating\n1,Emma,,9780141439587,${rating}\n` });
    const { stderr } = await place.run(words, file(''));
    assert.match(stderr, /updated "Emma" \(.*\): no member changes, what the file says is noted/);
    await place.run(words, file('4'));
    const emptied = await place.run(words, file('0'));
    assert.match(emptied.stderr,
      /line 2: left "Emma" \(\S+\): reading.rating: 4 stays, the source has it no more\n/);
    assert.equal(emptied.stdout, 'imported 0, updated 0, unchanged 1, skipped 0\n');
  }));

test('what is left out and what is no book is counted by name before the count', async () => {
  const notes: string[] = [];
  const write = (text: string): boolean => notes.push(text) > 0;
  const stream = { write, on() {}, isTTY: false, columns: 80 };
  const output = new Output({
    stdin: process.stdin, stdout: stream, stderr: stream, environment: {}, now: () => 0,
  } as unknown as ConstructorParameters<typeof Output>[0], false);
  const report = new ImportReport(output, output.progress('books', null),
    { isDryRun: false, isVerbose: false, matches: [] });
  report.addResult({
    imported: 3, updated: 1, unchanged: 7, skipped: 0,
    leftOut: { 'My Review': 3, 'Spoiler': 1, 'reading.startedOn': 1 },
    replacedMembers: { 'reading.review': 1, 'title': 2, 'keywords': 3 },
    firstReplaced: {
      'reading.review': { line: 12, record: 11, title: 'Emma' },
      'title': { line: 1, record: 2, title: 'A' }, 'keywords': { line: 3, record: 2, title: 'B' },
    },
    keptMembers: { 'reading.review': 1 },
    firstKept: { 'reading.review': { line: 5, record: 4, title: 'C' } },
    firstLeftOut: { 'My Review': { line: 7, record: 6, title: 'D' } },
    otherTypes: { article: 4, thesis: 1, JOUR: 2 }, encoding: 'windows-1252',
  });
  await report.print();
  assert.deepEqual(notes.map((note) => note.trimEnd()), [
    'hookshelf: the file is no UTF-8: it was read as Windows-1252',
    'hookshelf: 4 articles are no books: --all-types takes them',
    'hookshelf: 2 of type JOUR are no books: --all-types takes them',
    'hookshelf: 1 of type thesis is no book: --all-types takes it',
    'hookshelf: replaced: keywords in 3 books, the first is "B" (line 3); '
      + '--on-match fill adds instead',
    'hookshelf: replaced: title in 2 books, the first is "A" (record 2)',
    'hookshelf: replaced: reading.review in 1 book, it is "Emma" (line 12)',
    'hookshelf: kept: reading.review in 1 book, it is "C" (line 5): it is too long to be kept '
      + 'beside what the file says, which is in metadata.source instead',
    'hookshelf: left out: My Review in 3 records, the first is "D" (line 7): too long',
    'hookshelf: left out: Spoiler in 1 record: too long',
    "hookshelf: left out: reading.startedOn in 1 record: contradicts the book's other date",
    'imported 3, updated 1, unchanged 7, skipped 0',
  ]);
});

test('of a format with objects in its fields what is left out may be nested too deep', () =>
  inPlace('without a server', async (place) => {
    const words = ['book:import', '--file', '-', '--format', 'csl'];
    for (const custom of ['{"a":{"b":{"c":{"d":{"e":{"f":"deep"}}}}}}', '1e999']) {
      const input = `[{"id":"${custom.length}","type":"book","title":"T","custom":${custom}}]`;
      const { code, stderr } = await place.run(words, { input });
      assert.equal(code, 0, stderr);
      assert.match(stderr, /custom in 1 record, it is "T" \(line 1\): too long or nested too deep/);
    }
  }));

for (const way of WAYS) {
  test(`the metadata of all books are read again, ${way}`, () => inPlace(way, async (place) => {
    const book = { title: 'Mort', metadata: { source: { goodreads: {
      'Book Id': '1', 'My Rating': '4', 'Exclusive Shelf': 'read' } } } };
    await place.json(['book:add', '--input', JSON.stringify(book)]);
    await place.json(['book:add', '--input', '{"title":"Emma"}']);
    const words = ['book:import', '--from-metadata'];
    const before = (await place.run(['book:list', '--json'])).stdout;
    const dry = await place.run([...words, '--dry-run', '--verbose']);
    assert.match(dry.stderr, new RegExp('^hookshelf: reading metadata.source of all books\\n'
      + 'hookshelf: would update "Mort" \\(.*: '
      + 'reading.status: none → "read"; reading.rating: none → 4; '
      + 'metadata.source.goodreads: My Rating, Exclusive Shelf\\n$'));
    assert.equal(dry.stdout, 'would have imported 0, updated 1, unchanged 0, skipped 0 '
      + '(dry run, nothing was changed)\n');
    assert.equal((await place.run(['book:list', '--json'])).stdout, before);
    const { changes: [change] } = await place.json<{ changes: readonly object[] }>(
      [...words, '--dry-run', '--verbose']);
    assert.equal(Object.hasOwn(change ?? {}, 'line'), false);
    const { code, stdout } = await place.run(words);
    assert.deepEqual([code, stdout], [0, 'imported 0, updated 1, unchanged 0, skipped 0\n']);
    const [read] = await place.json<{ readonly reading?: object }[]>(['book:list']);
    assert.deepEqual(read?.reading, { status: 'read', rating: 4 });
    const { format, unchanged } = await place.json<Readonly<Record<string, unknown>>>(words);
    assert.deepEqual([format, unchanged], ['metadata', 1]);
  }));
}

test('what is said of a file is refused beside --from-metadata, as where there is no catalog', () =>
  inPlace('without a server', async (place) => {
    rmdirSync(place.data);
    for (const [words, code, problem] of [
      [['--format', 'csv', '--match', 'isbn'], 2, /leave out --format and --match/],
      [['--sample'], 2, /needs <path \| -> or --sample or --from-metadata, and only one of them/],
      [[], 1, /there is no data directory/],
      [['--dry-run'], 1, /there is no data directory/],
    ] as const) {
      const result = await place.run(['book:import', '--from-metadata', ...words]);
      assert.equal(result.code, code, result.stderr);
      assert.match(result.stderr, problem);
    }
    const add = ['book:add', '--input', '{"title":"Emma"}'];
    assert.equal((await place.run(add)).stderr,
      `hookshelf: made a new data directory at ${place.data}\n`);
    assert.equal((await place.run(add)).stderr, '');
    const empty = await place.run(['book:import', '--from-metadata']);
    assert.match(empty.stderr, /no book has records of other programs there/);
  }));

test('options that contradict each other are refused', () =>
  inPlace('without a server', async (place) => {
    const { code, stderr } = await place.run(
      ['book:import', '--sample', '--replace', '--on-match', 'skip']);
    assert.equal(code, 2);
    assert.match(stderr, /--replace contradicts --on-match skip/);
  }));

test('a table of any header is imported, and the words that were read are told', () =>
  inPlace('without a server', async (place) => {
    const file = join(place.folder, 'own.csv');
    writeFileSync(file, 'Titel;Scribe;Jahr\nMomo;Michael Ende;1973\n');
    const plain = await place.run(['book:import', file, '--dry-run']);
    assert.equal(plain.code, 0);
    assert.deepEqual(plain.stderr.split('\n').slice(1, 3), [
      'hookshelf: reading "Titel" as title, "Jahr" as datePublished; --column says otherwise',
      'hookshelf: kept in metadata: "Scribe" in 1 record, a column that the catalog does not know: '
        + '--column says what it is',
    ]);
    const mapped = await place.run(
      ['book:import', file, '--column', 'Scribe=authors', '--column', 'jahr=none']);
    assert.equal(mapped.stdout, 'imported 1, updated 0, unchanged 0, skipped 0\n');
    const [book] = await place.json<object[]>(['book:list']);
    assert.deepEqual([Object(book).authors, Object(book).datePublished],
      [[{ name: 'Michael Ende' }], undefined]);
    const wrong = await place.run(['book:import', file, '--column', 'Scribe=writr']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--column has no member "writr" for "Scribe".*; known are id, /);
  }));
