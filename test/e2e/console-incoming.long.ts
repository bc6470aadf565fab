/** Incoming webhooks in the console, used as a person does, in a real browser. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { ask } from './ask.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const CHANGES = ['Edit', 'Action and routes', 'Make a secret', 'Turn off', 'Delete'];
const BASE_URI = 'https://hooks.example.org/shelf';
const at = new ConsoleAtWork({ HOOKSHELF_SERVER_BASE_URI: BASE_URI });

test('one sets up GitHub from nothing, up to its first accepted request', { skip }, async () => {
  const { person } = at;
  await at.open('#/incoming');
  await person.sees('There is none yet.');
  await person.click('link', 'Add a webhook');
  await person.choose('Sender', 'GitHub');
  await person.sees('At GitHub the address goes to: repository or organisation, Settings');
  await person.sees('Leave the secret empty and one is made.');
  await person.sees('it stays as it is', false);
  await person.sees('After a change', false);
  await person.sees(`The sender calls ${BASE_URI}/webhook/in/github.`);
  await person.click('button', 'Next: what is done');
  await person.choose('Action', 'Forward');
  await person.fill('textbox', 'URL', 'nowhere');
  await person.click('button', 'Create it, then test it');
  await person.sees('must be an http');
  await person.choose('Action', 'Write');
  await person.choose('Level', 'warning');
  await person.click('button', 'Create it, then test it');
  await person.sees('Set up at GitHub');
  await person.sees('It is shown this once.');
  await person.sees(`${BASE_URI}/webhook/in/github`);
  await person.click('button', 'Send a test request');
  await person.sees('It was answered 200.');
  await person.find('link', 'See this request');
  const secret = /^[0-9a-f]{64}$/m.exec(await person.text())?.[0] ?? '';
  const raw = '{"action":"opened"}';
  const signature = createHmac('sha256', secret).update(raw).digest('hex');
  const answer = await ask(`${at.url}/webhook/in/github`, {
    method: 'POST', raw, headers: {
      'content-type': 'application/json', 'x-github-event': 'issues',
      'x-hub-signature-256': `sha256=${signature}`,
    },
  });
  assert.equal(answer.status, 200, answer.text);
  await person.click('link', 'Done');
  await person.sees('Since the server started');
  await person.sees('Write to the log: warning, for every request.');
  await person.sees(secret);
  await person.sees(/Keeps\s+every request/);
  await person.click('button', 'Rotate the secret');
  await person.click('button', 'Make a new secret');
  await person.click('button', 'I have it');
  await person.sees(secret, false);
  await person.click('link', '← Incoming webhooks');
  await person.sees('100 %');
  await person.find('image', 'Requests in the last 24 hours');
  await at.isClean();
});

test('the path follows the sender, and a secret that is lacking is given at the test', { skip },
  async () => {
    const { person } = at;
    await at.makeIncoming('stripe');
    const path = "return document.querySelector('[name=pathSegment]').value;";
    await at.open('#/incoming/new');
    await person.choose('Sender', 'Shopify');
    await person.gives(path, 'shopify');
    await person.choose('Sender', 'Stripe');
    await person.gives(path, 'stripe-2');
    await person.click('button', 'Next: what is done');
    await person.choose('Action', 'Write');
    await person.click('button', 'Create it, then test it');
    await person.sees('It has none yet, and every request is refused.');
    await person.sees('Sends a request without a signature.');
    await person.click('button', 'Save the secret');
    await person.sees('Secret: it is empty.');
    await person.fill('textbox', 'Secret', 'whsec_of_stripe');
    await person.click('button', 'Save the secret');
    await person.sees('The secret, at Stripe: shown on the page of the endpoint');
    await person.sees('It is set, and cannot be read again. Only Stripe makes another.');
    await person.sees('Not confirmed by Stripe: answer within 20 s');
    await person.find('link', 'Change the secret');
    await person.click('button', 'Send a test request');
    await person.sees('It was answered 200.');
    await person.find('link', 'See this request');
    await person.click('link', 'Done');
    await person.find('button', 'Turn off');
    await person.sees('Rotate the secret', false);
    await person.click('link', 'Deliveries');
    await person.sees('What the action of an incoming one sends at once is of the kind “route”');
    await at.isClean();
  });

test('a test request leads to what became of it', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('tried');
  await ask(`${at.url}/webhook/in/tried`, { method: 'POST', body: { by: 'another' } });
  await at.open(`#/incoming/${id}?step=test`);
  await person.click('button', 'Send a test request');
  await ask(`${at.url}/webhook/in/tried`, { method: 'POST', body: { by: 'another' } });
  await person.click('link', 'See this request');
  await person.find('heading', 'What was done');
  await person.sees('another', false);
});

test('a scheme that lacks members is told which', { skip }, async () => {
  const { person } = at;
  await at.open('#/incoming/new');
  await person.choose('Sender', 'anyone else');
  await person.fill('textbox', 'Path', 'of-a-scheme');
  await person.fill('textbox', 'Scheme',
    '{"algorithm": "token", "signature": {"from": {"query": "secret"}}}');
  await person.click('button', 'Next: what is done');
  await person.sees(/key: is required.*; signature\.encoding: is required/);
  await person.fill('textbox', 'Scheme', '{');
  await person.sees('signature.encoding', false);
  await person.click('button', 'Next: what is done');
  await person.sees('Scheme is not valid JSON at line 1, column');
});

test('a token in a header takes its name alone', { skip }, async () => {
  const { person } = at;
  await at.open('#/incoming/new');
  await person.choose('Sender', 'A token');
  await person.sees('Leave the secret empty and one is made.');
  await person.fill('textbox', 'Path', 'of-a-token');
  await person.click('button', 'Next: what is done');
  await person.sees(/Where the token stands.*is required/s);
  await person.choose(/^Where the token stands/, 'In the header');
  await person.fill('textbox', 'Such as X-Token', 'X Token');
  await person.click('button', 'Next: what is done');
  await person.sees(/Where the token stands.*header/s);
  await person.fill('textbox', 'Such as X-Token', 'X-Token');
  await person.click('button', 'Next: what is done');
  await person.choose('Action', 'Write');
  await person.click('button', 'Create it, then test it');
  await person.click('button', 'Send a test request');
  await person.sees('It was answered 200.');
  const refused = await ask(`${at.url}/webhook/in/of-a-token`, {
    method: 'POST', body: {}, headers: { 'x-token': 'another' },
  });
  assert.equal(refused.status, 401);
  await person.click('link', 'Done');
  await person.click('link', 'Edit');
  await person.choose('Sender', 'A token');
  await person.choose(/^Where the token stands/, 'In the parameter');
  await person.fill('textbox', 'Such as token', 'key');
  await person.click('button', 'Save');
  await person.sees('Saved.');
  const { verification } = await at.call('GET', '/api/incoming-webhooks/of-a-token');
  assert.deepEqual(verification, { preset: 'custom', scheme: {
    algorithm: 'token', key: 'utf8', content: '',
    signature: { from: { query: 'key' }, encoding: 'utf8' },
  } });
  await at.isClean();
});

test('a path that is taken is told beside its field', { skip }, async () => {
  const { person } = at;
  await at.makeIncoming('taken');
  await at.open('#/incoming/new');
  await person.fill('textbox', 'Path', 'taken');
  await person.click('button', 'Next: what is done');
  await person.sees(/taken.*(another|already|exists|unique)/is);
});

test('the list of requests says how many came that are not kept', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('quiet');
  await at.call('PATCH', `/api/incoming-webhooks/${id}`, { inbox: 'failed' });
  const { status } = await ask(`${at.url}/webhook/in/quiet`, { method: 'POST', body: {} });
  assert.equal(status, 200);
  await at.open('#/requests?hook=quiet');
  await person.sees(/quiet keeps failed requests only: 1 accepted one since .* is not listed/);
  await person.click('link', 'Change what it keeps');
  await person.sees(/Keeps\s+requests whose action failed/);
});

test('routes are made of rows, moved, and tried with a kept request', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('routed');
  const { status } = await ask(`${at.url}/webhook/in/routed`, {
    method: 'POST', body: { action: 'opened', size: 5 },
  });
  assert.equal(status, 200);
  await at.open(`#/incoming/${id}`);
  await person.click('link', 'Action and routes');
  await person.choose('Action', 'None');
  await person.click('button', 'Add route');
  await person.fill('textbox', 'Name', 'closed');
  await person.click('button', 'Add a condition');
  await person.fill('textbox', 'What is looked at', 'body.action');
  await person.fill('textbox', 'With what', 'closed');
  await person.click('button', 'Save');
  await person.sees(/payload.*headers/);
  await person.fill('textbox', 'What is looked at', 'payload.action');
  await person.click('button', 'Save');
  await person.sees('when payload.action is closed');
  await person.click('link', 'Action and routes');
  await person.click('button', 'Add route');
  await person.click('button', 'Up Route 2');
  await person.fill('textbox', 'Name', 'large');
  await person.click('button', 'Add a group');
  await person.fill('textbox', 'What is looked at', 'payload.size');
  await person.choose('How it is compared', 'is at l');
  await person.fill('textbox', 'With what', '5');
  await person.click('button', 'Save');
  await person.sees('when payload.size is at least 5');
  const { routes } = await at.call('GET', `/api/incoming-webhooks/${id}`);
  assert.ok(Array.isArray(routes));
  assert.deepEqual(routes.map(({ name, when }) => [name, when]), [
    ['large', { path: 'payload.size', op: 'gte', value: 5 }],
    ['closed', { path: 'payload.action', op: 'eq', value: 'closed' }],
  ]);
  await person.click('button', 'Try it');
  await person.sees(/large would run/);
  await person.sees(/closed left out payload.action is "opened", wanted: eq "closed"/);
  await person.click('link', 'Action and routes');
  await person.click('button', 'Remove Route 2');
  await person.click('button', 'Save');
  await person.sees('closed', false);
  await at.isClean();
});

test('an edit meets the change of somebody else, and shows both', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('edited');
  await at.open(`#/incoming/${id}`);
  await person.click('link', 'Edit');
  await person.fill('textbox', 'Path', 'no good');
  await person.click('button', 'Save');
  await person.sees('Some fields cannot be saved as they are.');
  await person.fill('textbox', 'Path', 'mine');
  await at.call('PATCH', `/api/incoming-webhooks/${id}`, { pathSegment: 'theirs' });
  await person.click('button', 'Save');
  await person.sees('Somebody else has saved another version.');
  await person.find('cell', 'mine');
  await person.find('cell', 'theirs');
  await person.choose('Path to be saved', 'Yours');
  await person.click('button', 'Save them together');
  await person.find('heading', 'mine');
  const stored = await at.call('GET', `/api/incoming-webhooks/${id}`);
  assert.deepEqual([stored['pathSegment'], stored['inbox'], stored['enabled']],
    ['mine', 'all', true]);
});

test('what another has stored can be taken, and one can go on editing', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('stored');
  const stored = async (): Promise<unknown> =>
    (await at.call('GET', `/api/incoming-webhooks/${id}`))['pathSegment'];
  await at.open(`#/incoming/${id}`);
  await person.click('link', 'Edit');
  await person.fill('textbox', 'Path', 'mine');
  await at.call('PATCH', `/api/incoming-webhooks/${id}`, { pathSegment: 'of-another' });
  await person.click('button', 'Save');
  await person.find('dialog', 'It was changed meanwhile');
  await person.click('button', 'Go on editing');
  await person.sees('Somebody else has saved another version.', false);
  const typed = "return document.querySelector('[name=pathSegment]').value;";
  await person.gives(typed, 'mine');
  assert.equal(await stored(), 'of-another');
  await person.click('button', 'Save');
  await person.find('dialog', 'It was changed meanwhile');
  await person.press('Escape');
  await person.sees('Somebody else has saved another version.', false);
  await person.gives(typed, 'mine');
  await person.click('button', 'Save');
  await person.click('button', 'Take the stored one');
  await person.find('heading', 'of-another');
  assert.equal(await stored(), 'of-another');
  assert.doesNotMatch(await person.text(), /Saved\./);
});

test('an action is made beside a form, and a condition written as JSON', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('conditional');
  await at.open(`#/incoming/${id}`);
  await person.click('link', 'Action and routes');
  await person.choose('Action', 'None');
  await person.click('button', 'Add route');
  await person.fill('textbox', 'Name', 'opened');
  await person.click('button', /New action/);
  await person.sees('Use it');
  await person.gives("return document.querySelectorAll('dialog').length;", 1);
  await person.press('Escape');
  await person.sees('Use it', false);
  await at.browser.evaluate(
    "[...document.querySelectorAll('button')].findLast(({ innerText }) => "
    + "innerText === 'New action…').click();");
  await person.find('dialog', 'New action');
  await person.choose(/^Action$/, 'Forward');
  await person.fill('textbox', 'URL', 'nowhere');
  await person.click('button', 'Use it');
  await person.sees('must be an http');
  await person.choose(/^Action$/, 'Write');
  await person.choose('Level', 'error');
  await person.click('button', 'Use it');
  await person.sees('Use it', false);
  await person.click('button', 'Add a condition');
  await person.fill('textbox', 'What is looked at', 'payload.action');
  await person.fill('textbox', 'With what', 'opened');
  await person.click('button', 'As JSON');
  const when = { path: 'payload.action', op: 'eq', value: 'opened' };
  const shown = "return JSON.parse(document.querySelector('textarea')?.value ?? 'null');";
  await person.gives(shown, when);
  await person.fill('textbox', 'The condition as JSON', '{');
  await person.click('button', 'As rows');
  await person.sees('The condition as JSON is not valid JSON at line 1, column');
  const both = { all: [when, { path: 'payload.size', op: 'gt', value: 3 }] };
  await person.fill('textbox', 'The condition as JSON', JSON.stringify(both));
  await person.click('button', 'As rows');
  await person.find('button', 'Remove condition 2');
  await person.click('button', 'As JSON');
  await person.click('button', 'Save');
  await person.sees('payload.size is more than 3');
  const { routes } = await at.call('GET', `/api/incoming-webhooks/${id}`);
  assert.ok(Array.isArray(routes));
  assert.deepEqual(routes.map(({ when: stored }) => stored), [both]);
  const made = await at.call('GET', `/api/action-configurations/${routes[0].actionConfiguration}`);
  assert.deepEqual(made['options'], { level: 'error' });
  await at.isClean();
});

test('a secret is rotated, and a webhook turned off, on and deleted', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('ending');
  const enabled = async (): Promise<unknown> =>
    (await at.call('GET', `/api/incoming-webhooks/${id}`))['enabled'];
  await at.open(`#/incoming/${id}`);
  await person.click('button', 'Make a secret');
  await person.sees('What is not signed with it is refused from then on.');
  await person.click('button', 'Make a new secret');
  await person.sees('It is shown this once.');
  await person.sees('The old one', false);
  await person.press('Escape');
  await person.sees('I have it', false);
  await person.sees(/^[0-9a-f]{64}$/m);
  await person.sees('X-Signature');
  await person.click('link', 'Edit');
  await person.click('button', 'Cancel');
  await person.sees(/^[0-9a-f]{64}$/m);
  await person.click('link', 'Edit');
  await person.click('button', 'Save');
  await person.find('button', 'Turn off');
  await person.sees(/^[0-9a-f]{64}$/m, false);
  await person.click('button', 'Turn off');
  await person.find('button', 'Turn on');
  assert.equal(await enabled(), false);
  await person.click('button', 'Turn on');
  await person.find('button', 'Turn off');
  assert.equal(await enabled(), true);
  await person.click('button', 'Delete');
  await person.sees('Its secret and its settings will be lost');
  await person.press('Escape');
  await person.sees('will be lost', false);
  await person.click('button', 'Delete');
  await person.click('DisclosureTriangle', 'As a command');
  await person.sees(`hookshelf incomingwebhook:delete --identifier ${id}`);
  await person.click('button', 'Delete it');
  await person.find('heading', 'Incoming webhooks');
  await person.sees('ending', false);
  await at.isClean();
});

test('a token that reads sees no button that it may not press', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('looked-at');
  await at.open(`#/incoming/${id}`, 'read');
  await person.find('link', 'Its requests');
  const names = (await person.everything()).map(({ name }) => name);
  assert.deepEqual([...CHANGES, 'Send a test request', 'Try it']
    .filter((name) => names.includes(name)), []);
  await at.open('#/incoming', 'read');
  await person.sees('looked-at');
  const links = (await person.everything()).map(({ name }) => name);
  assert.ok(!links.includes('Add a webhook'));
});

test('a token that writes can neither change a webhook nor sign for it', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('tested');
  await at.open(`#/incoming/${id}`, 'write');
  await person.find('link', 'Its requests');
  const names = (await person.everything()).map(({ name }) => name);
  assert.deepEqual([...CHANGES, 'Send a test request'].filter((name) => names.includes(name)), []);
});

test('one gives a webhook an answer of its own', { skip }, async () => {
  const { person } = at;
  const id = await at.makeIncoming('answers');
  await at.open(`#/incoming/${id}`);
  await person.click('link', 'Edit');
  await person.click('DisclosureTriangle', 'More');
  await person.fill('textbox', 'Body', 'thanks{{ message');
  await person.fill('spinbutton', 'Status', '302');
  await person.click('button', 'Save');
  await person.sees('from 200 to 299');
  await person.fill('spinbutton', 'Status', '202');
  await person.click('button', 'Save');
  await person.sees('not closed with }}');
  await person.fill('textbox', 'Body', 'thanks{{ message }}');
  await person.click('button', 'Save');
  await person.sees('accepted 202');
  const { status, text } = await ask(`${at.url}/webhook/in/answers`, { method: 'POST', body: {} });
  assert.deepEqual([status, text], [202, 'thanks']);
  await at.isClean();
});
