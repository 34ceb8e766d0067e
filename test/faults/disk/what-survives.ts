import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SystemCall } from '../../support/strace.ts';
import { openPath, textsOf, writtenBy } from './call-text.ts';

/** What a trace must hold, with all bytes, so that the files can be made of it. */
export const filesTraced = [
  ...['openat', 'write', 'writev', 'pwrite64', 'pwritev', 'ftruncate', 'fsync', 'fdatasync'],
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat', 'mkdir', 'mkdirat'],
  ...['unlink', 'unlinkat', 'rmdir'],
];

type When = Pick<SystemCall, 'begun' | 'ended'>;

/** A write that a cut may take; without bytes the file ends there. */
interface Write extends When {
  readonly at: number;
  readonly bytes: Buffer | null;
}

interface File {
  /** Where it lay before the trace; null: it was made since. */
  readonly base: string | null;
  readonly writes: Write[];
  readonly syncs: When[];
}

/** A name that came (with a file or a directory) or went (null); `from`: it had that one before. */
interface Naming extends When {
  readonly path: string;
  readonly entry: File | 'directory' | null;
  readonly from: string | null;
}

/**
 * Files as a disk keeps them that writes nothing but what it must: of all that was traced, a write
 * survives when its file was synced after it, a name when its directory was, and both before the
 * cut. All else is lost, or kept where `keep` says so, for a disk may write anything in any order.
 * A cut is a place in the trace.
 */
export class Disk {
  readonly #root: string;
  readonly #before: ReadonlyMap<string, File | 'directory'>;
  readonly #now: Map<string, File | 'directory'>;
  readonly #namings: Naming[] = [];
  readonly #directorySyncs = new Map<string, When[]>();

  /** @param before paths below the root when the trace began, which are safe; true: a directory */
  constructor(root: string, before: ReadonlyMap<string, boolean>, calls: readonly SystemCall[]) {
    this.#root = root;
    this.#before = new Map(
      [...before].map(([path, isDirectory]) => [path, isDirectory ? 'directory' : newFile(path)]),
    );
    this.#now = new Map(this.#before);
    const done = calls.filter((call) => !call.failed);
    for (const call of done.toSorted((a, b) => a.ended - b.ended)) this.#take(call);
  }

  /** Paths that are there at the end of the trace and that a cut right then could take. */
  unsafeNames(): string[] {
    const last = new Map(this.#namings.map((naming) => [naming.path, naming]));
    return [...last.values()]
      .filter(({ entry }) => entry !== null)
      .filter((naming) => !this.#isSafe(naming, Number.POSITIVE_INFINITY))
      .map(({ path }) => path);
  }

  /** Makes what is left after a cut. @param base a copy of what was there before the trace */
  async write(base: string, to: string, cut: number, keep: () => boolean): Promise<void> {
    const left = new Map(this.#before);
    for (const naming of this.#namings) {
      if (naming.begun > cut || !(this.#isSafe(naming, cut) || keep())) continue;
      if (naming.from !== null) left.delete(naming.from);
      if (naming.entry === null) left.delete(naming.path);
      else left.set(naming.path, naming.entry);
    }
    const rootless = (path: string) => path.slice(this.#root.length);
    await mkdir(to, { recursive: true });
    for (const [path, entry] of [...left].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const parent = dirname(path);
      if (parent !== this.#root && left.get(parent) !== 'directory') {
        left.delete(path); // Lost with it.
        continue;
      }
      if (entry === 'directory') await mkdir(join(to, rootless(path)));
      else await writeFile(join(to, rootless(path)), await this.#contents(base, entry, cut, keep));
    }
  }

  async #contents(base: string, file: File, cut: number, keep: () => boolean): Promise<Buffer> {
    const at = file.base?.slice(this.#root.length);
    const before = at === undefined ? Buffer.alloc(0) : await readFile(join(base, at));
    const left = file.writes.filter(
      (write) => write.begun <= cut && (isSynced(write, file.syncs, cut) || keep()),
    );
    const ends = left.map((write) => write.at + (write.bytes?.length ?? 0));
    const room = Buffer.alloc(Math.max(before.length, ...ends)); // Zeros where nothing came.
    before.copy(room);
    let length = before.length;
    for (const { at, bytes } of left) {
      if (bytes === null) room.fill(0, at);
      else bytes.copy(room, at);
      length = bytes === null ? at : Math.max(length, at + bytes.length);
    }
    return room.subarray(0, length);
  }

  #isSafe(naming: Naming, cut: number): boolean {
    return isSynced(naming, this.#directorySyncs.get(dirname(naming.path)) ?? [], cut);
  }

  #take(call: SystemCall): void {
    const { name, text } = call;
    const open = openPath(text);
    if (open !== null && !this.#isHere(open)) return;
    if (/sync$/.test(name)) this.#sync(open!, call);
    else if (/write|truncate/.test(name)) this.#write(open, call);
    else this.#name(call);
  }

  #isHere(path: string | undefined): path is string {
    // SQLite's index of the log is made anew by whoever comes first after a cut.
    return path !== undefined && `${path}/`.startsWith(`${this.#root}/`) && !/-shm$/.test(path);
  }

  #sync(path: string, when: When): void {
    const entry = this.#now.get(path);
    if (entry !== undefined && entry !== 'directory') entry.syncs.push(when);
    else this.#directorySyncs.set(path, [...(this.#directorySyncs.get(path) ?? []), when]);
  }

  #write(path: string | null, { name, text, begun, ended }: SystemCall): void {
    const file = path === null ? undefined : this.#now.get(path);
    if (file === undefined || file === 'directory') return; // A socket, a pipe.
    const when = { begun, ended };
    if (name === 'ftruncate') {
      const at = Number(/, (\d+)\) += 0$/.exec(text)![1]);
      file.writes.push({ ...when, at, bytes: null });
      return;
    }
    const { bytes, at } = writtenBy(text);
    const ends = at === null ? file.writes.map((one) => one.at + (one.bytes?.length ?? 0)) : [];
    file.writes.push({ ...when, at: at ?? Math.max(0, ...ends), bytes });
  }

  #name(call: SystemCall): void {
    const { name, text, begun, ended } = call;
    const when = { begun, ended, from: null };
    const [path, second] = textsOf(text);
    if (/^(rename|link)/.test(name)) {
      const entry = this.#now.get(path!);
      if (!this.#isHere(second) || entry === undefined) return;
      const from = name.startsWith('rename') ? path! : null;
      this.#put({ ...when, path: second, entry, from });
    } else if (this.#isHere(path)) {
      if (name.startsWith('mkdir')) this.#put({ ...when, path, entry: 'directory' });
      else if (/^(unlink|rmdir)/.test(name)) this.#put({ ...when, path, entry: null });
      else if (text.includes('O_CREAT') && !this.#now.has(path)) {
        this.#put({ ...when, path, entry: newFile(null) });
      }
    }
  }

  #put(naming: Naming): void {
    this.#namings.push(naming);
    if (naming.from !== null) this.#now.delete(naming.from);
    if (naming.entry === null) this.#now.delete(naming.path);
    else this.#now.set(naming.path, naming.entry);
  }
}

function newFile(base: string | null): File {
  return { base, writes: [], syncs: [] };
}

function isSynced({ ended }: When, syncs: readonly When[], cut: number): boolean {
  return syncs.some((sync) => sync.begun > ended && sync.ended < cut);
}
