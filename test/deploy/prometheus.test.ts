import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { metricsText } from '../support/metrics-of.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { endServer, freePort, startServer } from '../support/server-process.ts';
import { TestWeir } from '../support/test-weir.ts';
import * as parts from './prometheus-parts.ts';

const rules = parts.readRules();
const dashboard = parts.readDashboard();
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const shown = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: parts.filledIn(expr) })),
);

test('each rule says how bad it is, what is the matter and what to do', () => {
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toMatch(/^Weir[A-Z]/);
    expect(labels.severity).toMatch(/^(critical|warning)$/);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.runbook.length).toBeGreaterThan(80);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

test('each rule has a test in which it fires, and one in which it never does', () => {
  const tests = parts.readRuleTests();
  for (const { alert } of rules) {
    const own = tests.filter(({ name }) => name.startsWith(`${alert}: `));
    const asked = own.map(({ promql_expr_test: [first] }) => {
      expect(first!.expr).toContain(`ALERTS{alertname="${alert}", alertstate="firing"}`);
      return first!.exp_samples.length > 0;
    });
    expect([alert, asked.sort()]).toEqual([alert, [false, true]]);
  }
  expect(tests).toHaveLength(2 * rules.length);
});

test('each panel has a title and a description of its own, and asks for something', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  for (const { title, description, targets } of panels) {
    expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
    expect(targets?.length).toBeGreaterThan(0);
  }
});

describeWith('with Prometheus', await need('Prometheus', parts.ensurePrometheus), (have) => {
  let weir: TestWeir;
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-prometheus-'));
    weir = await TestWeir.start();
  });
  afterAll(async () => {
    await weir?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  /** Something of everything that is counted. */
  async function deliver(): Promise<void> {
    const { sender } = await weir.source({ delivery: 'document' });
    const body = 'day,amount\n2026-01-01,1\n2026-01-01,2\n2026-01-02,\nx,3\n';
    await sender.settled(await sender.document(body, 'one'));
    await sender.document('day,amount\n', 'one');
    await sender.document(body, 'two');
  }

  test('the rules are rules, and fire when they should', async () => {
    expect(await have.promtool('check', 'rules', parts.rulesFile)).toContain('SUCCESS');
    expect(await have.promtool('test', 'rules', parts.ruleTestsFile)).toContain('SUCCESS');
  });

  test('the metrics are named as Prometheus wants them', async () => {
    await deliver();
    const own = (await metricsText(weir.running))
      .split('\n')
      .filter((line) => /^(# (HELP|TYPE) )?weir_/.test(line));
    expect(await have.lint(`${own.join('\n')}\n`)).toBe('');
  });

  test('what rules and panels ask for is there, labels too', async () => {
    const labelsOf = await scraped();
    for (const expr of [...rules.map((rule) => rule.expr), ...shown.map(({ expr }) => expr)]) {
      const selectors = parts.selectorsOf(expr);
      expect(selectors.length).toBeGreaterThan(0);
      for (const { metric, labels } of selectors) {
        if (metric === 'up') continue;
        const known = [...(labelsOf.get(metric) ?? []), 'job', 'instance'];
        expect({ metric, isThere: labelsOf.has(metric) }).toEqual({ metric, isThere: true });
        for (const label of labels)
          expect([metric, known]).toEqual([metric, expect.arrayContaining([label])]);
      }
    }
  });

  async function scraped(): Promise<Map<string, Set<string>>> {
    const labelsOf = new Map<string, Set<string>>();
    for (const line of (await metricsText(weir.running)).split('\n')) {
      const [, name, labels = ''] = /^([a-z_]\w*)(?:\{(.*)\})? /.exec(line) ?? [];
      if (name === undefined) continue;
      const known = labelsOf.get(name) ?? new Set();
      for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
      labelsOf.set(name, known);
    }
    return labelsOf;
  }

  test('Prometheus takes rules and panels, and has something to show in each', async () => {
    const port = await freePort();
    const file = join(dir, 'prometheus.yml');
    const targets = [`127.0.0.1:${weir.running.place.ops}`];
    const config = {
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '1s' },
      rule_files: [parts.rulesFile],
      scrape_configs: [{ job_name: 'weir', static_configs: [{ targets }] }],
    };
    await writeFile(file, stringify(config));
    const url = `http://127.0.0.1:${port}`;
    const server = await startServer({
      name: 'prometheus',
      command: have.prometheus,
      args: [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(dir, 'tsdb')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      ready: () =>
        fetch(`${url}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
    });
    try {
      const query = async (expr: string) => {
        const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
        const { data, error } = (await answer.json()) as QueryAnswer;
        if (data === undefined) throw new Error(`${expr}: ${error}`);
        return data.result.filter(({ value }) => value[1] !== 'NaN').length;
      };
      const receipts = 'min_over_time(weir_receipts_total{kind="document"}[1h])';
      await expect.poll(() => query(receipts), { timeout: 15_000 }).toBe(1);
      await deliver();
      for (const { title, expr } of shown) {
        // Nothing has failed here.
        const isEmpty = expr.includes('status=~"5.."');
        const asked = async () => [title, (await query(expr)) > 0];
        await expect.poll(asked, { timeout: 15_000 }).toEqual([title, !isEmpty]);
      }
      const { data } = (await (await fetch(`${url}/api/v1/rules`)).json()) as RulesAnswer;
      const states = data.groups.flatMap((group) => group.rules);
      expect(states.map(({ health }) => health)).toEqual(rules.map(() => 'ok'));
      expect(states.filter(({ state }) => state === 'firing')).toEqual([]);
    } finally {
      await endServer(server);
    }
  });
});

interface QueryAnswer {
  readonly error?: string;
  readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

interface RulesAnswer {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly { readonly health: string; readonly state: string }[];
    }[];
  };
}
