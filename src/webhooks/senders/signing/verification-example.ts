/**
 * Formats code by which a receiver verifies what a scheme signs, to be copied: one function of
 * headers, query and body in each language. It reads the secret from the environment; a public key
 * stands in it, as anybody may know that. A comment before it names the library that does the same,
 * where there is one. Such code is, with the member of Language for each part:
 *
 *     import … key = … function isGenuine(headers, query, body) {     frame
 *       value = headers["acme-signature"]                             assign, read
 *       pairs = each of value.split(",") at its "="                   splitPairs
 *       signatures = those of pairs with the name "v1"                findPairs
 *       timestamp = that of pairs with the name "t"                   findPair
 *       if timestamp is 300 s from now, return false                  checkAge
 *       content = timestamp + "." + body                              concatenate
 *       expected = …; return whether one of signatures is it          compare
 *     }
 *
 * verification/verify.ts interprets the same schemes in this process. What a scheme can say has to
 * be said in each language, and tests run this code for every preset that can sign. Pure.
 */
import type { KeyObject } from 'node:crypto';
import { assert } from '../../../base/assert.ts';
import {
  toSourceList, type Encoding, type KeyForm, type Scheme, type TimeUnit, type ValueSources,
} from '../scheme/scheme.ts';
import { parseContent } from '../verification/signed-content.ts';
import { STANDARD_ED25519_PREFIX } from '../verification/verification-key.ts';

type VerificationExampleInput = {
  readonly scheme: Scheme;
  /** null: the secret that signs verifies, too. */
  readonly publicKey: KeyObject | null;
  /** The value of `{url}`. */
  readonly url: string;
  /** null: none verifies the same with the same secret. */
  readonly library: Library | null;
};

/** They take secrets that begin with `whsec_`, and no public keys. */
type Library = 'standardwebhooks' | 'svix';

type Place = { readonly source: 'headers' | 'query'; readonly name: string };
/** A part of the signed content: a literal, or a variable of the code. */
type ContentWord = { readonly text: string } | { readonly variable: 'body' | 'id' | 'timestamp' };

type SignatureCheck = {
  /** Runtimes read the bytes of a header as Latin-1, and a query as UTF-8. */
  readonly source: Place['source'];
  readonly prefix: string;
  readonly encoding: Encoding;
  /** The name of the hash; null: the secret itself is sent, or a public key verifies. */
  readonly hash: string | null;
  readonly key: { readonly form: KeyForm } | { readonly pem: string; readonly type: string };
};

type Language = {
  /** Stands before all else. */
  readonly opening: readonly string[];
  readonly comment: (text: string) => string;
  /** The command that installs a library, and the call in place of the function. */
  readonly useLibrary: (library: Library) => { readonly install: string; readonly call: string };
  /** The code: what stands before the lines of the function, these, and what stands after. */
  readonly frame: (check: SignatureCheck, lines: readonly string[]) => readonly string[];
  readonly assign: (name: string, expression: string) => string;
  readonly quote: (text: string) => string;
  readonly variable: (name: string) => string;
  readonly read: (place: Place) => string;
  /** Expressions over `value`, and over the `pairs` that the second expression makes. */
  readonly split: (separator: string | null) => string;
  readonly splitPairs: (separator: string) => string;
  readonly findPairs: (name: string) => string;
  readonly findPair: (name: string) => string;
  readonly checkAge: (unit: TimeUnit, toleranceS: number) => readonly string[];
  readonly concatenate: (words: readonly string[]) => string;
  /** The lines that return whether one of `signatures` is that of `content`. */
  readonly compare: (check: SignatureCheck) => readonly string[];
};

const SECRET_VARIABLE = 'WEBHOOK_SECRET';
const MISSING_SECRET = `${SECRET_VARIABLE} must hold the secret of this webhook`;
const PUBLIC_KEY_HINT = 'Anybody may know this key. A rotation of the secret makes another one.';

/** Why such code cannot be written; null: it can. */
export function findVerificationObstacle({ content }: Scheme): string | null {
  if (content.includes('{formSorted}')) return 'the signature covers the fields of a form, sorted';
  return content.includes('{bodyCrc32}') ? 'the signature covers a CRC-32 of the body' : null;
}

/** For a scheme without an obstacle that signs deliveries, whose bodies hold nothing of it. */
export function formatVerificationExample(
  name: keyof typeof LANGUAGES, { scheme, publicKey, url, library }: VerificationExampleInput,
): string {
  const language = LANGUAGES[name];
  const comments = library === null ? [] : describeLibrary(language, library);
  const { signature, id } = scheme;
  // A token has no signature, so that there is no signed time either.
  const isToken = scheme.algorithm === 'token';
  const timestamp = isToken ? undefined : scheme.timestamp;
  const param = isToken ? undefined : signature.param;
  const words = listContentWords(scheme, url);
  const assignPlace = (variable: string, sources: ValueSources | undefined): string =>
    language.assign(variable, language.read(getPlace(sources)));
  const check = createSignatureCheck(scheme, publicKey);
  const code = language.frame(check, [
    assignPlace('value', signature.from),
    ...param === undefined
      ? [language.assign('signatures', language.split(signature.split ?? null))] : [
        language.assign('pairs', language.splitPairs(signature.split ?? ',')),
        language.assign('signatures', language.findPairs(param)),
      ],
    ...timestamp?.param === undefined ? []
      : [language.assign('timestamp', language.findPair(timestamp.param))],
    ...timestamp?.from === undefined ? [] : [assignPlace('timestamp', timestamp.from)],
    ...words.some((word) => 'variable' in word && word.variable === 'id')
      ? [assignPlace('id', id)] : [],
    ...timestamp === undefined || timestamp.tolerance === null ? []
      : language.checkAge(timestamp.unit, timestamp.tolerance),
    ...isToken ? [] : [language.assign('content', language.concatenate(
      words.map((word) => 'text' in word ? language.quote(word.text)
        : language.variable(word.variable))))],
    ...language.compare(check),
  ]);
  return [...language.opening, ...comments.map(language.comment), ...code].join('\n');
}

function describeLibrary({ useLibrary }: Language, library: Library): readonly string[] {
  const { install, call } = useLibrary(library);
  return [`A library does the same, and throws where this returns false (${install}):`, call];
}

function listContentWords(scheme: Scheme, url: string): readonly ContentWord[] {
  return parseContent(scheme.content).map((part) => {
    switch (part.kind) {
      case 'text': return { text: part.text };
      case 'url': return { text: url };
      case 'id': case 'token': return { variable: 'id' };
      case 'timestamp': return { variable: 'timestamp' };
      default: return { variable: 'body' };
    }
  });
}

function createSignatureCheck(
  { algorithm, key: form, signature: { from, prefix = '', encoding } }: Scheme,
  publicKey: KeyObject | null,
): SignatureCheck {
  const { source } = getPlace(from);
  if (publicKey === null) {
    const hash = algorithm === 'token' ? null : algorithm.slice('hmac-'.length);
    return { source, prefix, encoding, hash, key: { form } };
  }
  return {
    source, encoding, hash: null,
    // A scheme with secrets of Standard Webhooks takes keys of Ed25519 as well.
    prefix: form === 'whsec' ? STANDARD_ED25519_PREFIX : prefix,
    key: {
      pem: String(publicKey.export({ format: 'pem', type: 'spki' })).trim(),
      type: publicKey.asymmetricKeyType ?? '',
    },
  };
}

function getPlace(sources: ValueSources | undefined): Place {
  const [source] = toSourceList(sources);
  assert(source !== undefined, 'what is signed has a place');
  if ('query' in source) return { source: 'query', name: source.query };
  assert('header' in source, 'a delivery is signed beside its body');
  return { source: 'headers', name: source.header.toLowerCase() };
}

const node: Language = {
  opening: [],
  comment: (text) => `// ${text}`,
  useLibrary: (library) => ({
    install: `npm install ${library}`, call: 'new Webhook(secret).verify(body, headers)',
  }),
  frame({ hash, key }, lines) {
    const keys: Readonly<Partial<Record<KeyForm, string>>> = {
      base64: 'Buffer.from(secret, "base64")', hex: 'Buffer.from(secret, "hex")',
      whsec: 'secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : secret',
    };
    return [
      ...'pem' in key ? [
        'import { createPublicKey, verify } from "node:crypto";', '', `// ${PUBLIC_KEY_HINT}`,
        `const key = createPublicKey(\`${key.pem}\`);`,
      ] : [
        `import { ${hash === null ? '' : 'createHmac, '}timingSafeEqual } from "node:crypto";`, '',
        `const secret = process.env.${SECRET_VARIABLE} ?? "";`,
        `if (secret === "") throw new Error("${MISSING_SECRET}");`,
        `const key = ${keys[key.form] ?? 'secret'};`,
      ], '',
      '// Names of headers are in lower case; body is a Buffer of the bytes as they came.',
      'export function isGenuine(headers, query, body) {', ...lines, '}',
    ];
  },
  assign: (name, expression) => `  const ${name} = ${expression};`,
  quote: (text) => JSON.stringify(text),
  variable: (name) => name,
  read: ({ source, name }) => `${source}[${JSON.stringify(name)}] ?? ""`,
  split: (separator) =>
    separator === null ? '[value]' : `value.split(${JSON.stringify(separator)})`,
  splitPairs: (separator) =>
    `value.split(${JSON.stringify(separator)}).map((pair) => pair.trim().split(/=(.*)/s))`,
  findPairs: (name) =>
    `pairs.filter((pair) => pair[0] === ${JSON.stringify(name)}).map((pair) => pair[1] ?? "")`,
  findPair: (name) => `pairs.find((pair) => pair[0] === ${JSON.stringify(name)})?.[1] ?? ""`,
  checkAge(unit, toleranceS) {
    const seconds = {
      s: 'Number(timestamp)', ms: 'Number(timestamp) / 1000',
      iso: 'Date.parse(timestamp) / 1000', 'http-date': 'Date.parse(timestamp) / 1000',
    };
    return [
      `  const ageInSeconds = Math.abs(Date.now() / 1000 - ${seconds[unit]});`,
      `  if (!(ageInSeconds <= ${toleranceS})) return false;`,
    ];
  },
  concatenate: (words) =>
    `Buffer.concat([${words.join(', ')}].map((part) => Buffer.from(part)))`,
  compare({ source, prefix, encoding, hash, key }) {
    const quotedPrefix = JSON.stringify(prefix);
    if ('pem' in key) {
      const digest = key.type === 'ed25519' ? 'null' : '"sha256"';
      return [
        `  return signatures.some((text) => text.startsWith(${quotedPrefix}) && verify(${digest},`,
        `    content, key, Buffer.from(text.slice(${prefix.length}), "${encoding}")));`,
      ];
    }
    const token = encoding === 'utf8' ? 'key' : `Buffer.from(key).toString("${encoding}")`;
    const text = hash === null ? token
      : `createHmac("${hash}", key).update(content).digest("${encoding}")`;
    return [
      `  const expected = Buffer.from(${prefix === '' ? '' : `${quotedPrefix} + `}${text});`,
      '  return signatures.some((text) => {',
      `    const bytes = Buffer.from(text, "${source === 'headers' ? 'latin1' : 'utf8'}");`,
      '    return bytes.length === expected.length && timingSafeEqual(bytes, expected);',
      '  });',
    ];
  },
};

const PYTHON_MODULES = ['base64', 'datetime', 'email.utils', 'hashlib', 'hmac', 'os', 'time'];

const python: Language = {
  opening: [],
  comment: (text) => `# ${text}`,
  useLibrary: (library) => ({
    install: `pip install ${library}`, call: 'Webhook(secret).verify(body, headers)',
  }),
  frame({ key }, lines) {
    const decode = (text: string): string =>
      `base64.b64decode(${text}.replace("-", "+").replace("_", "/") + "==")`;
    const keys: Readonly<Partial<Record<KeyForm, string>>> = {
      base64: decode('secret'), hex: 'bytes.fromhex(secret)',
      whsec: `${decode('secret[6:]')} if secret.startswith("whsec_") else secret.encode()`,
    };
    const code = [
      ...'pem' in key ? [
        'from cryptography.exceptions import InvalidSignature',
        'from cryptography.hazmat.primitives import hashes',
        'from cryptography.hazmat.primitives.asymmetric import ec, padding',
        'from cryptography.hazmat.primitives.serialization import load_pem_public_key', '',
        `# ${PUBLIC_KEY_HINT}`, `key = load_pem_public_key(b"""${key.pem}""")`,
      ] : [
        `secret = os.environ.get("${SECRET_VARIABLE}", "")`, 'if secret == "":',
        `    raise SystemExit("${MISSING_SECRET}")`,
        `key = ${keys[key.form] ?? 'secret.encode()'}`,
      ], '', '',
      '# Names of headers are in lower case; body is the bytes as they came.',
      'def is_genuine(headers, query, body):', ...lines,
    ];
    const text = code.join('\n');
    const modules = PYTHON_MODULES.filter((name) => text.includes(`${name}.`));
    return [...modules.map((name) => `import ${name}`), '', ...code];
  },
  assign: (name, expression) => `    ${name} = ${expression}`,
  quote: (text) => `${JSON.stringify(text)}.encode()`,
  variable: (name) => name === 'body' ? name : `${name}.encode()`,
  read: ({ source, name }) => `${source}.get(${JSON.stringify(name)}, "")`,
  split: (separator) =>
    separator === null ? '[value]' : `value.split(${JSON.stringify(separator)})`,
  splitPairs: (separator) =>
    `[pair.strip().partition("=") for pair in value.split(${JSON.stringify(separator)})]`,
  findPairs: (name) =>
    `[text for found, _, text in pairs if found == ${JSON.stringify(name)}]`,
  findPair: (name) => `next((text for found, _, text in pairs if found == ${
    JSON.stringify(name)}), "")`,
  checkAge(unit, toleranceS) {
    const seconds = {
      s: 'float(timestamp)', ms: 'float(timestamp) / 1000',
      iso: 'datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()',
      'http-date': 'email.utils.parsedate_to_datetime(timestamp).timestamp()',
    };
    return [
      '    try:', `        signed_at = ${seconds[unit]}`, '    except (TypeError, ValueError):',
      '        return False', `    if not abs(time.time() - signed_at) <= ${toleranceS}:`,
      '        return False',
    ];
  },
  concatenate: (words) => words.join(' + '),
  compare({ source, prefix, encoding, hash, key }) {
    const quotedPrefix = JSON.stringify(prefix);
    if ('pem' in key) {
      const text = `text[${prefix.length}:]`;
      const more = { ed25519: '', ec: ', ec.ECDSA(hashes.SHA256())' }[key.type]
        ?? ', padding.PKCS1v15(), hashes.SHA256()';
      return [
        '    for text in signatures:', `        if not text.startswith(${quotedPrefix}):`,
        '            continue', '        try:',
        `            signature = ${
          encoding === 'hex' ? `bytes.fromhex(${text})` : `base64.b64decode(${text})`}`,
        `            key.verify(signature, content${more})`, '            return True',
        '        except (InvalidSignature, ValueError):', '            continue',
        '    return False',
      ];
    }
    const bytes = hash === null ? 'key' : `hmac.new(key, content, hashlib.${hash}).digest()`;
    const text = { utf8: bytes, hex: `${bytes}.hex().encode()`,
      base64: `base64.b64encode(${bytes})` }[encoding];
    return [
      `    expected = ${prefix === '' ? '' : `${quotedPrefix}.encode() + `}${text}`,
      '    return any(hmac.compare_digest('
        + `text.encode(${source === 'headers' ? '"latin-1", "replace"' : ''}), expected)`,
      '               for text in signatures)',
    ];
  },
};

export function phpQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const php: Language = {
  opening: ['<?php'],
  comment: (text) => `// ${text}`,
  useLibrary(library) {
    const [packageName, namespace] = {
      standardwebhooks: ['standard-webhooks/standard-webhooks', 'StandardWebhooks'],
      svix: ['svix/svix', 'Svix'],
    }[library];
    return {
      install: `composer require ${packageName}`,
      call: `(new \\${namespace}\\Webhook($secret))->verify($body, $headers)`,
    };
  },
  frame({ key }, lines) {
    const decode = (text: string): string => `base64_decode(strtr(${text}, '-_', '+/'))`;
    const keys: Readonly<Partial<Record<KeyForm, string>>> = {
      base64: decode('$secret'), hex: 'hex2bin($secret)',
      whsec: `str_starts_with($secret, 'whsec_') ? ${decode('substr($secret, 6)')} : $secret`,
    };
    return [
      '// Names of headers are in lower case: array_change_key_case(getallheaders()). The query',
      "// is $_GET, and the body is file_get_contents('php://input').",
      'function isGenuine(array $headers, array $query, string $body): bool', '{',
      ...'pem' in key ? [`    // ${PUBLIC_KEY_HINT}`, `    $key = ${phpQuote(key.pem)};`] : [
        `    $secret = (string) getenv('${SECRET_VARIABLE}');`, "    if ($secret === '') {",
        `        throw new RuntimeException('${MISSING_SECRET}');`, '    }',
        `    $key = ${keys[key.form] ?? '$secret'};`,
      ],
      ...lines, '}',
    ];
  },
  assign: (name, expression) => `    $${name} = ${expression};`,
  quote: phpQuote,
  variable: (name) => `$${name}`,
  read: ({ source, name }) => `$${source}[${phpQuote(name)}] ?? ''`,
  split: (separator) => separator === null ? '[$value]' : `explode(${phpQuote(separator)}, $value)`,
  splitPairs: (separator) => "array_map(fn ($pair) => explode('=', trim($pair), 2) + ['', ''], "
    + `explode(${phpQuote(separator)}, $value))`,
  findPairs: (name) =>
    `array_column(array_filter($pairs, fn ($pair) => $pair[0] === ${phpQuote(name)}), 1)`,
  findPair: (name) =>
    `array_column(array_filter($pairs, fn ($pair) => $pair[0] === ${phpQuote(name)}), 1)[0] ?? ''`,
  checkAge(unit, toleranceS) {
    const seconds = {
      s: '(float) $timestamp', ms: '(float) $timestamp / 1000',
      iso: '(int) strtotime($timestamp)', 'http-date': '(int) strtotime($timestamp)',
    };
    return [
      `    if (abs(time() - ${seconds[unit]}) > ${toleranceS}) {`, '        return false;', '    }',
    ];
  },
  concatenate: (words) => words.join(' . '),
  compare({ prefix, encoding, hash, key }) {
    if ('pem' in key) {
      const text = prefix === '' ? '$text' : `substr($text, ${prefix.length})`;
      // A key of Ed25519 are the last 32 bytes of its PEM.
      const isValid = key.type === 'ed25519'
        ? 'strlen($signature) === 64 && sodium_crypto_sign_verify_detached('
          + '$signature, $content, $key)'
        : 'openssl_verify($content, $signature, $key, OPENSSL_ALGO_SHA256) === 1';
      return [
        ...key.type === 'ed25519'
          ? ["    $key = substr(base64_decode(implode('', array_slice(explode(\"\\n\", $key), "
            + '1, -1))), -32);'] : [],
        '    foreach ($signatures as $text) {',
        `        $signature = (string) ${encoding === 'hex' ? `@hex2bin(${text})`
          : `base64_decode(${text})`};`,
        `        if (str_starts_with($text, ${phpQuote(prefix)}) && ${isValid}) {`,
        '            return true;', '        }', '    }', '    return false;',
      ];
    }
    const bytes = hash === null ? '$key' : `hash_hmac('${hash}', $content, $key, true)`;
    const text = { utf8: bytes, hex: `bin2hex(${bytes})`, base64: `base64_encode(${bytes})` };
    return [
      `    $expected = ${prefix === '' ? '' : `${phpQuote(prefix)} . `}${text[encoding]};`,
      '    foreach ($signatures as $text) {', '        if (hash_equals($expected, $text)) {',
      '            return true;', '        }', '    }', '    return false;',
    ];
  },
};

const LANGUAGES = { node, php, python };
