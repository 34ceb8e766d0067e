import { expect, test } from 'vitest';
import { type CpuProfile, stageTimes } from '../../bench/budget/stages.ts';

const frame = (functionName: string, url = '') => ({ functionName, url });
const root = 'file:///somewhere/weir/src';

/** What calls what: by their places in the list. */
const profile: CpuProfile = {
  startTime: 1_000_000,
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 6, 8, 9] },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('#take', `${root}/accept/body.ts`), children: [4, 5] },
    { id: 4, callFrame: frame('update', 'node:internal/crypto/hash') },
    { id: 5, callFrame: frame('write', `${root}/artifacts/s3/connection.ts`), children: [7] },
    { id: 6, callFrame: frame('onwriteDone', 'node:net') },
    { id: 7, callFrame: frame('writevGeneric', 'node:internal/stream_base_commons') },
    { id: 8, callFrame: frame('record', `${root}/catalog/ledger.ts`) },
    { id: 9, callFrame: frame('(program)') },
  ],
  samples: [2, 3, 4, 5, 7, 6, 8, 9, 2],
  timeDeltas: [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000],
};

test('each sample counts for the stage of the innermost code of weir', () => {
  expect(stageTimes(profile, 1_000_000, 2_000_000)).toEqual({
    ...{ receive: 2, hash: 3, send: 4 + 5 + 6, catalog: 7, reply: 0, 'rest of weir': 0 },
    ...{ native: 8, collector: 0, waiting: 1 + 9 },
  });
});

test('what was before and after the time looked at does not count', () => {
  const times = stageTimes(profile, 1_002_000, 1_007_000);
  expect(times).toMatchObject({ receive: 2, hash: 3, send: 0, waiting: 0 });
});
