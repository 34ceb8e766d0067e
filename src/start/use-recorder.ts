import type { Directory, Use } from '../catalog/catalog.ts';

const flushMs = 5_000;

export interface UseRecorder {
  noteKey(keyId: string, at: number): void;
  noteSecret(secretId: string, at: number): void;
  /** Writes what is noted, and no more after that. */
  close(): Promise<void>;
}

/**
 * Records when keys and secrets were last used, off the hot path: at most five seconds late, one
 * write for all of them. What could not be written is tried again with the next.
 */
export function startUseRecorder(
  directory: Pick<Directory, 'noteUses'>,
  log: { warn(fields: object, message: string): void },
): UseRecorder {
  const keys = new Map<string, number>();
  const secrets = new Map<string, number>();
  let flushing: Promise<void> | null = null;

  const flush = async () => {
    if (keys.size === 0 && secrets.size === 0) return;
    const noted = { keys: drain(keys), secrets: drain(secrets) };
    try {
      await directory.noteUses(noted);
    } catch (err) {
      log.warn({ err }, 'last uses could not be recorded');
      for (const { id, at } of noted.keys) forward(keys, id, at);
      for (const { id, at } of noted.secrets) forward(secrets, id, at);
    }
  };
  const timer = setInterval(() => {
    flushing ??= flush().finally(() => {
      flushing = null;
    });
  }, flushMs);

  return {
    noteKey: (keyId, at) => forward(keys, keyId, at),
    noteSecret: (secretId, at) => forward(secrets, secretId, at),
    async close() {
      clearInterval(timer);
      await flushing;
      await flush();
    },
  };
}

function forward(uses: Map<string, number>, id: string, at: number): void {
  uses.set(id, Math.max(at, uses.get(id) ?? 0));
}

function drain(uses: Map<string, number>): Use[] {
  const noted = [...uses].map(([id, at]) => ({ id, at }));
  uses.clear();
  return noted;
}
