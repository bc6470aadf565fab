/** What a configuration document leaves open, and its values put in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  listReferences, replaceReferences,
} from '../../../../src/console/screens/configuration/document-references.ts';

const DOCUMENT = JSON.parse(`{
  "incomingWebhooks": [{ "secret": { "$env": "GH" }, "__proto__": { "x": { "$file": "GH" } } }],
  "outgoingWebhooks": [{ "secret": { "$env": "GH" }, "headers": { "A": { "$env": "TOKEN" } } }],
  "actionConfigurations": [
    { "options": { "a": { "$env": "X", "b": 1 }, "c": { "$env": 5 }, "d": { "$other": "X" } } }
  ]
}`);

test('lists each value once, a variable and a file of one name apart', () => {
  assert.deepEqual(listReferences(DOCUMENT).map(({ key }) => key),
    ['$env GH', '$file GH', '$env TOKEN']);
});

test('puts values in their places, and leaves all else as it is', () => {
  const before = JSON.stringify(DOCUMENT);
  const filled = replaceReferences(DOCUMENT, ({ kind, name }) => `${kind}:${name}`);
  assert.equal(JSON.stringify(filled), before
    .replaceAll('{"$env":"GH"}', '"$env:GH"').replace('{"$file":"GH"}', '"$file:GH"')
    .replace('{"$env":"TOKEN"}', '"$env:TOKEN"'));
  assert.equal(JSON.stringify(DOCUMENT), before);
});
