/** Incoming webhooks of senders: what a preset costs beside our own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hub } from '../support/senders/families.ts';
import { FORM_TYPE, hmacKey, row, type Sender } from '../support/senders/signer.ts';
import { sendAs, senderOf } from '../support/senders/table.ts';
import { rawPost, runCommand, temporaryFolder } from './books.ts';
import { ours } from './catalog.ts';
import { compare } from './harness.ts';
import type { Contestant } from './harness.ts';
import { NOTHING_ACTION, makeBody } from './relay.ts';

/** One of each way to sign JSON by HMAC: what is signed, where the time is, how keys are read. */
const PRESETS = ['hookshelf', 'github', 'shopify', 'stripe', 'slack', 'standard', 'square',
  'linear'] as const;
/** Two processes of the same program differ by a twentieth, so that three could tell of luck. */
const ROUNDS = 5;
/** The same request comes again and again, which would run no action as a duplicate. */
const NO_DUPLICATES = ['--deduplicate', 'off'] as const;

export async function incomingSenders(): Promise<void> {
  await compare({
    title: 'Incoming POST, 1 KB, verified by a preset, action that does nothing, 64 connections',
    target: '0.91 of the preset hookshelf, so that none costs more than 1.1 times',
    contestants: PRESETS.map((preset) => contestant(senderOf(preset), preset)),
    connections: 64,
    expectedStatus: 200,
    rounds: ROUNDS,
  });
  await incomingForms();
}

/** Twilio signs the fields of a form, which takes longer to read than JSON, whoever signs it. */
export async function incomingForms(): Promise<void> {
  const form = textMessage();
  await compare({
    title: 'The same of a form, 1 KB in 20 fields, as a text message comes from Twilio',
    target: '0.91 of the preset hookshelf given the same form',
    contestants: [
      contestant(hub('hookshelf', 'X-Signature'), 'hookshelf', form),
      contestant(signerOfForms(), 'twilio', form),
    ],
    connections: 64,
    expectedStatus: 200,
    rounds: ROUNDS,
  });
}

const FORM_BYTES = 1024;
const TWILIO_URL = 'https://hooks.example.com/webhook/in/x';
const SID = '0123456789abcdef0123456789abcdef';
const TEXT_MESSAGE = {
  ToCountry: 'US', ToState: 'CA', SmsMessageSid: `SM${SID}`, NumMedia: '0',
  ToCity: 'SAN FRANCISCO', FromZip: '94107', SmsSid: `SM${SID}`, FromState: 'CA',
  SmsStatus: 'received', FromCity: 'SAN FRANCISCO', Body: '', FromCountry: 'US',
  To: '+18005551212', MessagingServiceSid: `MG${SID}`, ToZip: '94105', NumSegments: '1',
  MessageSid: `SM${SID}`, AccountSid: `AC${SID}`, From: '+14158675309', ApiVersion: '2010-04-01',
};

function textMessage(): Buffer {
  const bare = new URLSearchParams(TEXT_MESSAGE).toString();
  const text = 'A book is here. '.repeat(FORM_BYTES).slice(0, FORM_BYTES - bare.length);
  return Buffer.from(new URLSearchParams({ ...TEXT_MESSAGE, Body: text }).toString());
}

function signerOfForms(): Sender {
  return row({
    preset: 'twilio', settings: { url: TWILIO_URL },
    makeKey: (seed) => hmacKey(`auth ${seed}`, 'sha1'),
    send({ sign }, { body }) {
      const fields = [...new URLSearchParams(body.toString())].map((field) => field.join(''));
      const signature = sign(Buffer.from(TWILIO_URL + fields.sort().join(''))).toString('base64');
      return { query: '', body, headers: { 'X-Twilio-Signature': signature } };
    },
  });
}

function contestant(
  sender: Sender, preset: string, form: Buffer | null = null,
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
    '--secret-file', secretPath, '--preset', preset, ...NO_DUPLICATES,
    ...Object.keys(settings).length === 0 ? [] : ['--verification', JSON.stringify(settings)],
    ...data);
  return {
    ...ours(folder), name: preset,
    requests() {
      const given = form ?? Buffer.from(makeBody());
      const { headers, query, body } = sendAs(sender, key, { body: given });
      const lines = Object.entries(headers).filter(([name]) => name !== 'Content-Type')
        .map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const request = rawPost(`/webhook/in/x${query === '' ? '' : `?${query}`}`, body.toString(),
        lines);
      const type = form === null ? headers['Content-Type'] ?? '' : FORM_TYPE['Content-Type'];
      return [request.replace(/^Content-Type: .*$/m, `Content-Type: ${type}`)];
    },
  };
}
