/** A server with something of everything on it, as hostile as what comes from outside may be. */
import assert from 'node:assert/strict';
import { addRecord, ask } from './ask.ts';

const SCRIPT = '<script>window.hacked = true</script><img src=x onerror="window.hacked = true">';
const BIDI = '\u202egnp.exe\u2066';

/** Addresses of screens that show what was stored. */
export async function seedHostile(url: string): Promise<readonly string[]> {
  const add = (path: string, body: unknown): Promise<string> => addRecord(url + path, body);
  const book = await add('/api/books', {
    title: `${SCRIPT} ${BIDI}`, authors: [{ name: SCRIPT, url: 'https://example.com/a' }],
    keywords: [BIDI, 'x'.repeat(200)], metadata: { [SCRIPT]: SCRIPT },
    description: 'y'.repeat(5000),
  });
  await add('/api/books', { title: 'w'.repeat(1000), authors: [{ name: 'z'.repeat(300) }] });
  const actionConfiguration = await add('/api/action-configurations', {
    actionType: 'log', options: {}, description: `${SCRIPT} ${BIDI}`,
  });
  const hook = await add('/api/incoming-webhooks', {
    pathSegment: 'hostile', name: 'h'.repeat(64), description: `${SCRIPT} ${BIDI}`, inbox: 'all',
    actionConfiguration,
  });
  await ask(`${url}/webhook/in/hostile`, {
    method: 'POST', body: { text: SCRIPT, [BIDI]: BIDI },
    headers: { 'x-hostile': SCRIPT, 'x-long': 'h'.repeat(4000) },
  });
  await ask(`${url}/webhook/in/hostile`, {
    method: 'POST', headers: { 'content-type': 'text/html' }, raw: 'b'.repeat(1024 * 1024 - 100),
  });
  const target = await add('/api/outgoing-webhooks', {
    targetUrl: `http://127.0.0.1:9/${'t'.repeat(300)}`, triggerEvent: 'hostile.*',
    name: 'o'.repeat(64), description: 'd'.repeat(500),
  });
  const event = { name: 'hostile.event', payload: { text: SCRIPT, bidi: BIDI } };
  assert.equal((await ask(`${url}/api/events`, { method: 'POST', body: event })).status, 202);
  const hashes = async (screen: string): Promise<string[]> => {
    const found: Record<string, unknown>[] = JSON.parse((await ask(`${url}/api/${screen}`)).text);
    return found.map(({ id, identifier }) => `#/${screen}/${String(id ?? identifier)}`);
  };
  return [
    `#/books/${book}`, `#/incoming/${hook}`, `#/actions/${actionConfiguration}`,
    `#/outgoing/${target}`,
    ...await hashes('requests'), ...await hashes('deliveries'),
  ];
}
