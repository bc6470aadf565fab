import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadCodec } from '../../../../src/books/transfer/formats.ts';
import { readText } from '../../../support/format-round-trip.ts';

const LONG = 'x'.repeat(1001);

test('a record without a title names the fields in which its source has it', async () => {
  for (const [format, file, expected] of [
    ['goodreads', 'Book Id,Title,Author\n3,,\n', '2 3 no text in `Title`'],
    ['storygraph', 'Title,Authors,ISBN/UID\n" ",,x\n', '2 x no text in `Title`'],
    ['librarything', 'Book Id\tTitle\tPrimary Author\n1\t\n', '2 1 no text in `Title` or `title`'],
    ['calibre', 'title,uuid\n,u\n', '2 u no text in `title`'],
    ['bibtex', '@book{k, year = 1}', '1 k no text in `title`, `booktitle` or `maintitle`'],
    ['ris', 'TY  - BOOK\nID  - 7\nER  - \n', '1 7 no text in `TI`, `T1`, `CT` or `BT`'],
    ['csl', '[{"id":"x","type":"book","title":{}}]', '1 x no text in `title`'],
    ['jsonld', '{"@context":"https://schema.org","@type":"Book","@id":"urn:1"}',
      '1 urn:1 no text in `name` or `headline`'],
  ] as const) {
    assert.equal((await explain(format, file)).replace('the record has ', ''), expected);
  }
});

test('a title that is too long for the catalog is told as that, not as a missing one', async () => {
  for (const [format, file, name] of [
    ['goodreads', `Book Id,Title,Author\n3,${LONG},\n`, 'Title'],
    ['bibtex', `@book{k, booktitle = {${LONG}}}`, 'booktitle'],
    ['ris', `TY  - BOOK\nT1  - ${LONG}\nER  - `, 'T1'],
    ['csl', `[{"id":"x","type":"book","title":"${LONG}"}]`, 'title'],
  ] as const) {
    assert.match(await explain(format, file),
      new RegExp(`that in \`${name}\` must be at most 1000 characters$`));
  }
});

/** Line and key of the only record, and why it has no title. */
async function explain(format: Parameters<typeof loadCodec>[0], file: string): Promise<string> {
  const [record, ...others] = readText(await loadCodec(format), file);
  assert.ok(record !== undefined && 'body' in record && others.length === 0);
  return `${record.line} ${record.key} ${record.titleProblem?.replace('is required: ', '')}`;
}
