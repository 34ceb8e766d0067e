import http from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Sockets for the client's own requests: so many at most, closed when silent for so long. */
export interface AgentLimits {
  readonly socketsMax: number;
  readonly silenceMs: number;
}

/** Below the 30 s after which the store closes an idle connection. */
export const agentLimits: AgentLimits = { socketsMax: 64, silenceMs: 20_000 };

/**
 * A keep-alive agent whose sockets are destroyed when nothing moves on them for `silenceMs`:
 * while connecting, waiting for an answer, reading it, or idle. The client has no deadline itself.
 */
export function agentFor(secure: boolean, limits: AgentLimits): http.Agent {
  const options = {
    keepAlive: true,
    maxSockets: limits.socketsMax,
    maxFreeSockets: limits.socketsMax,
    timeout: limits.silenceMs,
  };
  return secure ? watched(new https.Agent(options)) : watched(new http.Agent(options));
}

function watched(agent: http.Agent): http.Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback): Duplex | null | undefined => {
    const socket = connect(options, callback);
    if (socket instanceof Socket) {
      socket.on('timeout', () => socket.destroy(new Error('the store is silent')));
    }
    return socket;
  };
  return agent;
}
