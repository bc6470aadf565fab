/** A server with something of everything on it, as hostile as what comes from outside may be. */
import assert from 'node:assert/strict';
import { ask } from './ask.ts';

const SCRIPT = '<script>window.hacked = true</script><img src=x onerror="window.hacked = true">';
const BIDI = '\u202egnp.exe\u2066';

/** Addresses of screens that show what was stored. */
export async function seedHostile(url: string): Promise<readonly string[]> {
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const { status, text } = await ask(url + path, { method: 'POST', body });
    assert.ok(status < 300, `${path}: ${status} ${text}`);
    return JSON.parse(text);
  };
  const book = await post('/api/books', {
    title: `${SCRIPT} ${BIDI}`, authors: [{ name: SCRIPT, url: 'https://example.com/a' }],
    keywords: [BIDI, 'x'.repeat(200)], metadata: { [SCRIPT]: SCRIPT },
    description: 'y'.repeat(5000),
  });
  await post('/api/books', { title: 'w'.repeat(1000), authors: [{ name: 'z'.repeat(300) }] });
  const action = await post('/api/action-configurations', {
    actionType: 'log', options: {}, description: `${SCRIPT} ${BIDI}`,
  });
  const hook = await post('/api/incoming-webhooks', {
    pathSegment: 'hostile', name: 'h'.repeat(64), description: `${SCRIPT} ${BIDI}`, inbox: 'all',
    actionConfiguration: action['identifier'],
  });
  await ask(`${url}/webhook/in/hostile`, {
    method: 'POST', body: { text: SCRIPT, [BIDI]: BIDI },
    headers: { 'x-hostile': SCRIPT, 'x-long': 'h'.repeat(4000) },
  });
  await ask(`${url}/webhook/in/hostile`, {
    method: 'POST', headers: { 'content-type': 'text/html' }, raw: 'b'.repeat(1024 * 1024 - 100),
  });
  const target = await post('/api/outgoing-webhooks', {
    targetUrl: `http://127.0.0.1:9/${'t'.repeat(300)}`, triggerEvent: 'hostile.*',
    name: 'o'.repeat(64), description: 'd'.repeat(500),
  });
  await post('/api/events', { name: 'hostile.event', payload: { text: SCRIPT, bidi: BIDI } });
  const hashes = async (screen: string): Promise<string[]> => {
    const found: Record<string, unknown>[] = JSON.parse((await ask(`${url}/api/${screen}`)).text);
    return found.map(({ id, identifier }) => `#/${screen}/${String(id ?? identifier)}`);
  };
  return [
    `#/books/${String(book['id'])}`, `#/incoming/${String(hook['identifier'])}`,
    `#/outgoing/${String(target['identifier'])}`,
    ...await hashes('requests'), ...await hashes('deliveries'),
  ];
}
