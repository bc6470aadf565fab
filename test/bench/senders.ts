/** Incoming webhooks of senders: what a preset costs beside our own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sender } from '../support/senders/signer.ts';
import { sendAs, senderOf } from '../support/senders/table.ts';
import { rawPost, runCommand, temporaryFolder } from './books.ts';
import { ours } from './catalog.ts';
import { compare } from './harness.ts';
import type { Contestant } from './harness.ts';
import { NOTHING_ACTION, makeBody } from './relay.ts';

/** One of each way to sign by HMAC: what is signed, where the time stands, how keys are read. */
const PRESETS = ['hookshelf', 'github', 'shopify', 'stripe', 'slack', 'standard', 'square',
  'linear', 'twilio'] as const;

export async function incomingSenders(): Promise<void> {
  await compare({
    title: 'Incoming POST, 1 KB, verified by a preset, action that does nothing, 64 connections',
    target: '0.91 of the preset hookshelf, so that none costs more than 1.1 times',
    contestants: PRESETS.map((preset) => contestant(senderOf(preset), preset)),
    connections: 64,
    expectedStatus: 200,
  });
  // Of a form, which is longer: what Twilio signs, signed by our own preset too.
  const twilio = senderOf('twilio');
  const key = twilio.makeKey('bench');
  const { body, headers } = sendAs(twilio, key, { body: Buffer.from(makeBody()) });
  const type = headers['Content-Type'] ?? '';
  await compare({
    title: 'The same of a form',
    target: '0.91 of the preset hookshelf given the same form',
    contestants: [
      contestant(senderOf('hookshelf'), 'hookshelf', { body, type }),
      contestant(twilio, 'twilio'),
    ],
    connections: 64,
    expectedStatus: 200,
  });
}

function contestant(
  sender: Sender, preset: string, form: { body: Buffer; type: string } | null = null,
): Contestant {
  const key = sender.makeKey('bench');
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'actions'), { mode: 0o700 });
  writeFileSync(join(folder, 'actions/nothing.mjs'), NOTHING_ACTION, { mode: 0o600 });
  const secretPath = join(folder, 'secret.txt');
  writeFileSync(secretPath, key.secret, { mode: 0o600 });
  const data = ['--data', folder];
  const { preset: _, ...settings } = sender.verification;
  runCommand('actionconfig:create', '--action', 'nothing', '--identifier', 'bench', ...data);
  runCommand('incomingwebhook:create', '--path-segment', 'x', '--action-config', 'bench',
    '--secret-file', secretPath, '--preset', preset,
    ...Object.keys(settings).length === 0 ? [] : ['--verification', JSON.stringify(settings)],
    ...data);
  return {
    ...ours(folder), name: preset,
    requests() {
      const given = form?.body ?? Buffer.from(makeBody());
      const { headers, query, body } = sendAs(sender, key, { body: given });
      const lines = Object.entries(headers).filter(([name]) => name !== 'Content-Type')
        .map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const request = rawPost(`/webhook/in/x${query === '' ? '' : `?${query}`}`, body.toString(),
        lines);
      const type = form?.type ?? headers['Content-Type'] ?? '';
      return [request.replace(/^Content-Type: .*$/m, `Content-Type: ${type}`)];
    },
  };
}
