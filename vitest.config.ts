import { configDefaults, defineConfig } from 'vitest/config';

/** What is too slow for each landing; `.ci/nightly` runs it. */
const nightly = 'test/**/*.nightly.test.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'workers/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(process.env.WEIR_TEST_NIGHTLY ? [] : [nightly])],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Two cores: more files at once only make the timed tests wait for one another.
    maxWorkers: 2,
    pool: 'forks',
    setupFiles: ['test/support/set-up.ts'],
  },
});
