import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { CampaignResult } from './campaign.ts';
import { type RecordedRun, readRuns, recordOf, runText, withRuns } from './report.ts';

const totals = {
  ...{ attempts: 100, ok: 80, refused: 7, unknown: 13, unknownRecovered: 2, unknownLost: 3 },
  ...{ deliveries: 70, rows: 900, bytes: 5_000, reads: 20, readsAnswered: 18, orphans: 4 },
  ...{ lost: 0, duplicated: 0, unexpected: 1 },
};

const result: CampaignResult = {
  options: { seed: 5, store: 'minio', seconds: 600, faults: true },
  faults: {
    ...{ kills: 30, serviceKills: 12, engineKills: 10, minioKills: 8, stops: 6, selfEnds: 0 },
  },
  ...{ drainedSeconds: 4.25, totals },
  checks: [{ name: 'rows', looked: 900, failures: 1, told: ['a row is missing'] }],
};

const about = { commit: 'abc', date: '2026-11-21T03:04:05.000Z', cores: 2 };

test('the table has a line for each run, with its seed and its date', () => {
  const page = 'before\n<!-- storms -->\nold\n<!-- /storms -->\nafter\n';
  const found = withRuns(page, [recordOf(result, about)]);
  expect(found).toContain(
    '| 2026-11-21 03:04 | abc | 5 | minio | 10 | 30: 12, 10, 8 | 6 | 100 | 80 | 7 | 13 | 2, 3 ' +
      '| 0 | 0 | 1 | 4 | 4.3 s |',
  );
  expect(found).toMatch(/^before\n<!-- storms -->\n\| date/);
  expect(found).toMatch(/\|\n<!-- \/storms -->\nafter\n$/);
  expect(found).not.toContain('old');
  expect(() => withRuns('no marks', [])).toThrow('no place');
});

test('the terminal shows which promise was broken, and where', () => {
  const text = runText(result);
  expect(text).toContain('FAILS  rows: 1 of 900');
  expect(text).toContain('a row is missing');
  expect(text).toContain('lost 0, duplicated 0, unexpected 1, orphans 4');
});

const results = new URL('../results/', import.meta.url);
const page = readFileSync(new URL('../../../RELIABILITY.md', import.meta.url), 'utf8');

test('RELIABILITY.md shows the runs that were kept (npm run faults -- --record)', () => {
  const runs: RecordedRun[] = existsSync(results) ? readRuns(results) : [];
  expect(page).toBe(withRuns(page, runs));
});

test('each suite that RELIABILITY.md names is there', () => {
  const root = new URL('../../..', import.meta.url);
  const all = readdirSync(new URL('test', root), { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path}`)
    .filter((path) => path.endsWith('.test.ts'));
  const commands = [...page.matchAll(/npm test -- ([^#\n`]+)/g)].map(([, words]) => words!.trim());
  const words = commands.flatMap((text) => text.split(/ +/));
  expect(words.length).toBeGreaterThan(10);
  expect(words.filter((word) => !all.some((path) => path.includes(word)))).toEqual([]);
});
