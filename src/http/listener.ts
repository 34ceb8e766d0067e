import { App, type us_listen_socket, us_listen_socket_close } from 'uWebSockets.js';
import { limits } from '../domain/limits.ts';
import { Connections, connectionsMax } from './connections.ts';
import type { ReferenceSite } from './reference-site.ts';
import { mount, type RequestWatch, type Route, type RouteLog } from './routes.ts';

/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it two processes share a port and nobody is told. */
const exclusivePort = 1;
/** LIBUS_LISTEN_DEFAULT, which is SO_REUSEPORT: all processes of one user that ask for it share. */
const sharedPort = 0;

/** The form with host and options is there, but missing in the package's types. */
type ListenWithOptions = (
  host: string,
  port: number,
  options: number,
  told: (socket: us_listen_socket | false) => void,
) => void;

export interface Listener {
  /**
   * Takes no new connection, answers what is under way or still comes on connections that are
   * there, each as the last of its connection, and cuts what is left when nobody asks any more or
   * time is up.
   */
  close(graceMs: number): Promise<void>;
}

export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
  /** Other processes may listen there too; else a second one is refused. */
  readonly shared?: boolean;
}

/**
 * Serves routes on an address.
 *
 * @throws Error with one clear line when the address is taken
 */
export function listen(
  address: ListenerAddress,
  routes: readonly Route[],
  log: RouteLog,
  site: ReferenceSite | null = null,
  watch?: RequestWatch,
): Promise<Listener> {
  const { host, port, shared = false } = address;
  const app = App();
  const openAnswers = mount(app, routes, log, site, watch);
  const connections = new Connections(connectionsMax(), log, () => openAnswers.noteConnection());
  connections.watch(app);
  const listenWith = app.listen.bind(app) as unknown as ListenWithOptions;
  return new Promise((resolve, reject) => {
    listenWith(host, port, shared ? sharedPort : exclusivePort, (socket) => {
      if (!socket) {
        reject(new Error(`the address ${host}:${port} cannot be listened on`));
        return;
      }
      resolve({
        async close(graceMs) {
          openAnswers.beginClosing();
          // Just after the system was asked what has come: who is connected by then was let in.
          // Who connects between that and the next line is reset by the system.
          await turn();
          us_listen_socket_close(socket);
          await openAnswers.settled(graceMs, limits.stopQuietMs, () => connections.open);
          await turn();
          app.close();
        },
      });
    });
  });
}

/** Resolves after this turn of the event loop has read what had come. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
