/** A configuration document in the console: pasted, its plan seen, applied; in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const SCREEN = '#/settings/configuration';
/** What of the document is selected, with the line on which it begins. */
const SELECTED = `const { value, selectionStart, selectionEnd } = document.activeElement;
  return [value.slice(0, selectionStart).split('\\n').length,
    value.slice(selectionStart, selectionEnd)];`;
const at = new ConsoleAtWork();

function makeDocument(level: string, hooks: readonly object[]): string {
  return JSON.stringify({
    actionConfigurations: [{ identifier: 'note-it', actionType: 'log', options: { level } }],
    incomingWebhooks: hooks.map((hook) => ({ actionConfiguration: 'note-it', ...hook })),
  }, null, 2);
}

async function showPlan(document: string): Promise<void> {
  await at.person.fill('textbox', 'The document', document);
  await at.person.click('button', 'Show the plan');
}

async function apply(): Promise<void> {
  await at.person.click('button', 'Apply it');
  await at.person.find('dialog', 'Apply the document?');
  await at.browser.evaluate(
    "[...document.querySelectorAll('dialog button')].find((one) => "
    + "one.innerText === 'Apply it').click();");
}

async function listPaths(): Promise<unknown[]> {
  return Object.values(await at.call('GET', '/api/incoming-webhooks'))
    .map((hook) => Object(hook).pathSegment).sort();
}

test('a document is applied once its plan was seen, with what it leaves open', {
  skip,
}, async () => {
  const { person } = at;
  const hooks = [
    { pathSegment: 'gh', verification: { preset: 'github' }, secret: { $env: 'GH_SECRET' } },
    { pathSegment: 'old', secret: { $file: 'old.txt' } },
  ];
  await at.open('#/settings');
  await person.click('link', 'Configuration as a file');
  await showPlan(makeDocument('info', hooks));
  await person.sees('The document leaves values open');
  await person.gives('return document.activeElement.name;', 'GH_SECRET');
  assert.deepEqual(await listPaths(), []);
  await person.fill('textbox', /^GH_SECRET/, 'a secret of this test');
  await person.fill('textbox', /^old\.txt/, 'another\n');
  await person.click('button', 'Show the plan');
  await person.sees(/\+ add action configuration note-it\s+\+ add incoming webhook gh/);
  await at.looksGood();
  assert.deepEqual(await listPaths(), []);
  await apply();
  await person.sees('What was changed');
  assert.deepEqual(await listPaths(), ['gh', 'old']);
  await person.click('button', 'Show the plan');
  await person.sees('Nothing: all is as the document says.');
  await person.sees('= 3 records unchanged');
  await at.isClean();
});

test('what is lost is told before it is, and goes only on a yes', { skip }, async () => {
  const { person } = at;
  await at.open(SCREEN);
  await person.click('checkbox', 'Remove what is gone from it');
  await showPlan(makeDocument('warning', [
    { pathSegment: 'gh', verification: { preset: 'github' } },
  ]));
  await person.sees(/~ change action configuration note-it\s+options: .*"info".* → .*"warning"/);
  await person.sees(/~ change incoming webhook gh\s+secret removed/);
  await person.sees(/- remove incoming webhook old/);
  await person.click('button', 'Apply it');
  await person.sees('2 records changed, 1 record removed, all in one. '
    + 'The secret of incoming webhook gh is removed.');
  await person.click('DisclosureTriangle', 'As a command');
  await person.sees('hookshelf apply --file shelf.json --prune');
  await at.looksGood();
  await person.press('Escape');
  assert.deepEqual(await listPaths(), ['gh', 'old']);
  await person.click('checkbox', 'Remove what is gone from it');
  await person.sees('~ change', false);
  await person.click('checkbox', 'Remove what is gone from it');
  await person.click('button', 'Show the plan');
  await apply();
  await person.sees('What was changed');
  assert.deepEqual(await listPaths(), ['gh']);
  await at.isClean();
});

test('when something was changed meanwhile nothing is done, and the plan is new', {
  skip,
}, async () => {
  const { person } = at;
  await at.open(SCREEN);
  await showPlan(makeDocument('error', []));
  await person.sees(/~ change action configuration note-it\s+options: .*"error"/);
  await at.call('PATCH', '/api/action-configurations/note-it', { options: { level: 'error' } });
  await apply();
  await person.sees('Something was changed meanwhile, so nothing was done.');
  await person.sees('Nothing: all is as the document says.');
  await at.isClean();
});

test('what is wrong is told with its line, and its place is selected', { skip }, async () => {
  const { person } = at;
  await at.open(SCREEN);
  await showPlan('{\n  "incomingWebhooks": [\n    {},\n  ]\n}');
  await person.sees(/This is no JSON\.\s+Line 4: column 3: a comma may not stand before the end/);
  await person.gives(SELECTED, [4, ']']);
  await at.looksGood();
  await showPlan('[]');
  await person.sees('The document must be an object.');
  const routes = [{ name: 'main', actionConfiguration: 'note-it', order: 'nobody' }];
  await showPlan(`{\n "incomingWebhooks": [\n  {"pathSegment": "new",\n   "routes": ${
    JSON.stringify(routes)}}],\n "outgoingWebhooks": [\n  {"name": "crm",\n   "targetUrl": "x"}]}`);
  await person.sees('The document cannot be applied as it is. Nothing was changed.');
  await person.click('button', 'Line 4');
  await person.gives(SELECTED, [4, '"nobody"']);
  await at.isClean();
});

test('a file is read, and a document that is exported can be applied', { skip }, async () => {
  const { person } = at;
  await at.open(SCREEN);
  await person.find('button', 'Download shelf.json');
  await at.browser.evaluate(`window.file = new Promise((resolve) => {
    URL.createObjectURL = (blob) => { resolve(blob); return '#'; };
    HTMLAnchorElement.prototype.click = () => {};
  });`);
  await person.click('button', 'Download shelf.json');
  await person.sees('It leaves nothing to be set.');
  await at.browser.evaluate(`return window.file.then((blob) => {
    const files = new DataTransfer();
    files.items.add(new File([blob], 'shelf.json'));
    const input = document.querySelector('[name=file]');
    input.files = files.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
  });`);
  await person.gives("return document.querySelector('[name=document]').value;", /"note-it"/);
  await person.click('button', 'Show the plan');
  await person.sees('Nothing: all is as the document says.');
  await at.isClean();
});
