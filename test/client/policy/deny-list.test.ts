import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { createDenyList } from '../../../src/client/policy/deny-list.ts';

type Row = { readonly entries: string[]; readonly denied: string[]; readonly allowed: string[] };

const ROWS: readonly Row[] = [
  {
    entries: ['link-local'],
    denied: [
      '169.254.0.1', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf::1', 'fe80::1%eth0',
      '::ffff:169.254.1.1', '::ffff:a9fe:0101', '64:ff9b::169.254.1.1', '64:ff9b::a9fe:101',
      '0:0:0:0:0:ffff:a9fe:a9fe', '::169.254.169.254', 'FE80::1',
      '2002:a9fe:0101::1', '::ffff:0:169.254.1.1', '::ffff:0:a9fe:101',
      '2001:0:a9fe:0101::1', '2001::5601:5601', '2001:0:0808:0808:8000:63bf:5601:5601',
      '2001:db8::5efe:169.254.1.1', '2001:db8::200:5efe:a9fe:101',
    ],
    allowed: [
      '169.253.255.255', '169.255.0.0', 'fec0::1', '127.0.0.1', '::1',
      '64:ff9b::8.8.8.8',
      '2002:0808:0808::a9fe:101', '2003:a9fe:101::1', '::ffff:0:8.8.8.8', '::fffe:0:169.254.1.1',
      '2001:0:808:808::f7f7:f7f7', '2001:1:a9fe:101::', '2001:db8::1:5efe:169.254.1.1',
    ],
  },
  {
    entries: ['metadata'],
    denied: [
      '169.254.169.254', 'fd00:ec2::254', 'fd00:ec2:0:0:0:0:0:254', '100.100.100.200',
      '168.63.129.16', 'fd20:ce::254', 'fd20:00ce:0::0254', '192.0.0.192', '::ffff:192.0.0.192',
      '2002:c000:00c0::', '2001::3fff:ff3f', '::ffff:0:168.63.129.16', '2002:a9fe:a9fe::1',
      'fd00:ec2::23', 'fd00:c1::a9fe:a9fe', 'fd00:42::42',
      '::ffff:100.100.100.200', '64:ff9b::168.63.129.16',
    ],
    allowed: [
      '169.254.169.253', 'fd00:ec2::253', '100.100.100.201', '168.63.129.17',
      'fd20:ce::255', '192.0.0.193',
    ],
  },
  {
    entries: ['loopback'],
    denied: [
      '127.0.0.1', '127.255.255.255', '0.0.0.0', '::', '::1', '0:0:0:0:0:0:0:1',
      '::ffff:127.0.0.1', '::ffff:0.0.0.0', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1',
      '64:ff9b:1::127.0.0.1', '64:ff9b:1:fffe::7f00:1',
      '2002:7f00:1::', '2001::80ff:fffe', '::ffff:0:127.0.0.1', '2001:db8::5efe:127.0.0.1',
    ],
    allowed: [
      '64:ff9b:1::8.8.8.8', '64:ff9b:2::127.0.0.1', '128.0.0.1', '126.255.255.255',
      '::2', '10.0.0.1',
    ],
  },
  {
    entries: ['private'],
    denied: [
      '10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1',
      'fdff::1', '100.64.0.1', '::ffff:192.168.1.1', '64:ff9b::10.1.2.3',
      '2002:0a01:0203::', '::ffff:0:10.1.2.3', '2001::f5fe:fdfc',
    ],
    allowed: ['11.0.0.1', '172.15.0.1', '172.32.0.1', '192.169.0.1', 'fe00::1', '127.0.0.1'],
  },
  {
    entries: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7', '64:ff9b::/96'],
    denied: [
      '203.0.113.9', '::ffff:203.0.113.9', '2001:db8:1::1', '198.51.100.7', '64:ff9b::8.8.8.8',
    ],
    allowed: ['203.0.114.1', '2001:db9::1', '198.51.100.8', '8.8.8.8'],
  },
  { entries: ['0.0.0.0/0'], denied: ['8.8.8.8', '::ffff:8.8.8.8'], allowed: ['2001:db8::1'] },
  { entries: [], denied: [], allowed: ['127.0.0.1', '169.254.169.254', '::1'] },
];

for (const { entries, denied, allowed } of ROWS) {
  test(`the deny list [${entries.join(', ')}] refuses its addresses in every form`, () => {
    const list = createDenyList(entries);
    assert.deepEqual(denied.filter((address) => !list.isDenied(address)), []);
    assert.deepEqual(allowed.filter((address) => list.isDenied(address)), []);
  });
}

test('a deny list never refuses a name: names are looked up first', () => {
  const list = createDenyList(['loopback', 'private', 'metadata', 'link-local']);
  assert.deepEqual(['localhost', 'metadata', '127.0.0.1.example'].filter(list.isDenied), []);
});

const UNREADABLE = [
  'localhost', '', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0/8', 'Private',
  '10.0.0.0/08', '::/00', '10.0.0.01', '::ffff:10.0.0.01',
];

for (const entry of UNREADABLE) {
  test(`the entry ${JSON.stringify(entry)} of a deny list is refused by name`, () => {
    assert.throws(() => createDenyList([entry]), (error) => error instanceof AppError
      && error.code === 'usage' && error.message.includes(JSON.stringify(entry)));
  });
}
