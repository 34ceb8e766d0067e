import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { endServer, pauseServer } from './server-process.ts';

/** An object store that tests start, and take away. */
export interface S3Server {
  readonly port: number;
  /** Of the process that runs now. */
  pid(): number;
  /** Of a bucket in it, for `openArtifacts`; `https` when it was started with certificates. */
  url(bucket: string): string;
  /** SIGKILL; the data stay for a restart. */
  kill(): Promise<void>;
  /** Stops all its threads (SIGSTOP): connections stand, nothing is answered until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** Starts it again on the same port and data. */
  restart(): Promise<void>;
  /** Ends it and removes what it stored, unless the directory was given. */
  stop(): Promise<void>;
}

/** @param home removed when the server is stopped */
export async function runS3Server(
  about: { readonly port: number; readonly home: string; readonly origin: string },
  start: () => Promise<ChildProcess>,
): Promise<S3Server> {
  let child = await start();
  const end = () => endServer(child);
  return {
    port: about.port,
    pid: () => child.pid!,
    url: (bucket) => `s3+${about.origin}/${bucket}`,
    kill: end,
    pause: () => pauseServer(child),
    resume: () => {
      child.kill('SIGCONT');
    },
    restart: async () => {
      await end();
      child = await start();
    },
    stop: async () => {
      await end();
      await rm(about.home, { recursive: true, force: true });
    },
  };
}
