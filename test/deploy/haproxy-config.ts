import { deployFile } from './deploy-files.ts';

/** A node as HAProxy reaches it. */
export interface ProxiedNode {
  readonly host: string;
  readonly api: number;
  readonly app: number;
  readonly ops: number;
}

/** Where HAProxy itself listens in place of its own ports, `host:port` each. */
export interface ProxyPlaces {
  readonly api: string;
  readonly app: string;
  readonly apiTls: string;
  readonly appTls: string;
  readonly metrics: string;
  /** A file of certificate and key. */
  readonly certificate: string;
}

/**
 * `deploy/haproxy.cfg` for given nodes instead of those that Docker names, at other places, and for
 * as many connections as a usual shell allows. All else stays as it stands there.
 *
 * @throws Error when the file has changed so that a part is not found
 */
export function haproxyConfig(nodes: readonly ProxiedNode[], places: ProxyPlaces): string {
  let text = deployFile('haproxy.cfg');
  const replace = (from: string, to: string) => {
    if (!text.includes(from)) throw new Error(`haproxy.cfg has no ${from}`);
    text = text.replaceAll(from, to);
  };
  replace('bind :8080\n', `bind ${places.api}\n`);
  replace('bind :8081\n', `bind ${places.app}\n`);
  replace('bind :8443 ', `bind ${places.apiTls} `);
  replace('bind :8444 ', `bind ${places.appTls} `);
  replace('bind :8404\n', `bind ${places.metrics}\n`);
  replace('/run/secrets/tls.pem', places.certificate);
  replace('maxconn 20000', 'maxconn 2000');
  replace(' port 8082 ', ' ');
  replace(' resolvers docker init-addr none', '');
  replace('\nresolvers docker\n', '\nresolvers unused\n');
  const servers = (port: (node: ProxiedNode) => number, more: string) =>
    nodes
      .map((node, i) => {
        const at = `${node.host}:${port(node)}`;
        return `server weir-${i + 1} ${at} port ${node.ops}${more}`;
      })
      .join('\n  ');
  const more = ' pool-purge-delay 2s';
  replace(
    `server-template weir 1-8 weir:8080${more}`,
    servers(({ api }) => api, more),
  );
  replace(
    'server-template weir 1-8 weir:8081',
    servers(({ app }) => app, ''),
  );
  return text;
}
