import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm, rmdir, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Needed, need } from './needed.ts';

const run = promisify(execFile);

/** A file system of its own on a directory, and a file in it that takes its room away. */
export interface SmallDisk {
  /** Bytes that can be written. */
  free(): Promise<number>;
  /** Takes all room but so many bytes. */
  leave(bytes: number): Promise<void>;
  /** Gives back what `leave` took. */
  makeRoom(): Promise<void>;
  /** Its files are gone then. */
  unmount(): Promise<void>;
}

/** Mounts a file system of so many bytes on a directory, which is made. */
export type MountSmallDisk = (directory: string, bytes: number) => Promise<SmallDisk>;

/** Small disks, or the reason why they cannot be had; for `describeWith`. */
export function smallDiskOrSkip(): Promise<Needed<MountSmallDisk>> {
  return need('a small file system', async () => {
    const probe = await mkdtemp(join(tmpdir(), 'weir-disk-'));
    try {
      const disk = await mountSmallDisk(probe, 1 << 20);
      await disk.unmount();
    } finally {
      await rmdir(probe);
    }
    return mountSmallDisk;
  });
}

/** @throws Error in one line when this user may not mount */
async function mountSmallDisk(directory: string, bytes: number): Promise<SmallDisk> {
  await mkdir(directory, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', directory]);
  } catch (error) {
    throw new Error(`mount failed: ${(error as Error).message.trim().split('\n').at(-1)}`);
  }
  const filler = join(directory, 'filler');
  const free = async () => {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  };
  return {
    free,
    async leave(bytesLeft) {
      const file = await open(filler, 'a');
      try {
        for (let room = await free(); room > bytesLeft; room = await free()) {
          await file.write(Buffer.alloc(Math.min(room - bytesLeft, 1 << 20)));
        }
      } catch (error) {
        // Somebody else took the last of it.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        await file.close();
      }
    },
    makeRoom: () => rm(filler),
    async unmount() {
      // Lazily: a process that a failed test left may still have a file open.
      await run('umount', ['-l', directory]);
    },
  };
}
