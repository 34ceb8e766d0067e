import { App, type us_listen_socket, us_listen_socket_close } from 'uWebSockets.js';
import type { ReferenceSite } from './reference-site.ts';
import { mount, type RequestWatch, type Route, type RouteLog } from './routes.ts';

/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it two processes share a port and nobody is told. */
const exclusivePort = 1;

/** The form with host and options is there, but missing in the package's types. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  told: (socket: us_listen_socket | false) => void,
) => void;

export interface Listener {
  /**
   * Takes no new connection, lets the answers under way out, each as the last of its connection,
   * and cuts what is left when there are none or time is up.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Serves routes on an address of its own: a second process on the same port is refused.
 *
 * @throws Error with one clear line when the address is taken
 */
export function listen(
  address: { readonly host: string; readonly port: number },
  routes: readonly Route[],
  log: RouteLog,
  site: ReferenceSite | null = null,
  watch?: RequestWatch,
): Promise<Listener> {
  const { host, port } = address;
  const app = App();
  const openAnswers = mount(app, routes, log, site, watch);
  const listenExclusively = app.listen.bind(app) as unknown as ListenExclusively;
  return new Promise((resolve, reject) => {
    listenExclusively(host, port, exclusivePort, (socket) => {
      if (!socket) {
        reject(new Error(`the address ${host}:${port} cannot be listened on`));
        return;
      }
      resolve({
        async close(graceMs) {
          us_listen_socket_close(socket);
          await openAnswers.settled(graceMs);
          app.close();
        },
      });
    });
  });
}
