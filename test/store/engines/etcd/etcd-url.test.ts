import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEtcdUrl } from '../../../../src/store/engines/etcd/etcd-url.ts';

test('a URL names members, prefix, user and how history is compacted', () => {
  assert.deepEqual(parseEtcdUrl('etcd://one,two:1234,[::1]:9'), {
    endpoints: [
      { host: 'one', port: 2379 }, { host: 'two', port: 1234 }, { host: '::1', port: 9 },
    ],
    isTls: false, prefix: 'hookshelf', user: null, password: null, compacts: true,
    name: 'etcd://one:2379,two:1234,[::1]:9/hookshelf',
  });
  assert.deepEqual(parseEtcdUrl('etcds://me:p%40ss:w@one/shelf/a/?compaction=engine'), {
    endpoints: [{ host: 'one', port: 2379 }], isTls: true, prefix: 'shelf/a', user: 'me',
    password: 'p@ss:w', compacts: false, name: 'etcds://one:2379/shelf/a',
  });
});

for (const [url, mend] of [
  ['etcd://', /write etcd:\/\/host/],
  ['http://me:secret@one', /write etcd:\/\/host/],
  ['etcd://me:secret@one,,two', /hosts/],
  ['etcd://me:secret@one:0', /hosts/],
  ['etcd://me:secret@one:70000', /hosts/],
  ['etcd://me:secret@one/a b', /path/],
  ['etcd://me:secret@one/a//b', /path/],
  ['etcd://me:secret@one/?compact=1', /compaction=engine/],
  ['etcd://me:secret%@one', /%25/],
] as const) {
  test(`${url} is refused, and its password not shown`, () => {
    assert.throws(() => parseEtcdUrl(url), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'usage');
      assert.match(error.message, mend);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });
}
