/** Multipart bodies: those of curl and of Node's own FormData, and those that are not valid. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  hasTooManyParts, parseMultipart, type MultipartFields,
} from '../../../src/webhooks/senders/request/parse-multipart.ts';
import { explainUnparsed } from '../../../src/webhooks/incoming/body-format.ts';
import { below, createRandom, type Random } from '../../support/random.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const TYPE = 'multipart/form-data; boundary=b';
const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

/** A body whose lines end as they do on the wire. */
function lines(...texts: string[]): Buffer {
  return Buffer.from(texts.join('\r\n'));
}

function field(name: string, value: string): string[] {
  return ['--b', `Content-Disposition: form-data; name="${name}"`, '', value];
}

function toObject(fields: MultipartFields | null): unknown {
  return fields === null ? null : Object.fromEntries(fields);
}

function parseFile(disposition: string, ...others: string[]): unknown {
  const fields = parseMultipart(
    lines('--b', `Content-Disposition: form-data; ${disposition}`, ...others, '--b--'), TYPE);
  return fields === null ? null : [...fields];
}

test('has fields and files by name, a repeated name with all of its values', () => {
  const body = lines('a preamble', ...field('a', '1'), ...field('a', '2\r\n'), '--b',
    'content-type: image/png', 'CONTENT-DISPOSITION: Form-Data; filename=p.png; name=f', '',
    '\x89', '--b--', 'an epilogue', ...field('c', '3'));
  assert.deepEqual(toObject(parseMultipart(body, TYPE)), {
    a: ['1', '2\r\n'],
    f: [{ filename: 'p.png', contentType: 'image/png', base64: 'wok=' }],
  });
});

test('a field is read in the charset of its part, else in that of the request', () => {
  const read = (type: string, charset: string, bytes: string): unknown => {
    const body = lines('--b', 'Content-Disposition: form-data; name="n"',
      `Content-Type: text/plain${charset}`, '', bytes, '--b--');
    return toObject(parseMultipart(Buffer.from(body.toString(), 'latin1'), type));
  };
  const ofRequest = `${TYPE}; charset=windows-1250`;
  assert.deepEqual(read(TYPE, '; charset=iso-8859-2', '\xb3'), { n: ['ł'] });
  assert.deepEqual(read(ofRequest, '', '\x9c'), { n: ['ś'] });
  assert.deepEqual(read(ofRequest, '; charset="UTF-8"', '\xc3\xa9'), { n: ['é'] });
  assert.deepEqual(read(TYPE, '', '\xe9'), { n: ['\ufffd'] });
  for (const charset of ['; charset=x-no', '; charset=utf-8']) {
    assert.equal(read(TYPE, charset, '\xe9'), null);
    const body = lines(...field('a', '1'), '--b', 'Content-Disposition: form-data; name="n"',
      `Content-Type: text/plain${charset}`, '', '%');
    const bytes = Buffer.from(`${body.toString('latin1').replace('%', '\xe9')}\r\n--b--`, 'latin1');
    const reading = {
      format: 'multipart', formField: null, jsonFields: [], secretSources: [],
    } as const;
    assert.match(explainUnparsed(reading, bytes, TYPE) ?? '',
      /^the field "n" is not in the charset that is declared, or that one is unknown, so/);
  }
});

const NAMES: readonly (readonly [disposition: string, name: string, filename: string])[] = [
  ['name="a"; filename="b.txt"', 'a', 'b.txt'],
  ['name="a"; filename=""', 'a', ''],
  ['name="a \\"b\\" c"; filename="\\"\\\\\\".txt"', 'a "b" c', '"\\".txt'],
  ['name="a%22b%0D%0A"; filename="%22%41.txt"', 'a"b\r\n', '"%41.txt'],
  ['name="a\\"; filename="C:\\dir\\"', 'a\\', 'C:\\dir\\'],
  ['name="a;b"; filename="c=d; name=\'x\'"', 'a;b', 'c=d; name=\'x\''],
  ['name=a ; filename = a b.txt ;', 'a', 'a b.txt'],
  ['NAME="a"; FileName="b"; name="c"', 'a', 'b'],
  ['name="ä"; filename="€.txt"', 'ä', '€.txt'],
  ['name="a"; filename="no.txt"; filename*=UTF-8\'de\'na%C3%AFve%20%22.txt', 'a', 'naïve ".txt'],
  ['name="a"; filename*=utf-8\'\'b.txt', 'a', 'b.txt'],
  ['name="a"; filename*=ISO-8859-1\'\'%E9.txt; filename="no"', 'a', 'é.txt'],
  ['name="a"; filename*=UTF-8\'\'%ff; filename="yes"', 'a', 'yes'],
  ['name="a"; filename*=koi8-r\'\'x; filename="yes"', 'a', 'yes'],
  ['name="a";\r\n\tfilename="folded.txt"', 'a', 'folded.txt'],
  ['name=""; filename="b"', '', 'b'],
];
for (const [disposition, name, filename] of NAMES) {
  test(`${JSON.stringify(disposition)} is ${JSON.stringify([name, filename])}`, () => {
    assert.deepEqual(parseFile(disposition, '', 'x'),
      [[name, [{ filename, contentType: 'text/plain', base64: 'eA==' }]]]);
  });
}

test('a boundary of up to 70 characters is as the Content-Type has it, quoted or not', () => {
  const boundaries = [
    'b', '0', '----WebKitFormBoundaryAbC', "'()+_,-./:=?", 'a b', '-', '--', 'x'.repeat(70),
  ];
  for (const boundary of boundaries) {
    const body = Buffer.from(lines(...field('a', '1'), '--b--').toString()
      .replaceAll('--b', `--${boundary}`));
    for (const type of [
      `multipart/form-data; charset=utf-8; boundary="${boundary}"`,
      `Multipart/Form-Data;BOUNDARY=${boundary} ; x="boundary=c"`,
    ]) {
      assert.deepEqual(toObject(parseMultipart(body, type)), { a: ['1'] }, type);
    }
  }
});

test('a line that only begins with the boundary is content, as is one that does not begin', () => {
  const content = '--bb\r\n --b\r\n--b-- x\r\n--b-\r\nx--b\r\n\r\n--b c\n--b\r--b--\r\n-b\r\n--B';
  const body = lines(...field('a', content), '--b-- \t', '');
  assert.deepEqual(toObject(parseMultipart(body, TYPE)), { a: [content] });
});

test('a delimiter may have spaces behind it, and a part nothing but its header', () => {
  const body = lines('--b \t', 'Content-Disposition: form-data; name="a"', '', '--b',
    'Content-Disposition: form-data; name="c"', '', '', '--b--');
  assert.deepEqual(toObject(parseMultipart(body, TYPE)), { a: [''], c: [''] });
});

test('a form without parts is an empty one', () => {
  for (const text of ['--b--', '--b--\r\n', '\r\n--b--', 'x\r\n--b--\r\n--b\r\n']) {
    assert.deepEqual(toObject(parseMultipart(Buffer.from(text), TYPE)), {}, text);
  }
});

test('bytes of a field that are no UTF-8 become U+FFFD, as in a form', () => {
  const body = Buffer.from(lines(...field('a', 'ÿ'), '--b--').toString(), 'latin1');
  assert.deepEqual(toObject(parseMultipart(body, TYPE)), { a: ['\ufffd'] });
});

test('contents in base64 and quoted-printable are decoded', () => {
  for (const [encoding, content, base64] of [
    ['base64', 'eHl6\r\neA==', 'eHl6eA=='], ['Quoted-Printable', 'a=3D=\r\n=e9', 'YT3p'],
    ['quoted-printable', '=4x= \t\r\n==41=', 'PTR4PUE9'],
    ['binary', '=3D', 'PTNE'], ['8bit', 'eA==', 'ZUE9PQ=='],
  ] as const) {
    const head = `Content-Transfer-Encoding: ${encoding}`;
    assert.deepEqual(parseFile('name=a; filename=b', head, '', content),
      [['a', [{ filename: 'b', contentType: 'text/plain', base64 }]]], encoding);
  }
});

const INVALID: readonly (readonly [title: string, body: Buffer, type?: string | undefined])[] = [
  ['an empty one', Buffer.alloc(0)],
  ['one without a Content-Type', lines(...field('a', '1'), '--b--'), undefined],
  ['one without a boundary', lines(...field('a', '1'), '--b--'), 'multipart/form-data'],
  ['one of an empty boundary', lines(...field('a', '1'), '--b--'), `${TYPE.slice(0, -1)}""`],
  ['one of a long boundary', lines('--'.padEnd(73, 'b').concat('--')),
    `multipart/form-data; boundary=${'b'.repeat(71)}`],
  ['one of another boundary', lines(...field('a', '1'), '--b--'), `${TYPE}c`],
  ['one whose last delimiter is missing', lines(...field('a', '1'), '--b', '')],
  ['one whose last delimiter is cut', lines(...field('a', '1'), '--b-')],
  ['one whose last delimiter begins no line', lines(...field('a', '1--b--'))],
  ['one that ends within a header', lines('--b', 'Content-Disposition: form-data; name="a"')],
  ['one that ends within a content', lines(...field('a', '1'))],
  ['one with bare line feeds', Buffer.from([...field('a', '1'), '--b--'].join('\n'))],
  ['a part without a header', lines('--b', '', '1', '--b--')],
  ['a part without anything', lines('--b', '--b', '--b--')],
  ['a part without a disposition', lines('--b', 'Content-Type: text/plain', '', '1', '--b--')],
  ['a part without a name', lines('--b', 'Content-Disposition: form-data', '', '1', '--b--')],
  ['another disposition',
    lines('--b', 'Content-Disposition: attachment; name="a"', '', '1', '--b--')],
  ['a header that is none', lines('--b', 'name', field('a', '')[1] ?? '', '', '1', '--b--')],
  ['a name without an end',
    lines('--b', 'Content-Disposition: form-data; name="a', '', '1', '--b--')],
  ['a header that is too long',
    lines('--b', `X: ${'x'.repeat(17_000)}`, field('a', '')[1] ?? '', '', '1', '--b--')],
];
for (const [title, body, ...types] of INVALID) {
  test(`nothing is read of ${title}`, () => {
    assert.equal(parseMultipart(body, types.length === 0 ? TYPE : types[0]), null);
  });
}

test('no body that is cut anywhere before the end of its last delimiter is read', () => {
  const body = lines(...field('a', '--bb--'), ...field('c', '--b-'), '--b--');
  for (let length = 0; length < body.length; length += 1) {
    assert.equal(parseMultipart(body.subarray(0, length), TYPE), null, String(length));
  }
  assert.notEqual(parseMultipart(body, TYPE), null);
});

test('100 parts are read, and 101 are too many, also where the body is cut', () => {
  const makeBody = (count: number): Buffer =>
    lines(...Array.from({ length: count }, () => field('a', 'x')).flat(), '--b--');
  assert.equal(parseMultipart(makeBody(100), TYPE)?.get('a')?.length, 100);
  assert.equal(hasTooManyParts(makeBody(100), TYPE), false);
  assert.equal(parseMultipart(makeBody(101), TYPE), null);
  assert.equal(hasTooManyParts(makeBody(101), TYPE), true);
  assert.equal(hasTooManyParts(makeBody(101).subarray(0, -9), TYPE), true);
});

test('the time is linear in the body, whatever it is made of', () => {
  const boundary = 'b'.repeat(70);
  const type = `multipart/form-data; boundary=${boundary}`;
  const head = '--b\r\nContent-Disposition: form-data; name="';
  const pieces = [
    '\r\n', '\r', '\r\n--', `\r\n--${boundary}b`, `\r\n--${boundary} `, `\r\n--${boundary}-`, 'b',
    ' ', '--',
  ];
  const parse = (piece: string, size: number): number => {
    const body = Buffer.from(piece.repeat(Math.ceil(size / piece.length)));
    const start = process.cpuUsage();
    hasTooManyParts(body, type);
    parseMultipart(body, type);
    for (const part of ['"', '\\', '\\"', ';', '; a="', '=']) {
      parseMultipart(Buffer.from(`${head}${part.repeat(5000)}\r\n\r\n\r\n--b--`), TYPE);
    }
    return process.cpuUsage(start).user / 1000;
  };
  for (const piece of pieces) {
    parse(piece, 1 << 16);
    // A quadratic search of 4 MiB would take minutes; this takes some 20 ms.
    const tookMs = parse(piece, 1 << 22);
    assert.ok(tookMs < 2000, `${JSON.stringify(piece)} took ${tookMs} ms`);
  }
});

const CHARACTERS = [
  'a', 'b', ' ', '"', '%', '%22', '\\', ';', '=', "'", 'é', '€', '\u{1f600}', '-', '--', ':', ',',
  '\r\n', '__proto__',
];

/** A name in which no quote or backslash follows a backslash, and no escape is spelt out. */
function makeName(random: Random): string {
  const text = Array.from({ length: below(random, 6) },
    () => CHARACTERS[below(random, CHARACTERS.length)]).join('');
  return text.replaceAll('%22', '%').replace(/\\+(?=["\\])/g, '');
}

function makeBytes(random: Random): Buffer {
  const texts = ['\r\n', '--', '\r', '\n', 'x', '\0', 'é', '----WebKit', '\r\n--'];
  return Buffer.concat(Array.from({ length: below(random, 20) },
    () => Buffer.from(texts[below(random, texts.length)] ?? '')));
}

test('reads what Node\'s own FormData writes', async () => {
  const random = createRandom(5);
  for (let round = 0; round < 300; round += 1) {
    const form = new FormData();
    const wanted = new Map<string, unknown[]>();
    for (let count = below(random, 8); count > 0; count -= 1) {
      const name = makeName(random);
      const bytes = makeBytes(random);
      const isFile = below(random, 2) === 0;
      // The encoder leaves an empty file name out.
      const filename = `f${makeName(random)}`;
      if (isFile) form.append(name, new Blob([bytes], { type: 'image/x' }), filename);
      else form.append(name, String(bytes));
      // The encoder makes CR LF of each line break in text, as browsers do.
      const value = isFile ? { filename, contentType: 'image/x', base64: bytes.toString('base64') }
        : String(bytes).replace(/\r\n|\r|\n/g, '\r\n');
      wanted.set(name, [...wanted.get(name) ?? [], value]);
    }
    const response = new Response(form);
    const body = Buffer.from(await response.arrayBuffer());
    const fields = parseMultipart(body, response.headers.get('content-type') ?? '');
    assert.deepEqual(toObject(fields), Object.fromEntries(wanted), body.toString());
  }
});

test('reads what curl -F writes', { skip: !HAS_CURL, timeout: 120_000 }, async (context) => {
  const random = createRandom(9);
  const folder = createTemporaryFolder();
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let round = 0; round < 12; round += 1) {
    const wanted: Record<string, unknown[]> = {};
    const words: string[] = [];
    for (let index = 0; index < 1 + below(random, 4); index += 1) {
      const bytes = makeBytes(random);
      const name = `n${index % 2} "${below(random, 3)}" \\x;`;
      const text = `t${index}\r\né "`;
      const path = join(folder, `${round}-${index}`);
      writeFileSync(path, bytes);
      const isFile = below(random, 3) > 0;
      if (isFile) words.push('-F', `${name}=@${path};type=a/b;filename="f \\"${index}\\" é;.txt"`);
      else words.push('--form-string', `${name}=${text}`);
      (wanted[name] ??= []).push(!isFile ? text : {
        filename: `f "${index}" é;.txt`, contentType: 'a/b', base64: bytes.toString('base64'),
      });
    }
    const received = receiveOne(server);
    const curl = spawn('curl', ['-sS', '--max-time', '20', ...words, `http://127.0.0.1:${port}/`],
      { stdio: ['ignore', 'ignore', 'inherit'] });
    const exited = once(curl, 'exit');
    const { body, type } = await received;
    assert.deepEqual(await exited, [0, null]);
    assert.deepEqual(toObject(parseMultipart(body, type)), wanted, body.toString());
  }
});

async function receiveOne(
  server: ReturnType<typeof createServer>,
): Promise<{ readonly body: Buffer; readonly type: string | undefined }> {
  const [request, response] = await once(server, 'request') as
    [IncomingMessage, { end(): void }];
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  response.end();
  return { body: Buffer.concat(chunks), type: request.headers['content-type'] };
}
