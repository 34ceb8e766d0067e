import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { TestWeir } from '../support/test-weir.ts';
import { weirCommand } from '../support/weir-command.ts';

test('a service whose key file was lost ends with one line, until secrets are rotated', {
  timeout: 120_000,
}, async () => {
  const weir = await TestWeir.start();
  try {
    const { sourceId } = await weir.source({ delivery: 'webhook' });
    await weir.running.end();
    await rm(join(weir.running.place.dataDir, 'secret.key'));
    const without = new RunningWeir(weir.running.place);
    await expect(without.start()).rejects.toThrow('weir serve ended');
    const said = without.log.split('\n').filter((line) => line.startsWith('weir: '));
    expect(said).toEqual([
      expect.stringMatching(/^weir: the signing secrets .* were sealed with another key .*rotate/),
    ]);
    expect((await weirCommand(without.env(), 'secret', 'rotate', sourceId)).code).toBe(0);
    await weir.running.start();
  } finally {
    await weir.stop();
  }
});
