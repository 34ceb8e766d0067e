import { Command } from 'commander';
import { acting } from '../command.ts';

/** `weir verify`: counts and differences, and exit code 1 when there is any difference. */
export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('compare artifacts, catalog and samples with one another; nothing changes')
    .option('--json', 'print one JSON value and nothing else');
  return acting(command, async (place, { json = false }: { json?: boolean }) => {
    const [{ verify }, { keepResult, report, withProof }] = await Promise.all([
      import('../../proof/verify.ts'),
      import('../proving.ts'),
    ]);
    const begun = performance.now();
    const { built, totals, differences } = await withProof(place, verify);
    const { deliveries, bytes, records } = built;
    const ms = Math.round(performance.now() - begun);
    await keepResult(place, { check: 'verify', ms, swapped: false }, differences);
    const seconds = Math.round(ms / 10) / 100;
    report({ deliveries, bytes, records, ...totals, seconds }, differences, json);
  });
}
