import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ensureDebian } from '../support/debian.ts';

const run = promisify(execFile);
const deploy = new URL('../../deploy/', import.meta.url);

export const rulesFile = new URL('prometheus/weir-alerts.yml', deploy).pathname;
export const ruleTestsFile = new URL('prometheus/weir-alerts.test.yml', deploy).pathname;
export const dashboardFile = new URL('grafana/weir.json', deploy).pathname;

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

export interface RuleTest {
  readonly name: string;
  readonly promql_expr_test: readonly {
    readonly expr: string;
    readonly exp_samples: readonly object[];
  }[];
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr: string }[];
}

export interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
}

export function readRules(): Rule[] {
  const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export function readRuleTests(): RuleTest[] {
  return (parse(readFileSync(ruleTestsFile, 'utf8')) as { tests: RuleTest[] }).tests;
}

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(dashboardFile, 'utf8')) as Dashboard;
}

/** Debian's Prometheus; promtool lies beside it. */
export async function ensurePrometheus() {
  const promtool = await ensureDebian('/usr/bin/promtool', ['prometheus']);
  return {
    prometheus: await ensureDebian('/usr/bin/prometheus', ['prometheus']),
    /** @returns what it said @throws when it ends with a failure */
    async promtool(...args: readonly string[]): Promise<string> {
      const { stdout, stderr } = await run(promtool, args);
      return stdout + stderr;
    },
    /** @throws Error with what it said of them when it finds fault with metrics */
    lint(metrics: string): Promise<string> {
      return new Promise((resolve, reject) => {
        const child = execFile(promtool, ['check', 'metrics'], (error, stdout, stderr) =>
          error ? reject(new Error(stdout + stderr)) : resolve(stdout + stderr),
        );
        child.stdin!.end(metrics);
      });
    },
  };
}

/** As Grafana fills in a dashboard's variables. */
export function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'weir');
}

const words = new Set(['by', 'and', 'or', 'unless', 'on', 'bool', 'inf', 'nan']);

/** The metrics that an expression asks for, with the labels that it names of each. */
export function selectorsOf(expr: string): { metric: string; labels: string[] }[] {
  const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => listed(names!));
  const bare = expr.replaceAll(/\bby \([^)]*\)/g, ' ').replaceAll(/\[[^\]]*\]/g, ' ');
  const found = bare.matchAll(/([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(?![\w:]*\s*\()/g);
  return [...found]
    .filter(([, name]) => !words.has(name!.toLowerCase()))
    .map(([, metric, matchers = '']) => {
      const own = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!);
      return { metric: metric!, labels: [...own, ...by] };
    });
}

function listed(names: string): string[] {
  return names.split(',').map((name) => name.trim());
}
