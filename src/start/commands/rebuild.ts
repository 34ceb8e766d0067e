import { Command } from 'commander';
import { acting } from '../command.ts';

/** `weir rebuild`: counts, and exit code 1 when anything was found to differ. */
export function rebuildCommand(): Command {
  const command = new Command('rebuild')
    .description('make all samples anew from artifacts and catalog, while the service goes on')
    .option('--json', 'print one JSON value and nothing else');
  return acting(command, async (place, { json = false }: { json?: boolean }) => {
    const [{ rebuild }, { keepResult, report, withProof }] = await Promise.all([
      import('../../proof/rebuild.ts'),
      import('../proving.ts'),
    ]);
    const begun = performance.now();
    const { swapped, built, totals, differences } = await withProof(place, rebuild);
    const { deliveries, bytes, records } = built;
    const ms = Math.round(performance.now() - begun);
    await keepResult(place, { check: 'rebuild', ms, swapped }, differences);
    const seconds = Math.round(ms / 10) / 100;
    const counts = { swapped, deliveries, bytes, records, ...totals, seconds };
    report(counts, differences, json);
    if (!json && !swapped) process.stderr.write('weir: nothing was changed\n');
  });
}
