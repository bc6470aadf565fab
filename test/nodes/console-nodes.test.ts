/** What the console's overview shows of nodes, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, lacksBrowser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { withNodes } from './apps.ts';

const skip = lacksBrowser;
const browser = Browser.forTests();
const person = new Person(browser);

test('the overview shows each node with its shards, and that one has gone', { skip }, () =>
  withNodes(3, async (nodes) => {
    const [first, , third] = nodes;
    assert.ok(first !== undefined && third !== undefined);
    await browser.visit(`${first.url}/console`);
    await person.find('heading', 'Nodes');
    await person.sees(`${first.id} (this one)`);
    for (const { id } of nodes) await person.sees(id);
    const shards = "return [...document.querySelectorAll('main table td')]"
      + '.map(({ textContent }) => textContent).filter((text) => /of 16$/.test(text)).sort();';
    await person.gives(shards, ['5 of 16', '5 of 16', '6 of 16']);
    await third.app.close();
    await person.gives(shards, ['8 of 16', '8 of 16']);
  }));
