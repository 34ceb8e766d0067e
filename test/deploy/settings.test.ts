import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settingsSchema } from '../../src/start/settings.ts';
import { deployDir, deployYaml, ports } from './deploy-files.ts';

/** What `git` knows or would take: secrets that somebody made here are none of it. */
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: deployDir })
  .toString()
  .split('\n')
  .filter((path) => path !== '');

describe('names of settings in files of deployments', () => {
  // The compose file fills it in from the shell of whoever starts it.
  const others = new Set(['WEIR_TAG']);
  const named = files.flatMap((path) => {
    const text = readFileSync(join(deployDir, path), 'utf8');
    // What the configuration of ClickHouse takes from ClickHouse's own environment.
    for (const [, name] of text.matchAll(/from_env="(\w+)"/g)) others.add(name!);
    const names = text.match(/\bWEIR_[A-Z][A-Z0-9_]*[A-Z0-9]\b/g) ?? [];
    return [...new Set(names)].map((name) => ({ path, name }));
  });

  test('are settings that weir knows', () => {
    const known = new Set(Object.keys(settingsSchema.shape));
    const isKnown = (name: string) => known.has(name) || known.has(name.replace(/_FILE$/, ''));
    // The chart says what links of Services would be called.
    const unknown = named.filter(({ name }) => !isKnown(name) && !others.has(name));
    expect(unknown.filter(({ name }) => name !== 'WEIR_PORT')).toEqual([]);
  });

  test('stand in all of them', () => {
    const paths = new Set(named.map(({ path }) => path));
    for (const path of ['Dockerfile', 'compose.yaml', 'systemd/weir.service', 'haproxy.cfg']) {
      expect(paths).toContain(path);
    }
  });
});

test('Prometheus asks each node at its port for operators, and has the rules', () => {
  const { scrape_configs: scrapes, rule_files: rules } = deployYaml('compose/prometheus.yml');
  const [weir] = scrapes[0].dns_sd_configs;
  expect([weir.names, weir.port]).toEqual([['weir'], ports.ops]);
  const { prometheus } = deployYaml('compose.yaml').services;
  const mounted = (prometheus.volumes as string[]).map((one) => one.split(':')[1]);
  expect(mounted).toEqual(expect.arrayContaining(rules));
});

test('Grafana is told of the Prometheus that is there, and of the dashboard', () => {
  const { datasources } = deployYaml('compose/grafana-sources.yml');
  expect(datasources[0].url).toBe('http://prometheus:9090');
  const [{ options }] = deployYaml('compose/grafana-dashboards.yml').providers;
  const { grafana } = deployYaml('compose.yaml').services;
  const dashboard = (grafana.volumes as string[]).find((one) => one.includes('weir.json'))!;
  expect(dashboard.split(':')[1]).toBe(`${options.path}/weir.json`);
});
