import { figure } from './numbers.ts';
import type { Result } from './result.ts';
import { tableMarkdown } from './table.ts';

const begin = '<!-- newest -->';
const end = '<!-- /newest -->';

/**
 * Puts a result between the marks of the README.
 *
 * @throws Error when the marks are not there
 */
export function withNewest(readme: string, result: Result): string {
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from < 0 || to < from) throw new Error('the README has no place for the newest figures');
  const section = [begin, ...linesOf(result), ''].join('\n');
  return readme.slice(0, from) + section + readme.slice(to);
}

function linesOf({ commit, date, machine, results }: Result): string[] {
  const { cpu, cores, memoryGiB, kernel, loadBefore, versions } = machine;
  const made = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const when = `${date.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}`;
  const machineText = `${cpu} with ${cores} cores and ${memoryGiB} GiB, ${kernel}`;
  return [
    `${when}, ${machineText}; load before ${figure(loadBefore)}. ${made.join(', ')}.`,
    '',
    '![How far each figure is beyond its goal](results/newest.svg)',
    '',
    tableMarkdown(results),
  ];
}
