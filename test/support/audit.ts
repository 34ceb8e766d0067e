/**
 * `npm run audit`: asks the registry for advisories on what a weir is made of. Exit code 1 on a
 * high or critical one; 0 without, and where the registry cannot be asked, which it says.
 */
import { spawnSync } from 'node:child_process';
import { judgeAudit } from './audit-report.ts';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' });
const verdict = judgeAudit(stdout ?? '');
if (verdict.kind === 'clean') console.log('no high or critical advisory');
if (verdict.kind === 'unknown') console.log(`the registry was not asked: ${verdict.reason}`);
if (verdict.kind === 'vulnerable') {
  console.log(`high or critical advisories: ${verdict.packages.join(', ')}`);
  process.exitCode = 1;
}
