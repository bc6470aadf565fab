/** Groups of addresses that settings name: whom to believe, where not to connect. */

export const ADDRESS_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['metadata', [
    // Amazon and most others, and what Amazon, Google, Oracle and Scaleway have in IPv6.
    '169.254.169.254', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    // Alibaba, Azure, and Oracle's first one.
    '100.100.100.200', '168.63.129.16', '192.0.0.192',
  ]],
  // Connecting to the unspecified address reaches this machine.
  ['loopback', ['127.0.0.0/8', '::1', '0.0.0.0/8', '::']],
  // RFC 1918, the shared space of RFC 6598, unique local addresses and their predecessor.
  ['private', [
    '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10',
  ]],
]);
