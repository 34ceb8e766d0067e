import { configDefaults, defineConfig } from 'vitest/config';

/** What is too slow for each landing; `.ci/nightly` runs it. */
const nightly = 'test/**/*.nightly.test.ts';
const exclude = [...configDefaults.exclude, ...(process.env.WEIR_TEST_NIGHTLY ? [] : [nightly])];

/** Suites that judge how long something takes. They come last, when less goes on beside them. */
const timed = [
  'test/protocol/{crowd,event-loop,memory,pushes,tenancy}.test.ts',
  'test/faults/{clients,rolling,stores}/**/*.test.ts',
  'test/faults/engine-away.test.ts',
  'test/{clocks,http,metrics,rates,upkeep}/**/*.test.ts',
  'test/artifacts/s3/turns.test.ts',
  'test/browser/many.browser.test.ts',
  'test/samples/{byte-reads,hanging-server}.test.ts',
  'test/security/refusals.test.ts',
  'test/tracing/away.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    setupFiles: ['test/support/set-up.ts'],
    // On two cores. Many suites wait for processes, leases and stores for half of their time.
    projects: [
      {
        extends: true,
        test: {
          name: 'suites',
          include: ['test/**/*.test.ts', 'workers/**/*.test.ts'],
          exclude: [...exclude, ...timed],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'timed',
          include: timed,
          exclude,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
