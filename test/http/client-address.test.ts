import { describe, expect, test } from 'vitest';
import { ClientAddress } from '../../src/http/client-address.ts';

const proxies = ['127.0.0.1', '10.0.0.0/8', '2001:db8:ffff::/48', '::1'];
const addresses = new ClientAddress(proxies);

function from(remoteAddress: string, forwardedFor: string | null = null) {
  return { remoteAddress, forwardedFor };
}

describe("the client's address (DECISIONS 7)", () => {
  test.each<[string, string, string | null, string]>([
    ['is the socket without a proxy', '198.51.100.7', null, '198.51.100.7'],
    ['is never the header of an untrusted sender', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['is the proxy itself without a header', '127.0.0.1', null, '127.0.0.1'],
    ['is the proxy itself with an empty header', '127.0.0.1', '', '127.0.0.1'],
    ['is what a trusted proxy says', '127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['is the last hop that is not trusted', '127.0.0.1', '1.2.3.4, 203.0.113.9', '203.0.113.9'],
    [
      'lies behind all trusted hops',
      '10.1.2.3',
      '1.2.3.4, 203.0.113.9,10.9.9.9 ,  10.8.8.8',
      '203.0.113.9',
    ],
    ['is the first hop when all are trusted', '127.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
    ['stops at garbage', '127.0.0.1', '203.0.113.9, unknown', '127.0.0.1'],
    ['stops at garbage behind a trusted hop', '127.0.0.1', 'what?, 10.2.2.2', '10.2.2.2'],
    ['stops at an empty hop', '127.0.0.1', '203.0.113.9, ', '127.0.0.1'],
    ['takes no port for an address', '127.0.0.1', '203.0.113.9:4711', '127.0.0.1'],
    ['takes no number for an address', '127.0.0.1', '3405803785', '127.0.0.1'],
    ['takes no leading zeros', '127.0.0.1', '203.0.113.010', '127.0.0.1'],
    ['knows a trusted IPv6 proxy', '::1', '203.0.113.9', '203.0.113.9'],
    [
      'knows it written out',
      '0000:0000:0000:0000:0000:0000:0000:0001',
      '203.0.113.9',
      '203.0.113.9',
    ],
    ['knows a trusted IPv6 network', '2001:db8:ffff:1::2', '2001:db8:1::5', '2001:db8:1::5'],
    ['knows IPv4 proxies in IPv6 form', '::ffff:10.1.1.1', '203.0.113.9', '203.0.113.9'],
    ['knows them in hex', '::ffff:7f00:1', '203.0.113.9', '203.0.113.9'],
    [
      'knows them written out',
      '0000:0000:0000:0000:0000:ffff:7f00:0001',
      '203.0.113.9',
      '203.0.113.9',
    ],
    ['gives IPv4 in IPv6 form as IPv4', '127.0.0.1', '::FFFF:203.0.113.9', '203.0.113.9'],
    ['is not IPv4 with other bits set', '::1:ffff:7f00:1', '203.0.113.9', '::1:ffff:7f00:1'],
    ['is nothing when the sender is gone', '', '203.0.113.9', ''],
  ])('%s', (_, remoteAddress, forwardedFor, expected) => {
    expect(addresses.addressOf(from(remoteAddress, forwardedFor))).toBe(expected);
  });
});

describe("the client's network", () => {
  test.each([
    ['198.51.100.7', '198.51.100'],
    ['198.51.100.255', '198.51.100'],
    ['198.51.101.7', '198.51.101'],
    ['::ffff:198.51.100.7', '198.51.100'],
    ['::ffff:c633:6407', '198.51.100'],
    ['0:0:0:0:0:ffff:198.51.100.7', '198.51.100'],
    ['0000:0000:0000:0000:0000:ffff:c633:6407', '198.51.100'],
    ['2001:db8:7::1', '2001:db8:7'],
    ['2001:DB8:7::1', '2001:db8:7'],
    ['2001:0db8:0007:0009:0000:0000:0000:0001', '2001:db8:7'],
    ['2001:db8:7:ffff:ffff:ffff:ffff:ffff', '2001:db8:7'],
    ['2001:db8:8::1', '2001:db8:8'],
    ['2001:db8::1', '2001:db8:0'],
    ['2001::1', '2001:0:0'],
    ['::1', '0:0:0'],
    ['::', '0:0:0'],
    ['1::', '1:0:0'],
    ['::2:3:4:5:6:7:8', '0:2:3'],
    ['::2:3:4:5:6:1.2.3.4', '0:2:3'],
    ['fe80::1%eth0', 'fe80:0:0'],
    ['64:ff9b:1::192.0.2.33', '64:ff9b:1'],
  ])('of %s is %s', (address, expected) => {
    expect(addresses.networkOf(from(address))).toBe(expected);
  });
});

describe('trusted proxies', () => {
  test('may be none: then no header is believed', () => {
    const none = new ClientAddress([]);
    expect(none.addressOf(from('127.0.0.1', '203.0.113.9'))).toBe('127.0.0.1');
  });

  test('may be everybody', () => {
    const all = new ClientAddress(['0.0.0.0/0', '::/0']);
    expect(all.addressOf(from('198.51.100.7', '2001:db8::1, 203.0.113.9'))).toBe('2001:db8::1');
  });

  test('in IPv6 form are the IPv4 addresses they are', () => {
    const mapped = new ClientAddress(['::ffff:198.51.100.7']);
    expect(mapped.addressOf(from('198.51.100.7', '203.0.113.9'))).toBe('203.0.113.9');
    expect(mapped.addressOf(from('198.51.100.8', '203.0.113.9'))).toBe('198.51.100.8');
  });

  test.each(['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/x', '::/129', '10.0.0.256', '/8'])(
    '%s is refused by its name',
    (proxy) => {
      expect(() => new ClientAddress([proxy])).toThrow(
        `WEIR_TRUSTED_PROXIES: ${proxy} is no address and no subnet`,
      );
    },
  );
});
