import { expect, test } from 'vitest';
import { bodyOf, refusals } from './bodies.ts';
import { type Draw, Draws, drawKinds, type Scope } from './draws.ts';
import { sha256Of } from './post.ts';

const scopes = ['push', 'document', 'webhook'].flatMap((kind) =>
  ['acme', 'bolt'].map((company) => ({
    ...{ name: `${company}/${kind}/live`, kind, sandbox: false, sourceId: company },
  })),
) as readonly Scope[];

function drawn(seed: number, sender: number, count: number): Draw[] {
  const draws = new Draws(seed, sender, scopes);
  return Array.from({ length: count }, () => draws.next());
}

test('a seed gives the same deliveries again, and another seed gives others', () => {
  expect(drawn(1, 0, 500)).toEqual(drawn(1, 0, 500));
  expect(drawn(1, 0, 500)).not.toEqual(drawn(2, 0, 500));
  expect(drawn(1, 0, 500)).not.toEqual(drawn(1, 1, 500));
});

test('every kind of draw and every refusal comes', () => {
  const all = drawn(1, 0, 2_000);
  expect(new Set(all.map((draw) => draw.what))).toEqual(new Set(drawKinds));
  const found = all.flatMap((draw) => draw.sendings.map((one) => one.body.refusal));
  expect(new Set(found)).toEqual(new Set([null, ...Object.keys(refusals)]));
});

test('bodies are the same again, and no two of them by chance', () => {
  const specs = [0, 1].flatMap((sender) =>
    drawn(7, sender, 400).flatMap((draw) => draw.sendings.map((one) => one.body)),
  );
  const byHash = new Map<string, string>();
  for (const spec of specs) {
    const hash = sha256Of(bodyOf(7, spec).bytes);
    expect(sha256Of(bodyOf(7, { ...spec }).bytes)).toBe(hash);
    // A push has its key within; of others the number alone makes the body.
    const { kind, number, key } = spec;
    const name = kind === 'push' ? `${number} ${key}` : `${number}`;
    expect(byHash.get(hash) ?? name).toBe(name);
    byHash.set(hash, name);
  }
});

test('bodies have every shape: large, blank, rejected in part, rejected as a whole', () => {
  const made = drawn(7, 0, 1_000).flatMap((draw) =>
    draw.sendings.map((one) => bodyOf(7, one.body)),
  );
  const some = (holds: (one: (typeof made)[number]) => boolean) => made.some(holds);
  expect(some(({ bytes }) => bytes.length > 500_000)).toBe(true);
  expect(some(({ expected }) => expected.blank > 0)).toBe(true);
  expect(some(({ expected }) => expected.rejected > 0 && expected.status === 'parsed')).toBe(true);
  expect(some((one) => one.expected.records === 0 && one.expected.status === 'rejected')).toBe(
    true,
  );
  expect(some((one) => one.expected.records === 0 && one.expected.status === 'parsed')).toBe(true);
});
