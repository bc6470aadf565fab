import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { HOOK_VARIABLES } from '../../src/base/hook-variables.ts';
import { readSettingsFile } from '../../src/settings/settings-file.ts';
import { SETTING_ROWS } from '../../src/settings/setting-table.ts';
import { loadSettings, maskSettingValue } from '../../src/settings/load-settings.ts';
import type { SettingsSources } from '../../src/settings/load-settings.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const fromFile = (value: unknown): SettingsSources => ({ file: { origin: 'the.json', value } });
const fromVariable = (name: string, value: string): SettingsSources =>
  ({ environment: { [name]: value } });

/** The value of a setting, by its dotted name. */
function valueOf(sources: SettingsSources, name: string): unknown {
  let value: unknown = loadSettings(sources).settings;
  for (const step of name.split('.')) value = Reflect.get(Object(value), step);
  return value;
}

function assertRefused(sources: SettingsSources, pattern: RegExp): void {
  assert.throws(() => loadSettings(sources), (thrown: unknown) => {
    assert.ok(thrown instanceof AppError);
    assert.equal(thrown.code, 'usage');
    assert.match(thrown.message, pattern);
    return true;
  });
}

test('the defaults are the contract\'s', () => {
  const { settings } = loadSettings();
  assert.deepEqual(JSON.parse(JSON.stringify(settings)), {
    server: {
      port: 8000, host: '127.0.0.1', baseUri: null, webhookPath: null, maxBodyBytes: 1048576,
      requestTimeout: 30, headersTimeout: 10, keepAliveTimeout: 65, shutdownTimeout: 10,
      console: true, mcp: false, paused: false, apiToken: null,
      tlsCert: null, tlsKey: null, corsOrigins: [], allowedHosts: [], maxConnections: 10000,
      trustProxy: false,
    },
    console: { title: 'hookshelf', accent: null, images: false },
    http: {
      timeout: 5, connectTimeout: 2, verify: true, proxy: null, noProxy: [],
      denyAddresses: ['link-local', 'metadata'], maxSocketsPerHost: 64, retries: 2,
      retryDelayMs: 200, totalTimeout: 15,
    },
    incoming: {
      defaultAllowedMethods: ['POST'], allowUnsignedWhenSecretMissing: true, actionTimeout: 30,
      rateLimit: 0, maxConcurrent: 100, retrySchedule: [5, 60, 600, 3600, 21600],
      maxInFlightPerHook: 8,
    },
    inbox: {
      retentionDays: 7, failedRetentionDays: 30, maxCount: 100000, maxBytes: 268435456,
    },
    events: { keep: 'heard', retentionDays: 7, maxBytes: 268435456 },
    outgoing: {
      retrySchedule: [5, 300, 1800, 7200, 18000, 36000, 36000], retentionDays: 7,
      retentionCount: 10000, retentionBytes: 67108864, failedRetentionDays: 30,
      maxPending: 100000, maxPendingBytes: 268435456, maxInFlight: 64, maxInFlightPerHook: 8,
    },
    catalog: { events: true },
    store: { url: null, passwordFile: null },
    backup: { to: null, everyHours: 24, keep: 7 },
    actions: {
      modules: [], commandDirectory: null, workingDirectories: [], environment: ['HOOK_*'],
      maxCommands: 4, maxMemory: 128,
    },
    log: { level: 'info', format: 'auto', access: 'errors' },
  });
});

test('every default is a value that its own setting takes', () => {
  const problems = SETTING_ROWS.filter((row) => {
    const [group = '', name = ''] = row.name.split('.');
    loadSettings(fromFile({ [group]: { [name]: row.default } }));
    return row.description === '';
  });
  assert.deepEqual(problems, []);
});

test('settings and their lists are frozen', () => {
  const { settings } = loadSettings();
  const lists = [settings.http.noProxy, settings.actions.modules, settings.outgoing.retrySchedule];
  assert.ok([settings, ...Object.values(settings), ...lists].every(Object.isFrozen));
});

test('flags beat the environment, that the file, that the defaults; origins say which', () => {
  const file = fromFile({ server: { port: 1, host: '10.0.0.1' }, http: { retries: 1 } });
  const environment = { HOOKSHELF_SERVER_PORT: '2', HOOKSHELF_SERVER_HOST: '10.0.0.2' };
  const flags = [{ name: 'server.port', value: '3', flag: '--port' }];
  const { settings, origins } = loadSettings({ ...file, environment, flags });
  assert.equal(settings.server.port, 3);
  assert.equal(settings.server.host, '10.0.0.2');
  assert.equal(settings.http.retries, 1);
  const names = ['server.port', 'server.host', 'http.retries', 'http.timeout'];
  assert.deepEqual(names.map((name) => origins.get(name)),
    ['--port', 'HOOKSHELF_SERVER_HOST', 'the.json', 'default']);
});

const VARIABLES: readonly (readonly [string, string, string, unknown])[] = [
  ['HOOKSHELF_HTTP_RETRY_DELAY_MS', '0.5', 'http.retryDelayMs', 0.5],
  ['HOOKSHELF_HTTP_VERIFY', 'false', 'http.verify', false],
  ['HOOKSHELF_HTTP_VERIFY', '1', 'http.verify', true],
  ['HOOKSHELF_HTTP_NO_PROXY', 'a.test, .b.test,10.0.0.0/8', 'http.noProxy',
    ['a.test', '.b.test', '10.0.0.0/8']],
  ['HOOKSHELF_HTTP_NO_PROXY', '["a.test:81","[::1]","*"]', 'http.noProxy',
    ['a.test:81', '[::1]', '*']],
  ['HOOKSHELF_HTTP_NO_PROXY', '[::1],a.test', 'http.noProxy', ['[::1]', 'a.test']],
  ['HOOKSHELF_HTTP_NO_PROXY', '[::1]:81 , [2001:db8::1]', 'http.noProxy',
    ['[::1]:81', '[2001:db8::1]']],
  ['HOOKSHELF_SERVER_ALLOWED_HOSTS', '[::1]', 'server.allowedHosts', ['[::1]']],
  ['HOOKSHELF_SERVER_TRUST_PROXY', 'true', 'server.trustProxy', true],
  ['HOOKSHELF_SERVER_TRUST_PROXY', '0', 'server.trustProxy', false],
  ['HOOKSHELF_SERVER_TRUST_PROXY', '[::1],10.0.0.0/8', 'server.trustProxy', ['::1', '10.0.0.0/8']],
  ['HOOKSHELF_SERVER_TRUST_PROXY', '192.0.2.1', 'server.trustProxy', ['192.0.2.1']],
  ['HOOKSHELF_HTTP_DENY_ADDRESSES', '', 'http.denyAddresses', []],
  ['HOOKSHELF_HTTP_PROXY', '', 'http.proxy', null],
  ['HOOKSHELF_OUTGOING_RETRY_SCHEDULE', '1,2.5', 'outgoing.retrySchedule', [1, 2.5]],
  ['HOOKSHELF_OUTGOING_RETRY_SCHEDULE', '[3]', 'outgoing.retrySchedule', [3]],
  ['HOOKSHELF_INCOMING_DEFAULT_ALLOWED_METHODS', 'POST,PUT', 'incoming.defaultAllowedMethods',
    ['POST', 'PUT']],
  ['HOOKSHELF_API_TOKEN', 'abc', 'server.apiToken', 'abc'],
  ['HOOKSHELF_SERVER_API_TOKEN', 'abc', 'server.apiToken', 'abc'],
  ['HOOKSHELF_SERVER_BASE_URI', 'https://Books.test/shelf/', 'server.baseUri',
    'https://books.test/shelf'],
  ['HOOKSHELF_SERVER_WEBHOOK_PATH', '/hooks', 'server.webhookPath', '/hooks'],
  ['HOOKSHELF_SERVER_WEBHOOK_PATH', 'hooks/', 'server.webhookPath', '/hooks'],
  ['HOOKSHELF_SERVER_WEBHOOK_PATH', '/old.example/v1', 'server.webhookPath', '/old.example/v1'],
  ['HOOKSHELF_SERVER_WEBHOOK_PATH', '', 'server.webhookPath', null],
  ['HOOKSHELF_SERVER_CORS_ORIGINS', 'https://a.test:443', 'server.corsOrigins', ['https://a.test']],
  ['HOOKSHELF_SERVER_HOST', '[::1]', 'server.host', '::1'],
  ['HOOKSHELF_ACTIONS', 'a.mjs', 'actions.modules', [resolve('a.mjs')]],
  ['HOOKSHELF_ACTIONS_MODULES', 'a.mjs', 'actions.modules', [resolve('a.mjs')]],
  ['HOOKSHELF_ACTIONS_COMMAND_DIRECTORY', '/srv/hooks/', 'actions.commandDirectory', '/srv/hooks'],
  ['HOOKSHELF_ACTIONS_COMMAND_DIRECTORY', '', 'actions.commandDirectory', null],
  ['HOOKSHELF_ACTIONS_WORKING_DIRECTORIES', '/srv/a,/srv/b', 'actions.workingDirectories',
    ['/srv/a', '/srv/b']],
  ['HOOKSHELF_CONSOLE_TITLE', '📚'.repeat(60), 'console.title', '📚'.repeat(60)],
  ['HOOKSHELF_CONSOLE_ACCENT', '#0B6E4F', 'console.accent', '#0b6e4f'],
  ['HOOKSHELF_CONSOLE_ACCENT', '', 'console.accent', null],
  ['HOOKSHELF_LOG_LEVEL', 'debug', 'log.level', 'debug'],
];
for (const [variable, text, name, expected] of VARIABLES) {
  test(`${variable}=${text} sets ${name}`, () => {
    assert.deepEqual(valueOf(fromVariable(variable, text), name), expected);
  });
}

const FILES: readonly (readonly [unknown, string, unknown])[] = [
  [{ http: { timeout: 7 } }, 'http.timeout', 7],
  [{ Vendor: { Webhook: { http: { timeout: 7 } } } }, 'http.timeout', 7],
  [{ 'Vendor.Webhook': { incoming: { rateLimit: 7 } } }, 'incoming.rateLimit', 7],
  [{ http: { proxy: null } }, 'http.proxy', null],
  [{ http: {} }, 'http.timeout', 5],
  [{ actions: ['/a.mjs'] }, 'actions.modules', ['/a.mjs']],
  [{ actions: { modules: ['/a.mjs'], maxMemory: 64 } }, 'actions.modules', ['/a.mjs']],
  [{ actions: {} }, 'actions.modules', []],
  [{ actions: ['/a.mjs'] }, 'actions.environment', ['HOOK_*']],
  [{ actions: { environment: ['HOOK_*', 'STAGE'] } }, 'actions.environment', ['HOOK_*', 'STAGE']],
  [{ server: { requestTimeout: 4 } }, 'server.headersTimeout', 4],
];
for (const [value, name, expected] of FILES) {
  test(`the file ${JSON.stringify(value)} sets ${name}`, () => {
    assert.deepEqual(valueOf(fromFile(value), name), expected);
  });
}

const REFUSED: readonly (readonly [string, SettingsSources, RegExp])[] = [
  ['an unknown setting', fromFile({ http: { timeot: 1 } }),
    /^unknown setting `http\.timeot` in the\.json: did you mean `http\.timeout`\?$/],
  ['an unknown group', fromFile({ htpp: { timeout: 1 } }), /`htpp\.timeout` in the\.json/],
  ['an unknown empty group', fromFile({ htpp: {} }), /unknown setting `htpp`/],
  ['a group that is no object', fromFile({ http: 5 }), /unknown setting `http`/],
  ['the wrong group under Vendor.Webhook',
    fromFile({ Vendor: { Webhook: { server: { port: 1 } } } }), /`Vendor\.Webhook\.server\.port`/],
  ['a setting twice', fromFile({ http: { timeout: 1 }, 'Vendor.Webhook.http': { timeout: 2 } }),
    /`http\.timeout` stands twice in the\.json/],
  ['__proto__', fromFile(JSON.parse('{"__proto__":{"x":1}}')), /unknown setting `__proto__\.x`/],
  ['a file that is no object', fromFile([]), /the\.json must hold a JSON object/],
  ['a string for a number', fromFile({ http: { timeout: '5' } }),
    /^setting `http\.timeout` must be a number from .*, not "5" \(from the\.json\)$/],
  ['null for a number', fromFile({ http: { timeout: null } }), /`http\.timeout` must be a number/],
  ['a fraction for a count', fromFile({ http: { retries: 1.5 } }), /must be an integer from 0/],
  ['a port out of range', fromVariable('HOOKSHELF_SERVER_PORT', '65536'),
    /`server\.port` must be an integer from 0 to 65535, not 65536 \(from HOOKSHELF_SERVER_PORT\)/],
  ['a word for a port', { flags: [{ name: 'server.port', value: 'http', flag: '--port' }] },
    /`server\.port` must be an integer .* not "http" \(from --port\)/],
  ...['1e3', '+8000', '0x10', '8000.', '8_000', ' ', '1'.repeat(100_000)].map((value) =>
    [`${value.slice(0, 9)} for a port`, { flags: [{ name: 'server.port', value, flag: '-p' }] },
      /`server\.port` must be an integer from 0 to 65535, not "/] as const),
  ['a name for a trusted proxy', fromVariable('HOOKSHELF_SERVER_TRUST_PROXY', 'proxy.test'),
    /must be true, false or a list in which each is an address or a CIDR/],
  ['a list with an open bracket', fromVariable('HOOKSHELF_HTTP_NO_PROXY', '[::1,a.test'),
    /must be a list/],
  ['an unknown variable', fromVariable('HOOKSHELF_HTTP_TIMOUT', '1'),
    /unknown environment variable HOOKSHELF_HTTP_TIMOUT: did you mean HOOKSHELF_HTTP_TIMEOUT\?/],
  ['two tokens', { environment: { HOOKSHELF_API_TOKEN: 'a', HOOKSHELF_SERVER_API_TOKEN: 'b' } },
    /^HOOKSHELF_SERVER_API_TOKEN and HOOKSHELF_API_TOKEN differ/],
  ['a password file alone', fromVariable('HOOKSHELF_STORE_PASSWORD_FILE', '/p'),
    /`store\.passwordFile` \(from HOOKSHELF_STORE_PASSWORD_FILE\) needs `store\.url` as well/],
  ['another database', fromVariable('HOOKSHELF_STORE_URL', 'mysql://u@h/b'),
    /`store\.url` must be a URL like postgres:/],
  ['modules under two names', { environment: {
    HOOKSHELF_ACTIONS: 'a', HOOKSHELF_ACTIONS_MODULES: 'b',
  } }, /^HOOKSHELF_ACTIONS_MODULES and HOOKSHELF_ACTIONS differ; set one of them$/],
  ['a text for the modules', fromFile({ actions: 'a.mjs' }),
    /^setting `actions\.modules` must be a list, not "a\.mjs" \(from the\.json\)$/],
  ['modules twice', fromFile({ actions: ['a.mjs'], 'actions.modules': [] }),
    /`actions\.modules` stands twice in the\.json/],
  ['all variables', fromVariable('HOOKSHELF_ACTIONS_ENVIRONMENT', 'HOOK_*,*'),
    /`actions\.environment` must be a list in which each is the name of a variable, or a prefix/],
  ['a relative folder of commands', fromFile({ actions: { commandDirectory: 'hooks' } }),
    /`actions\.commandDirectory` must be an absolute path, not "hooks" \(from the\.json\)$/],
  ['a relative working directory', fromFile({ actions: { workingDirectories: ['/a', './b'] } }),
    /`actions\.workingDirectories` must be a list in which each is an absolute path/],
  ['an empty token', fromVariable('HOOKSHELF_API_TOKEN', ''), /`server\.apiToken` must be/],
  ['a bad boolean', fromVariable('HOOKSHELF_HTTP_VERIFY', 'nope'), /must be true or false/],
  ['a bad list', fromVariable('HOOKSHELF_HTTP_NO_PROXY', '["a"'), /must be a list/],
  ['a bad denied address', fromFile({ http: { denyAddresses: ['loopbak'] } }),
    /`http\.denyAddresses` must be a list .*did you mean loopback\?/],
  ['a CIDR with leading zeros', fromFile({ http: { denyAddresses: ['10.0.0.0/08'] } }),
    /denyAddresses/],
  ['a trusted proxy with leading zeros', fromFile({ server: { trustProxy: ['010.0.0.0/8'] } }),
    /trustProxy/],
  ['a bad CIDR', fromFile({ http: { denyAddresses: ['10.0.0.0/33'] } }), /denyAddresses/],
  ['a bad host', fromFile({ server: { host: '300.0.0.1' } }), /an IP address or a host name/],
  ['a base URI with a query', fromFile({ server: { baseUri: 'http://a/?b' } }), /baseUri/],
  ['an origin with a path', fromFile({ server: { corsOrigins: ['https://a.test/x'] } }), /origin/],
  ['an empty title', fromVariable('HOOKSHELF_CONSOLE_TITLE', ''), /`console\.title` must be/],
  ['a blank title', fromFile({ console: { title: '  ' } }),
    /`console\.title` must be 1 to 60 characters on one line, not only spaces, not "  "/],
  ['a title of two lines', fromFile({ console: { title: 'a\nb' } }), /`console\.title` must be 1/],
  ['a title of 61 characters', fromFile({ console: { title: 'é'.repeat(61) } }),
    /`console\.title` must be 1/],
  ['a title that is no text', fromFile({ console: { title: 7 } }), /`console\.title` must be/],
  ...['#fff', 'red', '0b6e4f', '#0b6e4f00', '#gggggg', ' #0b6e4f', ''].map((accent) => [
    `the colour "${accent}"`, fromFile({ console: { accent } }), /`console\.accent` must be a/,
  ] as const),
  ['a lower-case method', fromFile({ incoming: { defaultAllowedMethods: ['post'] } }),
    /must be a list in which each is a method in upper case/],
  ['a near log level', fromFile({ log: { level: 'warn' } }),
    /must be one of .*, error \(did you mean warning\?\), not "warn"/],
  ['a certificate without its key', fromFile({ server: { tlsCert: 'a.pem' } }),
    /`server\.tlsCert` \(from the\.json\) needs `server\.tlsKey` as well/],
  ['a pause beside other nodes',
    fromFile({ server: { paused: true }, store: { url: 'etcd://one:2379' } }),
    /`server\.paused` \(from the\.json\) is for a server alone on its data/],
  ['a head slower than its request',
    fromFile({ server: { headersTimeout: 20, requestTimeout: 10 } }), /must not be more than/],
];
for (const [what, sources, pattern] of REFUSED) {
  test(`refuses ${what}`, () => assertRefused(sources, pattern));
}

test('the least values are those that make sense', () => {
  const zero = SETTING_ROWS.filter(({ kind }) => kind.is === 'number' && kind.minimum === 0);
  const rest = SETTING_ROWS.flatMap(({ kind }) =>
    kind.is === 'number' && kind.minimum !== 0 ? [kind.minimum] : []);
  assert.deepEqual(zero.map(({ name }) => name), [
    'server.port', 'server.shutdownTimeout', 'http.retries', 'http.retryDelayMs',
    'incoming.rateLimit', 'inbox.retentionDays', 'inbox.failedRetentionDays',
    'events.retentionDays', 'events.maxBytes',
    'outgoing.retentionDays', 'outgoing.retentionCount', 'outgoing.retentionBytes',
    'outgoing.failedRetentionDays', 'backup.everyHours',
  ]);
  // The heap of the modules: with less than 16 MiB no module starts.
  assert.ok(rest.every((minimum) => [1, 0.001, 16].includes(minimum)), String(rest));
});

for (const { name, kind } of SETTING_ROWS) {
  if (kind.is !== 'number') continue;
  test(`${name} takes its least and greatest value, and nothing beyond`, () => {
    const [group = '', member = ''] = name.split('.');
    // Whatever the head may take, the whole request may.
    const beside = member === 'headersTimeout' ? { requestTimeout: kind.maximum } : {};
    const given = (value: number): SettingsSources =>
      fromFile({ [group]: { ...beside, [member]: value } });
    for (const value of [kind.minimum, kind.maximum]) {
      assert.equal(valueOf(given(value), name), value);
    }
    const step = kind.isInteger ? 1 : 0.0001;
    for (const value of [kind.minimum - step, kind.maximum + 1, -1e9]) {
      assertRefused(given(value), new RegExp(`\`${name.replace('.', '\\.')}\` must be an? `));
    }
  });
}

for (const path of [
  '/', '//', '/a//b', '//a', '/webhook/in', 'webhook/in/', '/a/..', '/./a', '..', '/a b', '/ä',
  '/a%2fb', '/a?b', '/{a}', `/${'a'.repeat(128)}`,
]) {
  test(`the path of webhooks ${path.slice(0, 20)} is refused`, () => {
    assertRefused(fromFile({ server: { webhookPath: path } }),
      /`server\.webhookPath` must be a path such as \/hooks, other than \/webhook\/in/);
  });
}

for (const userinfo of ['u', 'u:p', ':p', 'u:']) {
  test(`a base URI with the credentials ${userinfo} is refused`, () => {
    assertRefused(fromFile({ server: { baseUri: `https://${userinfo}@shelf.test/x` } }),
      /`server\.baseUri` must be an http or https URL without credentials/);
  });
}

test('reports all problems at once', () => {
  assertRefused(fromFile({ http: { timeout: 'x', retries: 'y' } }), /http\.timeout.*http\.retries/);
});

const URLS: Readonly<Record<string, string>> = {
  'http.proxy': 'http://u:planted@h:1',
  'store.url': 'postgres://u:planted@a:1,b:2/c?sslmode=require',
};

test('no message contains a token or a proxy\'s password', () => {
  const planted = 'planted secret';
  const sources = [
    fromFile({ server: { apiToken: planted } }), fromFile({ http: { proxy: `u:${planted}@h` } }),
    fromFile({ store: { url: `postgres://u:${planted}@h/b` } }),
    fromFile({ store: { url: 'postgres://u:planted secret/a@h/b' } }),
    fromFile({ store: { url: 'mysql://u:planted secret@h/b' } }),
  ];
  for (const source of sources) {
    assert.throws(() => loadSettings(source), (error: Error) => !error.message.includes(planted));
  }
  const shown = SETTING_ROWS.filter((row) => row.isSecret).map((row) =>
    maskSettingValue(row, URLS[row.name] ?? 'planted'));
  assert.deepEqual(shown, ['***', 'http://***@h:1', 'postgres://***@a:1,b:2/c?sslmode=require']);
});

test('variables that Kubernetes makes for a service of our name are left alone', () => {
  const environment = {
    HOOKSHELF_SERVICE_HOST: '10.0.0.1', HOOKSHELF_PORT: 'tcp://10.0.0.1:80',
    HOOKSHELF_PORT_80_TCP_ADDR: '10.0.0.1', HOME: '/',
  };
  assert.doesNotThrow(() => loadSettings({ environment }));
  assertRefused(fromVariable('HOOKSHELF_PORT', '9000'), /did you mean HOOKSHELF_SERVER_PORT/);
});

test('the variables that a program of run-command has are no settings', () => {
  const environment = Object.fromEntries(Object.values(HOOK_VARIABLES).map((name) => [name, 'x']));
  assert.deepEqual(loadSettings({ environment }), loadSettings());
  assertRefused(fromVariable('HOOKSHELF_HOOKS', 'x'), /unknown environment variable/);
});

test('a settings file is read with its folder, may be missing, and must be JSON', () => {
  const folder = createTemporaryFolder();
  const path = join(folder, 'settings.json');
  assert.equal(readSettingsFile(path, false), null);
  assert.throws(() => readSettingsFile(path, true), /cannot be read/);
  writeFileSync(path, '\uFEFF{"actions":["a.mjs"]}');
  const { settings } = loadSettings({ file: readSettingsFile(path, true) });
  assert.deepEqual(settings.actions.modules, [join(folder, 'a.mjs')]);
  writeFileSync(path, '{"actions":');
  assert.throws(() => readSettingsFile(path, false), /settings\.json cannot be read/);
  writeFileSync(path, '{"http": {"timeout": 5},\n "http": {"retries": 1}}');
  assert.throws(() => readSettingsFile(path, false),
    /settings\.json cannot be read: line 2, column 2: the member "http" stands twice/);
});
