/** A set of addresses and CIDR blocks, over net.BlockList. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { parseIpAddresses } from './ip-address.ts';
import type { IpAddress } from './ip-address.ts';

export class AddressSet {
  readonly #blocks = new BlockList();

  /** Adds an address or a block such as `10.0.0.0/8`; false when `text` is neither. */
  add(text: string): boolean {
    const block = parseBlock(text);
    if (block === null) return false;
    this.#blocks.addSubnet(block.address, block.bits, block.family);
    return true;
  }

  /** Whether `text` is an IP literal in the set, as it stands or unwrapped. */
  has(text: string): boolean {
    return parseIpAddresses(text)
      .some(({ address, family }) => this.#blocks.check(address, family));
  }

  /**
   * Whether `text` is an IP literal in the set as it stands, with only mapped IPv4 unwrapped:
   * anybody may put the other forms that `has` unwraps into an address of his own.
   */
  hasLiteral(text: string): boolean {
    const family = isIP(text);
    return family !== 0 && this.#blocks.check(text, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Whether `text` is an address or a block such as `10.0.0.0/8`. */
export function isAddressBlock(text: string): boolean {
  return parseBlock(text) !== null;
}

type CidrBlock = IpAddress & { readonly bits: number };

function parseBlock(text: string): CidrBlock | null {
  const [address = '', bits, more] = text.split('/');
  if (isIP(address) === 0 || more !== undefined) return null;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const bitsMax = family === 'ipv4' ? 32 : 128;
  if (bits === undefined) return { address, family, bits: bitsMax };
  // Leading zeros are refused, as in the parts of an address: some read them as octal.
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > bitsMax) return null;
  return { address, family, bits: Number(bits) };
}
