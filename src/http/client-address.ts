import { BlockList, isIP } from 'node:net';

/** What a request tells of where it comes from. */
export interface Hops {
  /** Of the socket's other end. */
  readonly remoteAddress: string;
  /** `X-Forwarded-For`, all its lines as one list; null without it. */
  readonly forwardedFor: string | null;
}

/**
 * Whose address a request comes from (DECISIONS 7): the socket's, or, behind a proxy that is
 * trusted, the last one in `X-Forwarded-For` that no trusted proxy has. Whatever stands before
 * that one the client may have written itself.
 */
export class ClientAddress {
  readonly #trusted = new BlockList();

  /**
   * @param proxies addresses or subnets (`10.0.0.0/8`) whose X-Forwarded-For is believed
   * @throws Error with one clear line when one of them is neither
   */
  constructor(proxies: readonly string[]) {
    for (const proxy of proxies) {
      const [text = '', bits] = proxy.split('/');
      const address = plain(text);
      const family = address && familyOf(address);
      const bitsMax = family === 'ipv4' ? 32 : 128;
      const subnet = bits === undefined ? bitsMax : /^[0-9]{1,3}$/.test(bits) ? Number(bits) : -1;
      if (!address || !family || subnet < 0 || subnet > bitsMax) {
        throw new Error(`WEIR_TRUSTED_PROXIES: ${proxy} is no address and no subnet`);
      }
      this.#trusted.addSubnet(address, subnet, family);
    }
  }

  /** The client's network as text: the /24 of an IPv4 address, the /48 of an IPv6 one. */
  networkOf(hops: Hops): string {
    const address = this.addressOf(hops);
    const groups = groupsOf(address);
    if (!groups) return address.split('.').slice(0, 3).join('.');
    return groups
      .slice(0, 3)
      .map((group) => group.toString(16))
      .join(':');
  }

  /** The client's address as text, an IPv4 one never in its IPv6 form. */
  addressOf({ remoteAddress, forwardedFor }: Hops): string {
    const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim());
    let address = plain(remoteAddress) ?? remoteAddress;
    while (this.#isTrusted(address)) {
      const before = plain(hops.pop() ?? '');
      // What a trusted proxy did not understand is nobody's address: the proxy's own counts then.
      if (before === null) break;
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

/** An address without its zone; an IPv4 one in its IPv6 form becomes a plain one. Null: none. */
function plain(text: string): string | null {
  const address = text.replace(/%.*$/, '');
  if (isIP(address) === 0) return null;
  const groups = groupsOf(address);
  const isMapped = groups?.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!groups || !isMapped) return address;
  const [high, low] = [groups[6]!, groups[7]!];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight numbers of an IPv6 address (RFC 4291, section 2.2); null of any other text. */
function groupsOf(address: string): number[] | null {
  if (isIP(address) !== 6) return null;
  const inHex = address.replace(/[0-9]+\.[0-9.]+$/, (dotted) => {
    const [a, b, c, d] = dotted.split('.').map(Number);
    return `${((a! << 8) | b!).toString(16)}:${((c! << 8) | d!).toString(16)}`;
  });
  const [head, tail] = inHex.split('::').map(numbersOf);
  if (!tail) return head!;
  return [...head!, ...Array<number>(8 - head!.length - tail.length).fill(0), ...tail];
}

function numbersOf(groups: string): number[] {
  return groups
    .split(':')
    .filter(Boolean)
    .map((group) => Number.parseInt(group, 16));
}
