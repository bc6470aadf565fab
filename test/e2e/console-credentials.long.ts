/** Client credentials and certificates in the console, in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksBrowser } from '../support/browser.ts';
import { createCertificate } from '../support/tls.ts';
import { ConsoleAtWork } from './console-hooks.ts';

const skip = lacksBrowser;
const at = new ConsoleAtWork();

test('credentials and a certificate are given in the form, and stay when it is saved again', {
  skip,
}, async () => {
  const { person } = at;
  const { cert, key } = createCertificate(['us']);
  const id = await at.make('/api/outgoing-webhooks', {
    targetUrl: 'https://bank.example/', name: 'bank',
  });
  const path = `/api/outgoing-webhooks/${id}`;
  await at.open(`#/outgoing/${id}`);
  await person.click('link', 'Edit');
  await person.click('DisclosureTriangle', 'More');
  await person.fill('textbox', 'Token URL', 'https://login.example/token');
  await person.fill('textbox', 'Client id', 'an id');
  await person.fill('textbox', 'Certificate', cert);
  await person.fill('textbox', 'Key', key);
  await person.click('button', 'Save');
  await person.sees('is required');
  await person.fill('textbox', 'Client secret', 'planted');
  await person.click('button', 'Save');
  await person.sees('Saved.');
  await person.sees('https://login.example/token');
  await person.sees('CN=us');
  const saved = await at.call('GET', path);
  await person.click('link', 'Edit');
  await person.fill('textbox', 'Description', 'again');
  await person.click('button', 'Save');
  await person.sees('again');
  const again = await at.call('GET', path);
  for (const name of ['oauth2', 'clientCertificate']) assert.deepEqual(again[name], saved[name]);
  assert.equal(Reflect.get(saved['oauth2'] as object, 'clientId'), 'an id');
  await at.isClean();
});
