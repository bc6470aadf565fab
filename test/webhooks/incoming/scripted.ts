/** A webhook whose action does as a test says, and requests that name their event. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';
import { startRelay, type Answer, type Relay, type RelayOptions } from '../relay.ts';

/** Does as it is told, and counts its runs. */
export class Scripted {
  static runs: { readonly attempt: number; readonly request: string | null }[] = [];
  static fails = false;
  /** Changes what it is given. */
  static changes = false;
  /** Those that hold a run back. */
  static gates: (() => void)[] = [];
  static isHeld = false;
  static identifier(): string { return 'scripted'; }
  static label(): string { return 'Scripted'; }
  async execute(
    payload: { readonly echo?: unknown }, { attempt, request, headers }: {
      readonly attempt: number; readonly request: string | null; readonly headers: object;
    },
  ): Promise<object> {
    Scripted.runs.push({ attempt, request });
    if (Scripted.changes) {
      Object.assign(payload, { id: 'changed' });
      Object.assign(headers, { 'x-event-id': 'changed' });
    }
    if (Scripted.isHeld) await new Promise<void>((resolve) => void Scripted.gates.push(resolve));
    return { success: !Scripted.fails, message: Scripted.fails ? 'no' : null, data: payload };
  }
}

export function reset(): void {
  Object.assign(Scripted, { runs: [], fails: false, changes: false, gates: [], isHeld: false });
}

export function release(): void {
  Scripted.isHeld = false;
  for (const open of Scripted.gates.splice(0)) open();
}

export type Shown = Readonly<Record<string, unknown>>;
export const SECRET = 's'.repeat(40);
/** Its sender signs neither id nor time, so another body is another event. */
export const HEADER = { deduplicate: { header: 'X-Event-Id' } };
/** Its sender signs the body, and with it the id. */
export const SIGNED = { secret: SECRET, deduplicate: { json: 'id' } };
export const ACCEPTED = { inbox: 'all', answer: 'accepted' };

export async function start(
  context: TestContext, hook: object, options: RelayOptions = {},
): Promise<Relay> {
  reset();
  const relay = await startRelay({ ...options, actions: [Scripted] });
  context.after(async () => {
    release();
    await relay.close();
  });
  const made = await relay.hook({ actionType: 'scripted' }, hook);
  assert.equal(made.status, 201, made.text);
  return relay;
}

export function send(relay: Relay, id: string, more: object = {}): Promise<Answer> {
  const body = JSON.stringify({ id, ...more });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  return relay.ask('POST', '/webhook/in/hook', body, {
    'X-Event-Id': id, 'X-Signature': `sha256=${signature}`,
  });
}

export const message = ({ status, json }: Answer): unknown => [status, json['message']];

export async function kept(relay: Relay): Promise<readonly Shown[]> {
  return JSON.parse((await relay.ask('GET', '/api/requests?limit=200')).text);
}
