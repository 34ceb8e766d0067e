import { BlockList, isIP } from 'node:net';
import type { Exchange } from './exchange.ts';

/**
 * Whose address a request comes from (DECISIONS 7): the socket's, or, behind a proxy that is
 * trusted, the last one in `X-Forwarded-For` that no trusted proxy wrote.
 */
export class ClientAddress {
  readonly #trusted = new BlockList();

  /** @param proxies addresses or subnets (`10.0.0.0/8`) whose X-Forwarded-For is believed */
  constructor(proxies: readonly string[]) {
    for (const proxy of proxies) {
      const [address = '', bits] = proxy.split('/');
      const family = familyOf(address);
      if (!family) throw new Error(`${proxy} is no address of a proxy`);
      if (bits === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(bits), family);
    }
  }

  /** The client's network: the /24 of an IPv4 address, the /48 of an IPv6 one, as text. */
  networkOf(exchange: Exchange): string {
    return network(this.addressOf(exchange));
  }

  addressOf(exchange: Exchange): string {
    const hops = (exchange.head.firstHeader('X-Forwarded-For') ?? '')
      .split(',')
      .map((hop) => hop.trim());
    let address = plain(exchange.remoteAddress);
    while (this.#isTrusted(address)) {
      const before = plain(hops.pop() ?? '');
      if (!familyOf(before)) break;
      address = before;
    }
    return address;
  }

  #isTrusted(address: string): boolean {
    const family = familyOf(address);
    return family !== null && this.#trusted.check(address, family);
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address);
  return version === 4 ? 'ipv4' : version === 6 ? 'ipv6' : null;
}

/** IPv4 addresses in their IPv6 form become plain ones. */
function plain(address: string): string {
  const mapped = /^(?:::ffff:|(?:0{4}:){5}ffff:)(.+)$/i.exec(address)?.[1];
  if (mapped === undefined) return address;
  if (mapped.includes('.')) return mapped;
  const [high = '0', low = '0'] = mapped.split(':');
  const value = (Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

function network(address: string): string {
  if (familyOf(address) !== 'ipv6') return address.split('.').slice(0, 3).join('.');
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  if (tail !== undefined) {
    const after = tail.split(':').filter(Boolean);
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return groups
    .slice(0, 3)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
