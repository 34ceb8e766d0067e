import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FileStore } from '../../src/artifacts/files/store.ts';
import { bodyOf, metaOf, namesIn, newObject, readAll, sha256 } from '../artifacts/bodies.ts';
import { someMeta } from '../artifacts/some-meta.ts';

/** What is committed: its bytes and its metadata. */
type Model = Map<string, { readonly body: Buffer; readonly meta: ReturnType<typeof someMeta> }>;

/** The real file store; a crash goes on from a copy of its files as they are at that moment. */
interface Real {
  root: string;
  store: FileStore;
  mark: string | null;
}

type Step = fc.AsyncCommand<Model, Real>;

class Put implements Step {
  readonly length: number;
  constructor(length: number) {
    this.length = length;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const [object, meta] = [newObject(), someMeta()];
    const body = bodyOf(object, this.length);
    const upload = real.store.begin(object, body.length, meta);
    await upload.write(body);
    expect(await namesIn(real.store)).not.toContain(object);
    await upload.commit(sha256(body));
    model.set(object, { body, meta });
  }
  toString = () => `put ${this.length}`;
}

class GiveUp implements Step {
  check = () => true;
  async run(_: Model, real: Real): Promise<void> {
    const upload = real.store.begin(newObject(), 10, someMeta());
    await upload.write(Buffer.alloc(7));
    await upload.abort();
  }
  toString = () => 'give up';
}

class Remove implements Step {
  readonly which: number;
  constructor(which: number) {
    this.which = which;
  }
  check = (model: Readonly<Model>) => model.size > 0;
  async run(model: Model, real: Real): Promise<void> {
    const object = [...model.keys()][this.which % model.size]!;
    await real.store.remove(object);
    model.delete(object);
  }
  toString = () => `remove ${this.which}`;
}

class WriteMark implements Step {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  check = () => true;
  async run(_: Model, real: Real): Promise<void> {
    await real.store.writeMark(this.text);
    real.mark = this.text;
  }
  toString = () => `mark ${this.text}`;
}

/** So many turns after a commit and a new mark were begun. */
class Crash implements Step {
  readonly turns: number;
  constructor(turns: number) {
    this.turns = turns;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const [object, meta] = [newObject(), someMeta()];
    const body = bodyOf(object, 3_000);
    const upload = real.store.begin(object, body.length, meta);
    await upload.write(body);
    let answered = false;
    const committing = upload.commit(sha256(body)).then(() => {
      answered = true;
    });
    const marking = real.store.writeMark('under way');
    for (let n = 0; n < this.turns; n++) await turn();
    const held = answered;
    const root = await newRoot();
    // What is in there has no name yet, and may be renamed while it is copied.
    const uploads = join(real.root, 'tmp', '');
    cpSync(real.root, root, { recursive: true, filter: (from) => !from.startsWith(uploads) });
    await Promise.all([committing, marking]);
    real.root = root;
    real.store = new FileStore(root);
    await real.store.prepare();
    const isThere = (await namesIn(real.store)).includes(object);
    if (held) expect(isThere).toBe(true);
    if (isThere) model.set(object, { body, meta });
    const mark = await real.store.readMark();
    expect(['under way', real.mark]).toContain(mark);
    real.mark = mark;
  }
  toString = () => `crash after ${this.turns} turns`;
}

const roots: string[] = [];

async function newRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'weir-file-model-'));
  roots.push(root);
  return root;
}

async function agree(model: Model, { store, mark }: Real): Promise<void> {
  expect(await namesIn(store)).toEqual([...model.keys()].sort());
  expect(await store.readMark()).toBe(mark);
  for (const [object, { body, meta }] of model) {
    const place = { object, offset: 0, length: body.length };
    expect((await readAll(store, place)).equals(body)).toBe(true);
    expect(await metaOf(store, object)).toEqual(meta);
  }
}

test('the file store agrees with a plain map over any steps and crashes', async () => {
  const steps = fc.commands(
    [
      fc.nat(70_000).map((length) => new Put(length)),
      fc.constant(new GiveUp()),
      fc.nat(9).map((which) => new Remove(which)),
      fc.constantFrom('one', 'two').map((text) => new WriteMark(text)),
      fc.nat(12).map((turns) => new Crash(turns)),
    ],
    { maxCommands: 14 },
  );
  try {
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const root = await newRoot();
        const real: Real = { root, store: new FileStore(root), mark: null };
        await real.store.prepare();
        const model: Model = new Map();
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await agree(model, real);
      }),
      { numRuns: 40 },
    );
  } finally {
    for (const root of roots) await rm(root, { recursive: true, force: true });
  }
});
