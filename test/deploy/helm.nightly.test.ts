import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readRoles } from '../../src/start/roles.ts';
import { readSettings } from '../../src/start/settings.ts';
import { ensureGoBinary } from '../support/go-binary.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { deployDir, deployFile, ports, stopSeconds } from './deploy-files.ts';
import { configOf, dockerfile } from './dockerfile.ts';

const version = 'v3.22.0';
const helm = await need('Helm', () =>
  ensureGoBinary({
    ...{ name: 'helm', version, takes: '1–2 minutes' },
    build: () => ['install', `helm.sh/helm/v3/cmd/helm@${version}`],
  }),
);

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: whatever Kubernetes has there.
  readonly spec: any;
}

const everything = {
  ...{ 'parse.enabled': 'true', 'ingress.enabled': 'true', 'networkPolicy.enabled': 'true' },
  ...{ 'serviceMonitor.enabled': 'true', 'prometheusRule.enabled': 'true', processes: '4' },
  'trustedProxies[0]': '10.0.0.0/8',
  'tracing.OTEL_EXPORTER_OTLP_ENDPOINT': 'http://collector:4318',
};

describeWith('the Helm chart', helm, (program) => {
  const chart = join(deployDir, 'helm', 'weir');
  const run = (command: string[], values: Record<string, string>) => {
    const set = Object.entries(values).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    // A build without a release's flags takes itself for a very old cluster.
    const args = [...command, '--kube-version', '1.33.0', ...set];
    return execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  };
  const render = (values: Record<string, string> = {}): Resource[] =>
    parseAllDocuments(run(['template', 'weir', chart], values))
      .map((document) => document.toJS())
      .filter(Boolean);
  const some = render();
  const all = render(everything);
  const of = (kind: string, resources = all) => resources.filter((one) => one.kind === kind);
  const pods = of('Deployment').map((one) => one.spec.template.spec);

  const lintWith: Record<string, string>[] = [{}, everything, { 'secrets.keys.redis': '' }];
  test.each(lintWith)('passes its lint with %o', (values) => {
    expect(run(['lint', '--strict', chart], values)).toContain('0 chart(s) failed');
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['an unknown value', { replica: '3' }, /replica/],
    ['a base URL without a scheme', { baseUrl: 'weir.example.com' }, /baseUrl/],
    ['a grace that is too short', { 'shutdown.graceSeconds': '34' }, /must be more than 35/],
    ['no Secret', { 'secrets.existingSecret': '' }, /existingSecret/],
    [
      'API and app by one name',
      { 'ingress.enabled': 'true', appUrl: 'https://weir.example.com' },
      /names of their own/,
    ],
  ])('refuses %s', (_, values, message) => {
    expect(() => render(values)).toThrow(message);
  });

  test('makes by default what is needed, and nothing of operators that may not be there', () => {
    const kinds = some.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual(
      ['Deployment', 'PodDisruptionBudget', 'Service', 'Service', 'ServiceAccount'].toSorted(),
    );
  });

  test('divides the roles among nodes and parsers, and leaves none out', () => {
    const rolesIn = (resources: Resource[]) =>
      of('Deployment', resources).map(({ spec }) => {
        const args = spec.template.spec.containers[0].args as string[];
        expect([args[0], args[1], args[3]]).toEqual(['serve', '--roles', '--processes']);
        return [...readRoles(args[2]!)];
      });
    expect(rolesIn(some)).toEqual([['accept', 'parse', 'serve', 'app']]);
    expect(rolesIn(all)).toEqual([['accept', 'serve', 'app'], ['parse']]);
    expect(pods[0].containers[0].args[4]).toBe('4');
  });

  test('gives pods no power', () => {
    const { user } = configOf(dockerfile(), 'weir');
    for (const { securityContext, containers, ...pod } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: {} });
      expect(`${securityContext.runAsUser}:${securityContext.runAsGroup}`).toBe(user);
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('sets settings that weir takes, and none by the links of Services', () => {
    for (const pod of pods) {
      expect(pod.enableServiceLinks).toBe(false);
      const env = pod.containers[0].env as { name: string; value: string }[];
      const given = env.map(({ name, value }) => [
        name.replace(/_FILE$/, ''),
        name.endsWith('_FILE') ? example[value.split('/').at(-1)!]! : value,
      ]);
      const settings = readSettings(Object.fromEntries(given));
      expect(settings.WEIR_TRUSTED_PROXIES).toBe('10.0.0.0/8');
      expect(settings.catalogUrl).toBe(example.catalog_url);
      expect(settings.WEIR_REDIS_URL).toBe(example.redis_url);
      expect(env).toContainEqual({
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        value: 'http://collector:4318',
      });
    }
  });

  test('mounts each secret that is named, and no other', () => {
    for (const { volumes, containers } of [...pods, onlyPod({ 'secrets.keys.redis': '' })]) {
      const { env, volumeMounts } = containers[0];
      const named = (env as { name: string; value: string }[])
        .filter(({ name }) => name.endsWith('_FILE'))
        .map(({ value }) => value);
      const secrets = volumes.find((one: { name: string }) => one.name === 'secrets').secret;
      const { mountPath } = volumeMounts.find((one: { name: string }) => one.name === 'secrets');
      const mounted = secrets.items.map((one: { path: string }) => `${mountPath}/${one.path}`);
      expect(named.toSorted()).toEqual(mounted.toSorted());
    }
    expect(JSON.stringify(onlyPod({ 'secrets.keys.redis': '' }))).not.toContain('REDIS');
  });

  test('asks pods for their health where they answer', () => {
    for (const { containers } of pods) {
      const { startupProbe, livenessProbe, readinessProbe, ports: open } = containers[0];
      expect([startupProbe, livenessProbe, readinessProbe].map((one) => one.httpGet)).toEqual(
        ['/livez', '/livez', '/readyz'].map((path) => ({ path, port: 'ops' })),
      );
      const ops = open.find((one: { name: string }) => one.name === 'ops');
      expect(ops.containerPort).toBe(ports.ops);
    }
    const [node, parser] = pods.map(({ containers }) => containers[0].ports);
    expect(Object.fromEntries(node.map((one: Port) => [one.name, one.containerPort]))).toEqual(
      ports,
    );
    expect(parser.map((one: Port) => one.name)).toEqual(['ops']);
  });

  test('gives a stop its time, and replaces pods without a gap', () => {
    for (const { spec } of of('Deployment')) {
      const { terminationGracePeriodSeconds, containers } = spec.template.spec;
      const [, seconds] = containers[0].lifecycle.preStop.exec.command;
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
        Number(seconds) + stopSeconds + 5,
      );
      expect(spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    }
  });

  test('has services, budgets and monitors find the pods that they are for', () => {
    const labels = of('Deployment').map(({ spec }) => spec.template.metadata.labels);
    const found = (selector: Record<string, string>) =>
      labels.filter((one) => Object.entries(selector).every(([key, value]) => one[key] === value));
    const [api, ops] = of('Service');
    expect(found(api!.spec.selector)).toEqual([labels[0]]);
    expect(found(ops!.spec.selector)).toEqual(labels);
    for (const { spec } of of('Deployment'))
      expect(found(spec.selector.matchLabels).length).toBe(1);
    const budgets = of('PodDisruptionBudget');
    expect(budgets.map(({ spec }) => found(spec.selector.matchLabels))).toEqual(
      labels.map((one) => [one]),
    );
    const [monitor] = of('ServiceMonitor');
    const monitored = of('Service').filter(({ metadata }) =>
      Object.entries(monitor!.spec.selector.matchLabels).every(
        ([key, value]) => metadata.labels[key] === value,
      ),
    );
    expect(monitored).toEqual([ops]);
    expect(monitor!.spec.endpoints[0].port).toBe(ops!.spec.ports[0].name);
  });

  test('leads the names of the URLs to API and app', () => {
    const [ingress] = of('Ingress');
    const to = ingress!.spec.rules.map((rule: Rule) => {
      const { service } = rule.http.paths[0]!.backend;
      return [rule.host, service.name, service.port.name];
    });
    expect(Object.fromEntries(to.map(([host, , port]: string[]) => [port, host]))).toEqual({
      ...{ api: 'weir.example.com', app: 'weir-app.example.com' },
    });
    expect(to[0][1]).toBe(of('Service')[0]!.metadata.name);
  });

  test('has the very alert rules of Prometheus', () => {
    const [rule] = of('PrometheusRule');
    expect(rule!.spec).toEqual(parse(deployFile('prometheus/weir-alerts.yml')));
    expect(rule!.spec.groups.length).toBeGreaterThan(0);
  });

  const onlyPod = (values: Record<string, string>) =>
    render(values).find(isDeployment)!.spec.template.spec;
});

const isDeployment = ({ kind }: Resource) => kind === 'Deployment';

interface Port {
  readonly name: string;
  readonly containerPort: number;
}

interface Rule {
  readonly host: string;
  readonly http: {
    paths: { backend: { service: { name: string; port: { name: string } } } }[];
  };
}

/** What the keys of the Secret hold, by their names. */
const example: Record<string, string> = {
  catalog_url: 'postgres://weir:secret@postgres:5432/weir',
  artifacts_url: 's3+https://key:secret@minio:9000/weir',
  clickhouse_url: 'http://weir:secret@clickhouse:8123/weir',
  redis_url: 'redis://:secret@redis:6379',
  secret_key: '0123456789abcdef'.repeat(4),
};
