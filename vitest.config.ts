import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'workers/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Two cores: more files at once only make the timed tests wait for one another.
    maxWorkers: 2,
    pool: 'forks',
    setupFiles: ['test/support/set-up.ts'],
  },
});
