/** Actions in the console, and above all commands, used as a person does, in a real browser. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { Person } from '../support/person.ts';
import { createTemporaryFolder, inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';
import { openScreen } from './console-look.ts';
import { startServer } from './processes.ts';

const skip = lacksBrowser;
const commands = createTemporaryFolder();
const at = new ConsoleAtWork({
  HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: commands,
  HOOKSHELF_ACTIONS_ENVIRONMENT: 'STAGE,CODE,KEY,TOKEN,A,DATA,DATUM',
});

addCommand('show.sh', 'printf "%s|" "$@" "$STAGE"; cat "$KEY"; exit "$CODE"');
addCommand('other.sh', 'exit 0');
// It ends once there is a file, and after a minute in any case.
addCommand('wait.sh', 'for i in $(seq 600); do [ -e "$1" ] && exit 0; sleep 0.1; done');

function addCommand(name: string, script: string): void {
  writeFileSync(join(commands, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(commands, name), 0o755);
}

function readOptions(identifier: string): Promise<unknown> {
  return at.call('GET', `/api/action-configurations/${identifier}`).then(({ options }) => options);
}

test('an action is added, found, changed and deleted, unless a webhook uses it', {
  skip,
}, async () => {
  const { person } = at;
  await at.open('#/actions');
  await person.sees('None is set up yet.');
  await person.click('link', 'Add an action');
  await person.choose('What it does', 'Forward');
  await person.fill('textbox', 'URL', 'nowhere');
  await person.click('button', 'Add the action');
  await person.sees('Some fields cannot be saved as they are.');
  await person.gives('return document.activeElement.name;', 'url');
  await person.choose('What it does', 'Write');
  await person.gives('return location.hash;', '#/actions/new?action=log');
  await person.choose('Level', 'warning');
  await person.fill('textbox', 'Name', 'note-it');
  await person.click('button', 'Add the action');
  await person.find('heading', 'note-it');
  await person.sees('no webhook');
  await person.click('link', 'Edit');
  await person.fill('textbox', 'Description', 'Notes it');
  await at.browser.evaluate("document.querySelector('[name=level]').value = '';");
  await person.click('button', 'Save');
  await person.sees('All as they are by default.');
  const hook = await at.make('/api/incoming-webhooks',
    { pathSegment: 'noted', routes: [{ name: 'one', actionConfiguration: 'note-it' }] });
  await at.open(`#/incoming/${hook}`);
  await person.click('link', 'Action and routes');
  await person.gives("return [...document.querySelectorAll('option')].some(({ text }) => "
    + "text === 'note-it: Notes it (Write to the log)');", true);
  await at.open(`#/incoming/${hook}`);
  await person.click('link', 'Notes it (Write to the log)');
  await person.find('link', 'noted');
  await person.find('link', 'Edit');
  const names = (await person.everything()).map(({ name }) => name);
  assert.ok(!names.includes('Delete'), String(names));
  await at.call('DELETE', `/api/incoming-webhooks/${hook}`);
  await at.open('#/actions/note-it');
  await person.click('button', 'Delete');
  await person.click('button', 'Delete it');
  await person.sees('None is set up yet.');
  await at.isClean();
});

test('an action without a name is called by what it does', { skip }, async () => {
  const { person } = at;
  const id = await at.make('/api/action-configurations',
    { actionType: 'log', options: { level: 'warning' } });
  await at.open('#/actions');
  await person.click('link', 'Write to the log: warning');
  await person.find('heading', 'Write to the log: warning');
  await person.sees(id);
  await at.call('DELETE', `/api/action-configurations/${id}`);
});

test('a token that may only read sees actions, and no button to change them', {
  skip,
}, async () => {
  const { person } = at;
  await at.make('/api/action-configurations', { identifier: 'seen', actionType: 'log' });
  await at.open('#/actions/seen', 'read');
  await person.find('heading', 'seen');
  const names = (await person.everything()).map(({ name }) => name);
  assert.deepEqual(['Edit', 'Delete'].filter((name) => names.includes(name)), []);
  await at.call('DELETE', '/api/action-configurations/seen');
});

test('a command is set up by a form alone, and a run tells its output, exit code and time', {
  skip,
}, async () => {
  const { person } = at;
  await at.open('#/actions/new?action=run-command');
  await person.find('combobox', /^Command/);
  await at.looksGood();
  await person.choose(/^Command/, 'show');
  for (const text of ['{{ payload.ref }}; rm -rf /', '', '-n']) {
    await person.click('button', 'Add argument');
    if (text !== '') await at.browser.command('Input.insertText', { text });
  }
  await person.click('button', 'Add to environment');
  await at.browser.command('Input.insertText', { text: 'STAGE' });
  await person.press('Tab');
  await at.browser.command('Input.insertText', { text: '{{ headers.x-stage }}' });
  await person.click('button', 'Add to environment');
  await at.browser.command('Input.insertText', { text: 'CODE' });
  await person.press('Tab');
  await at.browser.command('Input.insertText', { text: '{{ payload.code }}' });
  await person.choose('Its output', 'Is told');
  await person.fill('spinbutton', 'Time limit', '20');
  await person.fill('spinbutton', 'Runs at once', '1');
  await person.click('DisclosureTriangle', 'More');
  await person.click('button', 'Add to files');
  await at.browser.command('Input.insertText', { text: 'KEY' });
  await person.choose('Kind', 'Decoded');
  await person.fill('textbox', 'Content', '{{ payload.key }}');
  await person.click('button', 'Add exit code');
  await at.browser.command('Input.insertText', { text: '0' });
  await at.looksGood();
  await person.fill('textbox', 'Name', 'show');
  await person.click('button', 'Add the action');
  await person.find('heading', 'show');
  assert.deepEqual(await readOptions('show'), {
    command: 'show.sh', arguments: ['{{ payload.ref }}; rm -rf /', '', '-n'],
    environment: { STAGE: '{{ headers.x-stage }}', CODE: '{{ payload.code }}' }, output: 'result',
    timeout: 20, maxCommands: 1, files: { KEY: { base64: '{{ payload.key }}' } },
    successCodes: [0],
  });
  await at.make('/api/incoming-webhooks',
    { pathSegment: 'shown', inbox: 'all', actionConfiguration: 'show' });
  const call = async (code: number): Promise<string> => {
    const { text } = await ask(`${at.url}/webhook/in/shown`, {
      method: 'POST', headers: { 'x-stage': 'test' },
      body: { ref: '$(id)', key: Buffer.from('a key').toString('base64'), code },
    });
    assert.match(text, /\$\(id\); rm -rf \/\|\|-n\|test\|a key/);
    const [request] = Object.values(await at.call('GET', '/api/requests?limit=1'));
    return String(Object(request).id);
  };
  await at.open(`#/requests/${await call(0)}`);
  await person.sees(/done in .* \(exit code 0, ran for /);
  await person.click('DisclosureTriangle', 'Output');
  await person.sees('$(id); rm -rf /||-n|test|a key');
  await at.looksGood();
  await at.open(`#/deliveries/${await call(3)}.0`);
  await person.sees(/The command failed \(exit 3\).* \(exit code 3, ran for /);
  // Of what failed the output is unfolded.
  await person.sees('$(id); rm -rf /||-n|test|a key');
  await at.isClean();
});

test('what is wrong with a command is told at its place, and what is right stays', {
  skip,
}, async () => {
  const { person } = at;
  const options = {
    command: 'other.sh', arguments: ['', 'two\nlines'], environment: { TOKEN: 'secret', A: 'b\nc' },
    stdin: 'none', files: { DATA: '{{ payload }}' }, coalesce: true, successCodes: [0, 4],
  };
  await at.make('/api/action-configurations',
    { identifier: 'other', actionType: 'run-command', options });
  const before = await readOptions('other');
  await at.open('#/actions/other');
  await person.click('link', 'Edit');
  await person.click('button', 'Save');
  await person.sees('Saved.');
  assert.deepEqual(await readOptions('other'), before);
  await person.click('link', 'Edit');
  await person.fill('textbox', 'Argument 1', '{{ payload');
  await person.click('button', 'Save');
  await person.sees('Some fields cannot be saved as they are.');
  await person.gives('return document.activeElement.name;', 'Argument 1');
  await person.fill('textbox', 'Argument 1', 'one');
  await at.browser.evaluate(`[...document.querySelectorAll('[aria-label=Variable]')]
    .find(({ value }) => value === 'DATA').value = 'no name';`);
  await person.click('button', 'Save');
  await person.sees('no name: is not the name of a variable');
  await at.browser.evaluate(`[...document.querySelectorAll('[aria-label=Variable]')]
    .find(({ value }) => value === 'no name').value = 'DATUM';`);
  await person.choose(/^Command/, 'show');
  await person.click('button', 'Save');
  await person.sees('Used by');
  assert.deepEqual(await readOptions('other'), {
    ...before as object, command: 'show.sh', arguments: ['one', 'two\nlines'],
    files: { DATUM: '{{ payload }}' },
  });
  await at.isClean();
});

test('a request that a newer one has run for is shown as coalesced', { skip }, async () => {
  const { person } = at;
  const file = join(createTemporaryFolder(), 'go');
  await at.make('/api/action-configurations', {
    identifier: 'waits', actionType: 'run-command',
    options: { command: 'wait.sh', arguments: [file], maxCommands: 1, coalesce: true },
  });
  await at.make('/api/incoming-webhooks', {
    pathSegment: 'waits', inbox: 'all', answer: 'accepted', actionConfiguration: 'waits',
  });
  for (const order of ['first', 'second', 'third']) {
    const { status } = await ask(`${at.url}/webhook/in/waits`, { method: 'POST', body: { order } });
    assert.equal(status, 200);
  }
  await until('one is coalesced', async () => Object.values(
    await at.call('GET', '/api/deliveries?kind=route&status=coalesced')).length > 0);
  await at.open('#/deliveries?kind=route&status=coalesced');
  await person.click('link', /^now$| ago$/);
  await person.sees('coalesced: a newer request ran for it');
  await at.looksGood();
  await person.click('link', 'To its request');
  await person.sees(/default\s+coalesced/);
  writeFileSync(file, '');
  await at.isClean();
});

test('an action that is switched off says so where it is looked for', { skip }, async () => {
  const { person } = at;
  await at.open('#/requests');
  await person.find('heading', 'Requests');
  // As the server lists a module that has stopped its worker three times in a minute.
  await at.browser.evaluate(`const send = window.fetch;
    window.fetch = async (path, options) => {
      const response = await send(path, options);
      if (path !== '/api/actions') return response;
      const switchedOffUntil = new Date(Date.now() + 60_000).toISOString();
      const actions = (await response.json()).map((action) => action.identifier === 'log'
        ? { ...action, isBuiltIn: false, module: 'log.mjs', switchedOffUntil } : action);
      return new Response(JSON.stringify(actions), response);
    };`);
  for (const screen of ['Overview', 'Actions']) {
    await person.click('link', screen);
    await person.sees(/log\.mjs\s+switched off runs again in \d+ ?s/);
  }
});

test('an action that is not there any more says so at its webhook, and what to do', {
  skip,
}, () => inFolder(async (data) => {
  const person = new Person(at.browser);
  const start = (isSet: boolean): ReturnType<typeof startServer> => startServer(['--data', data],
    { environment: isSet ? { HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: commands } : {} });
  let server = await start(true);
  try {
    await ask(`${server.url}/api/action-configurations`, {
      method: 'POST',
      body: { identifier: 'shown', actionType: 'run-command', options: { command: 'other.sh' } },
    });
    const { text } = await ask(`${server.url}/api/incoming-webhooks`,
      { method: 'POST', body: { pathSegment: 'gone', actionConfiguration: 'shown' } });
    await server.stop();
    server = await start(false);
    const remedy = 'missing name the folder of its programs in the setting '
      + 'actions.commandDirectory, and start again';
    for (const screen of
      ['#/', `#/incoming/${JSON.parse(text).identifier}`, '#/actions/shown']) {
      await openScreen(at.browser, server.url, screen);
      await person.sees(remedy);
    }
  } finally {
    await server.stop();
  }
}));
