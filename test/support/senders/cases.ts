/** What each sender's requests are put to: one request, and what must come of it. */
import type { Key, Sender, Sent, Wanted } from './signer.ts';

/** `refused`: whichever check says so. */
export type Expected = 'current' | 'previous' | 'refused' | 'mismatch' | 'stale'
  | 'signature_missing' | 'signature_form' | 'parts';

export type Case = {
  readonly title: string;
  readonly expected: Expected;
  readonly sent: Sent & { readonly rawHeaders: readonly string[] };
  readonly secret: string;
  readonly previous: { readonly secret: string; readonly isOver: boolean } | null;
};

/** Of a body that some senders put into JSON or a form, so that the limit of 1 MiB is kept. */
const LARGE = 1_048_576;
const ROOM = 400;

const BODIES: readonly (readonly [string, Buffer])[] = [
  ['JSON', Buffer.from('{"message": "Hello, Wörld ☃!"}')],
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x80, 0x7d])],
  ['CRLF', Buffer.from('[{"a":\r\n1}]\r\n')],
  ['a byte order mark', Buffer.from('\ufeff{"a":1}')],
  ['text that looks like a template', Buffer.from('{timestamp}{body}$&$1%s')],
  ['nothing', Buffer.alloc(0)],
];

/** `nowS`: seconds since the epoch, as the verifier will see it. */
export function casesOf(sender: Sender, nowS: number): readonly Case[] {
  const keys = { current: sender.makeKey('current'), other: sender.makeKey('other') };
  const make = new Maker(sender, keys.current, keys.other, nowS);
  return [
    ...bodyCases(make), ...secretCases(make), ...ageCases(make), ...missingCases(make),
    ...spellingCases(make), ...severalCases(make),
  ];
}

class Maker {
  readonly sender: Sender;
  readonly key: Key;
  readonly other: Key;
  readonly nowS: number;

  constructor(sender: Sender, key: Key, other: Key, nowS: number) {
    this.sender = sender;
    this.key = key;
    this.other = other;
    this.nowS = nowS;
  }

  send(wanted: Partial<Wanted> = {}, key = this.key): Sent {
    const body = Buffer.from('{"message":"Hello"}');
    return this.sender.send(key, { body, atS: this.nowS, spell: (text) => text, ...wanted });
  }

  case(title: string, expected: Expected, sent: Sent, more: Partial<Case> = {}): Case {
    return {
      title, expected, secret: this.key.secret, previous: null,
      sent: { ...sent, rawHeaders: Object.entries(sent.headers).flat() }, ...more,
    };
  }
}

function bodyCases(make: Maker): readonly Case[] {
  const { coversBody } = make.sender;
  const large = Buffer.alloc(LARGE - ROOM, 'x');
  const isAsItIs = make.send({ body: large }).body.equals(large);
  const bodies = [...BODIES, ['1 MiB', isAsItIs ? Buffer.alloc(LARGE, 'x') : large] as const];
  const changed = make.send();
  return [
    ...bodies.map(([what, body]) =>
      make.case(`a body of ${what}`, 'current', make.send({ body }))),
    ...[0, 0.5, 1].map((part) => make.case(`a body with a byte changed at ${part}`,
      coversBody ? 'refused' : 'current', {
        ...changed, body: withByteChanged(changed.body, part, coversBody),
      })),
    make.case('a body with a newline added', coversBody ? 'refused' : 'current', {
      ...changed, body: Buffer.concat([changed.body, Buffer.from('\n')]),
    }),
  ];
}

/** Where the body is not covered it must stay what it is read as: only white space is added. */
function withByteChanged(body: Buffer, part: number, coversBody: boolean): Buffer {
  if (!coversBody) return Buffer.concat([body, Buffer.from(' '.repeat(1 + part * 2))]);
  const changed = Buffer.from(body);
  const index = Math.round((body.length - 1) * part);
  changed[index] = (body[index] ?? 0) ^ 1;
  return changed;
}

function secretCases(make: Maker): readonly Case[] {
  const { key, other } = make;
  const byOther = make.send({}, other);
  const rotated = { secret: other.secret };
  const during = { ...rotated, previous: { secret: key.secret, isOver: false } };
  const after = { ...rotated, previous: { secret: key.secret, isOver: true } };
  return [
    make.case('another secret', 'mismatch', byOther),
    make.case('the new secret during a rotation', 'current', byOther, during),
    make.case('the old secret during a rotation', 'previous', make.send(), during),
    make.case('the new secret after a rotation', 'current', byOther, after),
    make.case('the old secret after a rotation', 'mismatch', make.send(), after),
    make.case('a third secret during a rotation', 'mismatch',
      make.send({}, make.sender.makeKey('third')), during),
  ];
}

function ageCases(make: Maker): readonly Case[] {
  const { sender: { tolerance }, nowS } = make;
  const at = (title: string, expected: Expected, seconds: number): Case =>
    make.case(title, expected, make.send({ atS: nowS + seconds }));
  const years = 5 * 365 * 86_400;
  if (tolerance === null) return [at('of five years ago', 'current', -years)];
  // What is under way takes a moment as well.
  const near = Math.ceil(tolerance / 3);
  return [
    at('as old as may be', 'current', near - tolerance),
    at('too old', 'stale', -tolerance - near),
    at('as far in the future as may be', 'current', tolerance - near),
    at('too far in the future', 'stale', tolerance + near),
    at('of five years ago', 'stale', -years),
    make.case('too old and by another secret', 'mismatch',
      make.send({ atS: nowS - tolerance - near }, make.other)),
  ];
}

function missingCases(make: Maker): readonly Case[] {
  const { header } = make.sender;
  const sent = make.send();
  // The attributes of a CloudEvent are part of what is sent, and not of what proves its sender.
  const names = Object.keys(sent.headers)
    .filter((name) => name !== 'Content-Type' && !name.startsWith('ce-'));
  return names.flatMap((name) => {
    const { [name]: value = '', ...rest } = sent.headers;
    const isSignature = name === header;
    const missing = isSignature ? 'signature_missing' : 'parts';
    const twice = [...make.case('', 'parts', sent).sent.rawHeaders, otherCase(name), value];
    return [
      make.case(`without ${name}`, missing, { ...sent, headers: rest }),
      make.case(`with an empty ${name}`, missing, {
        ...sent, headers: { ...rest, [name]: '' },
      }),
      ...isSignature ? [make.case(`with ${name} twice`, 'signature_form', {
        ...sent, headers: { ...rest, [name]: `${value}, ${value}` },
      }, { sent: { ...sent, rawHeaders: twice } })] : [],
      ...isSignature ? [] : [make.case(`with another ${name}`, 'refused', {
        ...sent, headers: { ...rest, [name]: changedPart(value) },
      })],
    ];
  });
}

function otherCase(name: string): string {
  const upper = name.toUpperCase();
  return upper === name ? name.toLowerCase() : upper;
}

/** Another time or id, of the same form. */
function changedPart(value: string): string {
  return value.replace(/\d(?=\D*$)/, (digit) => digit === '1' ? '2' : '1');
}

function spellingCases(make: Maker): readonly Case[] {
  const { sender: { encoding }, key } = make;
  const spelt = (title: string, expected: Expected, spell: Wanted['spell']): Case =>
    make.case(title, expected, make.send({ spell }));
  const never = [
    spelt('one character short', 'refused', (text) => text.replace(/=+$/, '').slice(0, -1)),
    spelt('one character more', 'refused', (text) => `${text}0`),
    spelt('half a signature', 'refused', (text) => text.slice(0, text.length / 2)),
    spelt('a signature with a space inside', 'refused', (text) =>
      `${text.slice(0, 9)} ${text.slice(9)}`),
    spelt('the secret in place of a signature', encoding === 'text' ? 'current' : 'refused',
      (text) => encoding === 'text' ? text : key.secret.replace(/\s/g, '')),
  ];
  if (encoding === 'hex') {
    return [...never, spelt('hex in capitals', 'current', (text) => text.toUpperCase())];
  }
  if (encoding === 'text') return never;
  return [
    ...never, spelt('base64 without padding', 'current', (text) => text.replace(/=+$/, '')),
    spelt('base64 in the other case', 'refused', (text) => text.toLowerCase()),
  ];
}

function severalCases(make: Maker): readonly Case[] {
  const { sender: { between }, other } = make;
  if (between === null) {
    return [make.case('two signatures in one value', 'refused', make.send({
      spell: (text) => `${text},${text}`,
    }))];
  }
  let wrong = '';
  make.send({ spell: (text) => (wrong = text) }, other);
  const list = (title: string, expected: Expected, texts: (right: string) => string[]): Case =>
    make.case(title, expected, make.send({ spell: (text) => texts(text).join(between) }));
  return [
    list('a wrong signature before the right one', 'current', (right) => [wrong, right]),
    list('a wrong signature after the right one', 'current', (right) => [right, wrong]),
    list('a broken signature before the right one', 'current', (right) => ['!', right]),
    list('two wrong signatures', 'mismatch', () => [wrong, wrong]),
  ];
}
