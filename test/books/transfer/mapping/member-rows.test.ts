import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listTrimmedTexts } from '../../../../src/books/transfer/mapping/field-text.ts';
import { createRowMaker } from '../../../../src/books/transfer/mapping/member-rows.ts';

for (const member of ['authors', 'series', 'reading'] as const) {
  test(`a format that is written says itself how ${member} are written`, () => {
    const written = createRowMaker(listTrimmedTexts, (name, value) => [[name, value]]);
    const told = { message: new RegExp(`\`${member}\``) };
    assert.throws(() => written.textRows(member, 'field'), told);
    assert.throws(() => written.listRow(member, ['field'], () => undefined), told);
    const write = (): [] => [];
    assert.equal(written.listRow(member, ['field'], () => undefined, write).write, write);
    const [row] = createRowMaker(listTrimmedTexts).textRows(member, 'field');
    assert.equal(row?.write, undefined);
  });
}
