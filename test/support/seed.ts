/**
 * The seed of what chance decides in the tests: one and the same, so that a red run is red again,
 * or that of `WEIR_TEST_SEED`, to look further. Said aloud where it is used.
 */
export function seedOf(what: string): number {
  const seed = Number(process.env.WEIR_TEST_SEED ?? 20_261_122);
  console.log(`${what}: WEIR_TEST_SEED=${seed}`);
  return seed;
}
