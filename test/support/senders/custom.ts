/** Senders that nobody knows, described by `verification.scheme`. */
import {
  JSON_TYPE, ed25519Key, hmacKey, join, row, rsaKey, type Sender,
} from './signer.ts';

/** Pairs in one header, milliseconds, a key in hex. */
const pairs = row({
  preset: 'custom', title: 'custom, HMAC-SHA512 in pairs', header: 'X-Shop-Sum',
  encoding: 'base64', between: ',sum=', tolerance: 90,
  settings: {
    scheme: {
      algorithm: 'hmac-sha512', key: 'hex', content: 'shop|{timestamp}|{body}',
      signature: {
        from: { header: 'X-Shop-Sum' }, split: ',', param: 'sum', encoding: 'base64',
      },
      timestamp: { param: 'at', unit: 'ms', tolerance: 90 },
    },
  },
  makeKey: (seed) => {
    const hex = Buffer.from(`hex ${seed}`.padEnd(32)).toString('hex');
    return hmacKey(hex, 'sha512', Buffer.from(hex, 'hex'));
  },
  send: ({ sign: mac }, { body, atS, spell }) => {
    const atMs = String(atS * 1000);
    const sum = spell(mac(join(`shop|${atMs}|`, body)).toString('base64'));
    return {
      query: '', body, headers: { ...JSON_TYPE, 'X-Shop-Sum': `at=${atMs},sum=${sum}` },
    };
  },
});

/** The key of an HMAC in base64, the signature in the query. */
const inQuery = row({
  preset: 'custom', title: 'custom, HMAC-SHA1 in the query',
  settings: {
    scheme: {
      algorithm: 'hmac-sha1', key: 'base64', content: '{body}',
      signature: { from: { query: 'sum' }, encoding: 'hex' },
    },
  },
  makeKey: (seed) => {
    const bytes = Buffer.from(`base64 ${seed}`);
    return hmacKey(bytes.toString('base64'), 'sha1', bytes);
  },
  send: ({ sign: mac }, { body, spell }) => ({
    query: `sum=${encodeURIComponent(spell(mac(body).toString('hex')))}`, body, headers: JSON_TYPE,
  }),
});

const byRsa = row({
  preset: 'custom', title: 'custom, RSA', header: 'X-Bank-Signature', encoding: 'base64',
  settings: {
    scheme: {
      algorithm: 'rsa-sha256', key: 'pem', content: '{id};{body}',
      signature: { from: { header: 'X-Bank-Signature' }, encoding: 'base64' },
      id: { header: 'X-Bank-Id' },
    },
  },
  makeKey: rsaKey,
  send: ({ sign: own }, { body, spell }) => ({
    query: '', body,
    headers: {
      ...JSON_TYPE, 'X-Bank-Id': 'id 1',
      'X-Bank-Signature': spell(own(join('id 1;', body)).toString('base64')),
    },
  }),
});

const byEd25519 = row({
  preset: 'custom', title: 'custom, Ed25519', header: 'X-Sign', encoding: 'hex', tolerance: 5,
  settings: {
    scheme: {
      algorithm: 'ed25519', key: 'hex', content: '{url} {timestamp} {body}',
      signature: { from: { header: 'X-Sign' }, encoding: 'hex' },
      timestamp: { from: { header: 'X-Time' }, unit: 'iso', tolerance: 5 },
      needs: ['url'],
    },
    url: 'http://shelf.example/a',
  },
  makeKey: ed25519Key,
  send: ({ sign: own }, { body, atS, spell }) => {
    const time = new Date(atS * 1000).toISOString();
    return {
      query: '', body,
      headers: {
        ...JSON_TYPE, 'X-Time': time,
        'X-Sign': spell(own(join(`http://shelf.example/a ${time} `, body)).toString('hex')),
      },
    };
  },
});

const optionalPrefixScheme = {
  algorithm: 'hmac-sha1', key: 'utf8', content: '{body}',
  signature: {
    from: { header: 'X-Hub-Signature' }, prefix: 'sha1=', prefixOptional: true, split: ',',
    encoding: 'hex',
  },
};
const optionalPrefixes = ['sha1=', '', `sha1=${'0'.repeat(40)},sha1=`].map((start) => row({
  preset: 'custom', title: `custom, optional prefix after ${start.length} characters`,
  header: 'X-Hub-Signature', between: ',', settings: { scheme: optionalPrefixScheme },
  makeKey: (seed) => hmacKey(`key ${seed}`, 'sha1'),
  send: ({ sign: mac }, { body, spell }) => ({
    query: '', body,
    headers: { ...JSON_TYPE, 'X-Hub-Signature': start + spell(mac(body).toString('hex')) },
  }),
}));

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const dated = [', ', ' '].map((comma) => row({
  preset: 'custom', title: `custom, HTTP date after "${comma}"`, header: 'X-Sig', tolerance: 300,
  settings: {
    scheme: {
      algorithm: 'hmac-sha1', key: 'utf8', content: '{body}{timestamp}',
      signature: { from: { header: 'X-Sig' }, encoding: 'hex' },
      timestamp: { from: { header: 'Date' }, unit: 'http-date', tolerance: 300 },
    },
  },
  makeKey: (seed) => hmacKey(`key ${seed}`, 'sha1'),
  send: ({ sign: mac }, { body, atS, spell }) => {
    const at = new Date(atS * 1000);
    const date = `${DAYS[at.getUTCDay()]}${comma}${at.toUTCString().slice(5, 25)} `
      + (comma === ' ' ? 'UTC' : 'GMT');
    return {
      query: '', body,
      headers: { ...JSON_TYPE, Date: date, 'X-Sig': spell(mac(join(body, date)).toString('hex')) },
    };
  },
}));

export const CUSTOM_SENDERS: readonly Sender[] =
  [pairs, inQuery, byRsa, byEd25519, ...optionalPrefixes, ...dated];
