import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  JsonNodeSplitter, createKeyedObjectSplitter,
} from '../../../../src/books/transfer/grammars/nested-json.ts';
import type { JsonScope } from '../../../../src/books/transfer/grammars/nested-json.ts';
import { longTest } from '../../../support/long.ts';

type Splitter<Item> = { push(chunk: Buffer): readonly Item[]; end(): Iterable<Item | null> };

function readAll<Item extends object>(
  splitter: Splitter<Item>, file: Buffer, chunk: number,
): Item[] {
  const items: Item[] = [];
  for (let offset = 0; offset < file.length; offset += chunk) {
    // A splitter may overwrite what it is given.
    items.push(...splitter.push(Buffer.from(file.subarray(offset, offset + chunk))));
  }
  return [...items, ...splitter.end()].filter((item) => item !== null);
}

/** The nodes as `line: JSON`, each context before it, or as `line! problem`. */
function readNodes(file: string, chunk = 5): string[] {
  return readAll(new JsonNodeSplitter(), Buffer.from(file), chunk).map((item) => {
    if ('problem' in item) return `${item.line}! ${item.problem}`;
    return `${item.line}: ${contextsOf(item.scope)}${JSON.stringify(item.node)}`;
  });
}

function contextsOf(scope: JsonScope | null): string {
  return scope === null
    ? '' : `${contextsOf(scope.outer)}${JSON.stringify(scope.context)} `;
}

test('nodes are found wherever JSON-LD has them', () => {
  const cases: readonly (readonly [file: string, nodes: readonly string[]])[] = [
    ['{"name":"a"}', ['1: {"name":"a"}']],
    ['[{"name":"a"},\n{"name":"b"}]', ['1: {"name":"a"}', '2: {"name":"b"}']],
    ['{"name":"a"}\n{"name":"b"}', ['1: {"name":"a"}', '2: {"name":"b"}']],
    ['{"@context":"c","@graph":[{"name":"a"},{"name":"b"}]}',
      ['1: "c" {"name":"a"}', '1: "c" {"name":"b"}']],
    ['{"@graph":[\n{"name":"a"},\n{"name":"b"}],"@context":{"x":"y"}}',
      ['2: {"x":"y"} {"name":"a"}', '3: {"x":"y"} {"name":"b"}']],
    ['{"@graph":[{"name":"a"}]}\n{"@graph":[{"name":"b"}]}',
      ['1: {"name":"a"}', '2: {"name":"b"}']],
    ['{"@context":"c","@graph":[]}', []],
    ['{"@context":"c","@graph":{"name":"a"}}', ['1: "c" {"name":"a"}']],
    ['[{"@context":"c","@graph":[{"name":"a"}]}]', ['1: "c" {"name":"a"}']],
    ['{"@id":"g","@type":"Dataset","@graph":[{"name":"a"}]}',
      ['1: {"name":"a"}', '1: {"@id":"g","@type":"Dataset"}']],
    ['{"name":"{\\"@graph\\":[","url":["@graph"]}',
      ['1: {"name":"{\\"@graph\\":[","url":["@graph"]}']],
    ['{\n"name":"a",\n"url":"b"\n}\n{\n"name":\n"b"}',
      ['1: {"name":"a","url":"b"}', '5: {"name":"b"}']],
    ['{}', ['1: {}']],
    ['', []],
  ];
  for (const [file, nodes] of cases) {
    for (const chunk of [1, 3, 1000]) assert.deepEqual(readNodes(file, chunk), nodes, file);
  }
});

test('what is broken is told by its line, and the nodes behind it are read', () => {
  const cases: readonly (readonly [file: string, results: readonly (string | RegExp)[]])[] = [
    ['{"@graph":[\n{"name":nul},\n{"name":"b"}]}', [/^2! not valid JSON/, '3: {"name":"b"}']],
    ['{"@graph":[\n{"name":"a"]},\n{"name":"b"}]}', [/^2! .*do not match/, '3: {"name":"b"}']],
    ['{"@graph":[1,{"name":"b"}]}', [/^1! .*no JSON object/, '1: {"name":"b"}']],
    ['{"name" "a"}\n{"name":"b"}', [/^1! in `name`: .*expected ":"/, '2: {"name":"b"}']],
    ['{"name":}\n{"name":"b"}', [/^1! in `name`: not valid JSON/, '2: {"name":"b"}']],
    ['{name:"a"}\n{"name":"b"}', [/^1! not valid JSON/, '2: {"name":"b"}']],
    ['{"name":"a" "url":"b"}\n{"name":"b"}', [/^1! in `name`: not valid JSON/, '2: {"name":"b"}']],
    ['{"a":{} "b":1}\n{"name":"b"}', [/^1! expected "," or "}"/, '2: {"name":"b"}']],
    ['{"name":nul}\n{"name":"b"}', [/^1! in `name`: not valid JSON/, '2: {"name":"b"}']],
    ['{"name":"a"', [/^1! the file ends before its object does: `}` is missing/]],
    ['{"@graph":[{"name":"a"}', [/^1! the file ends before/, '1: {"name":"a"}']],
  ];
  for (const [file, expected] of cases) {
    for (const chunk of [1, 4, 1000]) {
      const results = readNodes(file, chunk);
      assert.equal(results.length, expected.length, `${file}: ${results.join(' | ')}`);
      for (const [index, result] of results.entries()) {
        const wanted = expected[index] ?? '';
        if (typeof wanted === 'string') assert.equal(result, wanted, file);
        else assert.match(result, wanted, file);
      }
    }
  }
});

longTest('a context behind more than 2 MiB of its graph is told, as it came too late', () => {
  const long = `{"name":"${'a'.repeat(1_000_000)}"}`;
  for (const [item, count] of [[long, 4], ['{}', 10_000]] as const) {
    const graph = Array.from({ length: count }, () => item).join(',');
    const results = readNodes(`{"@graph":[${graph}],"@context":{"x":"y"}}`, 65_536);
    assert.equal(results.filter((result) => result.includes(': {')).length, count);
    assert.deepEqual(results.filter((result) => result.includes('! ')).length, 1);
    assert.match(results.at(-1) ?? '', /write it first/);
  }
});

test('the nodes of a graph share one scope', () => {
  const file = '{"@context":{"x":"y"},"@graph":[{"name":"a"},{"name":"b"}]}';
  const [first, second] = readAll(new JsonNodeSplitter(), Buffer.from(file), 1000);
  assert.ok(first !== undefined && 'scope' in first);
  assert.ok(second !== undefined && 'scope' in second);
  assert.equal(first.scope, second.scope);
});

longTest('a node that is too long is left out, and the next is read', () => {
  const splitter = new JsonNodeSplitter();
  splitter.push(Buffer.from('{"@context":"c","@graph":[{"name":"'));
  for (let count = 0; count < 3; count += 1) splitter.push(Buffer.alloc(1_000_000, 'x'));
  const nodes = [...splitter.push(Buffer.from('"},\n{"name":"b"}]}')), ...splitter.end()];
  assert.deepEqual(nodes.map((node) => 'node' in node ? node.node : null), [{ name: 'b' }]);
});

test('the members of one object come with their names', () => {
  const file = '{\n"123": {"title": "a"},\n"12\\u0034": {"title":\n"b", "isbn": ["1"]}, "x": 1\n}';
  for (const chunk of [1, 5, 1000]) {
    const records = readAll(createKeyedObjectSplitter(), Buffer.from(file), chunk);
    assert.deepEqual(records, [
      { line: 2, key: '123', type: '', fields: new Map([['title', 'a']]) },
      { line: 3, key: '124', type: '', fields: new Map<string, unknown>([
        ['title', 'b'], ['isbn', ['1']],
      ]) },
      { line: 4, key: 'x', problem: 'the record is no JSON object' },
    ]);
  }
});

test('within one object a mistake ends the reading, and this is said', () => {
  const records = readAll(createKeyedObjectSplitter(),
    Buffer.from('{"1":{"title":"a"},\n"2":{"title":"b"],\n{"title":"c"}}'), 7);
  assert.deepEqual(records.map(({ line }) => line), [1, 2]);
  assert.match(JSON.stringify(records[1]), /the rest of the file is not read/);
});
