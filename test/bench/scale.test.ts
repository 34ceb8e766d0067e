import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { agreementOf, agrees, tolerance } from '../../bench/scale/agreement.ts';
import { Events, Workers } from '../../bench/scale/events.ts';
import { costOf, fitLine } from '../../bench/scale/fit.ts';
import { capacityOf, type Question, utilization } from '../../bench/scale/model.ts';
import { seeded } from '../../bench/scale/random.ts';
import { readNewest, simulatedSteps, sizingPath, withTables } from '../../bench/scale/sizing.ts';
import { needsOf, stepsOf } from '../../bench/scale/steps.ts';

const newest = readNewest();
const steps = stepsOf(newest.costs);
const seed = 7;

describe('the model of a site, against its simulation on the measured costs', () => {
  const named = simulatedSteps(steps).map((step): [string, Question] => [
    `${step.name}, ${step.notBuilt ?? 'as built'}`,
    step,
  ]);
  const apart = simulatedSteps(steps).at(-1)!;
  // Where neither parts, nor Postgres, nor a ledger of the measured slowness come first.
  const { groupMs } = apart.costs;
  const quick = { each: groupMs.each / 20, perUnit: groupMs.perUnit / 20 };
  const costs = { ...apart.costs, groupMs: quick, groupMsPerPart: 0, claimMsPerPart: 0 };
  const large = { ...apart.site, memoryBytes: 1e15, cores: 1_000, engineNodes: 8 };
  const quickLedger = { ...apart, costs };
  const few = { ...large, acceptProcesses: 1, parseProcesses: 40 };
  test.each([
    ...named,
    ['one accepting process, a quick ledger', { ...quickLedger, site: few }],
    ['one parsing process', { ...quickLedger, site: { ...large, parseProcesses: 1 } }],
  ] as [string, Question][])('%s', (_, question) => {
    const found = agreementOf(question, seed);
    const told = JSON.stringify(found);
    expect(agrees(found.latency, tolerance.time), told).toBe(true);
    expect(found.below, told).toBeLessThan(0.06);
    if (found.cores !== null) expect(agrees(found.cores, tolerance.time), told).toBe(true);
    if (found.overload === null) return;
    const { taken, longest, queues, growth } = found.overload;
    expect(agrees(taken, tolerance.taken), told).toBe(true);
    expect(queues, told).toContain(longest);
    expect(growth, told).toBeGreaterThan(0.07);
  });

  test('these differ in what limits them', () => {
    const limiting = (site: Question['site']) => capacityOf({ ...quickLedger, site }).first.name;
    expect(limiting(few)).toBe('accepting loops');
    expect(limiting({ ...large, parseProcesses: 1 })).toMatch(/^(parsing|claims)/);
    const one = { ...quickLedger, costs: apart.costs, site: { ...large, acceptProcesses: 40 } };
    expect(capacityOf({ ...one, site: { ...one.site, parseProcesses: 40 } }).first.name).toBe(
      'ledger',
    );
    expect(capacityOf(steps[0]!).first.name).toBe('cores');
  });
});

test('a step is named by the busiest of its needs, and more comes closer to its limits', () => {
  for (const step of steps) {
    const needs = needsOf(step);
    expect(needs[0]!.limit).toBeGreaterThan(0);
    const most = Math.max(...needs.map(utilization));
    expect(utilization(needs[0]!)).toBe(most);
    const { workload } = step;
    const more = { ...workload, deliveriesPerDay: workload.deliveriesPerDay * 2 };
    expect(utilization(needsOf({ ...step, workload: more })[0]!)).toBeGreaterThan(most);
  }
});

test('SIZING.md has the tables of the newest run (npm run bench:scale -- --sizing)', () => {
  const document = readFileSync(sizingPath, 'utf8');
  expect(withTables(document, newest)).toBe(document);
});

describe('what the simulation is made of', () => {
  test('calls come in the order of their moments, and of one moment as they were asked for', () => {
    const events = new Events();
    const random = seeded(seed);
    const moments = Array.from({ length: 2_000 }, () => Math.floor(random() * 100));
    const come: { at: number; i: number }[] = [];
    for (const [i, at] of moments.entries()) events.call(at, () => come.push({ at, i }));
    events.call(50, () => events.call(10, () => come.push({ at: 50, i: 2_000 })));
    events.runUntil(1_000);
    expect(come).toEqual([...come].sort((a, b) => a.at - b.at || a.i - b.i));
    expect(come).toHaveLength(2_001);
    expect(events.now).toBe(1_000);
  });

  test('of several workers who is free first takes the next job', () => {
    const workers = new Workers(2);
    expect([workers.take(0, 5), workers.take(0, 3), workers.take(1, 4)]).toEqual([5, 3, 7]);
    expect(workers.take(20, 1)).toBe(21);
  });

  test('a line is found again in points that lie on it, and is never below zero', () => {
    const line = { each: 3, perUnit: 0.5 };
    const points = [1, 8, 500].map((units) => ({ units, cost: costOf(line, units) }));
    const found = fitLine(points);
    expect(found.each).toBeCloseTo(3, 9);
    expect(found.perUnit).toBeCloseTo(0.5, 9);
    const falling = fitLine([1, 2].map((units) => ({ units, cost: 3 - units })));
    expect(falling.perUnit).toBe(0);
  });
});
