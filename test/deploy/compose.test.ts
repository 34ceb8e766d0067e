import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addressFromUrl } from '../../src/samples/address.ts';
import { readSettings } from '../../src/start/settings.ts';
import { ensureGoBinary } from '../support/go-binary.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { deployDir, deployFile, ports, stopSeconds } from './deploy-files.ts';

/** The reader of compose files that Docker's own command is made of; it needs no Docker. */
const version = 'v2.16.2';
const reader = await need('compose-go', () =>
  ensureGoBinary({
    ...{ name: 'compose-go', version, takes: 'some seconds', madeAs: 'cmd' },
    build: () => ['install', `github.com/compose-spec/compose-go/v2/cmd@${version}`],
  }),
);

interface Service {
  readonly image: string;
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly healthcheck?: { test: string[] };
  readonly ports?: { target: number; published: string; host_ip?: string }[];
  readonly secrets?: { source: string; target: string }[];
  readonly volumes?: { type: string; source: string }[];
  readonly networks: Record<string, { ipv4_address?: string } | null>;
  readonly depends_on?: Record<string, { condition: string }>;
  readonly read_only?: boolean;
  readonly cap_drop?: string[];
  readonly scale?: number;
  readonly stop_grace_period?: string;
}

interface Project {
  readonly services: Record<string, Service>;
  readonly secrets: Record<string, { file: string }>;
  readonly networks: Record<
    string,
    { internal?: boolean; ipam?: { config: { subnet: string }[] } }
  >;
}

describeWith('the compose file', reader, (program) => {
  const read = (path: string) => {
    const args = ['-format', 'json', path];
    return JSON.parse(
      execFileSync(program, args, { cwd: deployDir, stdio: 'pipe' }).toString(),
    ) as Project;
  };
  const project = read('compose.yaml');
  const { weir, haproxy } = project.services as { weir: Service; haproxy: Service };

  test('has all parts, with images of a version', () => {
    expect(Object.keys(project.services).toSorted()).toEqual(
      [
        ...['clickhouse', 'grafana', 'haproxy', 'minio', 'postgres', 'prometheus', 'redis'],
        'weir',
      ].toSorted(),
    );
    const images = Object.entries(project.services).filter(([name]) => name !== 'weir');
    for (const [, { image }] of images) expect(image).toMatch(/:(v?\d+|RELEASE)[^:]*$/);
  });

  test('would be refused with a wrong word in it', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'weir-compose-')), 'compose.yaml');
    execFileSync('sh', ['-c', 'sed s/read_only/reed_only/ compose.yaml > "$0"', path], {
      cwd: deployDir,
    });
    expect(() => read(path)).toThrow(/reed_only/);
  });

  test('runs two nodes without any power, whose state is in the stores', () => {
    expect(weir.scale).toBe(2);
    expect([weir.read_only, weir.cap_drop]).toEqual([true, ['ALL']]);
    expect(weir.volumes).toBeUndefined();
    expect(Number.parseInt(weir.stop_grace_period!, 10)).toBeGreaterThanOrEqual(stopSeconds + 10);
  });

  test('starts weir when its stores are healthy, which each of them tells', () => {
    const stores = ['clickhouse', 'minio', 'postgres', 'redis'];
    expect(Object.keys(weir.depends_on!).toSorted()).toEqual(stores);
    for (const store of stores) {
      expect(weir.depends_on![store]!.condition).toBe('service_healthy');
      expect(project.services[store]!.healthcheck?.test.length).toBeGreaterThan(1);
    }
  });

  test('publishes nothing but the proxy, and Grafana to this machine', () => {
    const published = Object.entries(project.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${port.host_ip ?? 'all'} ${port.published}:${port.target}`),
    );
    expect(published.toSorted()).toEqual([
      'grafana 127.0.0.1 3000:3000',
      `haproxy 127.0.0.1 8080:${ports.api}`,
      `haproxy 127.0.0.1 8081:${ports.app}`,
      'haproxy all 8443:8443',
      'haproxy all 8444:8444',
    ]);
    expect(project.networks.back!.internal).toBe(true);
    for (const store of ['clickhouse', 'minio', 'postgres', 'redis']) {
      expect(Object.keys(project.services[store]!.networks)).toEqual(['back']);
    }
  });

  test('has weir believe the proxy, and nobody else', () => {
    expect(weir.environment!.WEIR_TRUSTED_PROXIES).toBe(haproxy.networks.front!.ipv4_address);
  });

  test('passes no secret through an environment or a command', () => {
    const directory = makeSecrets();
    const text = JSON.stringify(project.services);
    for (const name of readdirSync(directory).filter((one) => /password|key/.test(one))) {
      expect(text).not.toContain(readFileSync(join(directory, name), 'utf8').trim());
    }
    const suspicious = Object.values(project.services)
      .flatMap(({ environment = {} }) => Object.keys(environment))
      .filter((name) => /PASSWORD|SECRET|_URL$|KEY/.test(name) && !name.endsWith('_FILE'));
    expect(suspicious.toSorted()).toEqual(['WEIR_APP_URL', 'WEIR_BASE_URL']);
  });

  test('mounts what is there', () => {
    const bound = Object.values(project.services)
      .flatMap(({ volumes = [] }) => volumes)
      .filter(({ type }) => type === 'bind')
      .map(({ source }) => source);
    expect(bound.length).toBeGreaterThan(4);
    for (const path of bound) expect(statSync(path).isFile()).toBe(true);
  });

  test('asks for secrets that are made, and gives each file to who names it', () => {
    const made = readdirSync(makeSecrets());
    for (const { file } of Object.values(project.secrets)) {
      expect(made).toContain(file.split('/').at(-1));
    }
    for (const { environment = {}, secrets = [] } of Object.values(project.services)) {
      const given = secrets.map(({ target }) => target);
      const named = Object.values(environment).filter((one) => one?.startsWith('/run/secrets/'));
      expect(given).toEqual(expect.arrayContaining(named));
    }
  });

  test('is a start that weir takes', () => {
    const directory = makeSecrets();
    const env = Object.fromEntries(
      Object.entries(weir.environment!)
        .filter(([name]) => name.startsWith('WEIR_'))
        .map(([name, value]) => [name, value.replace('/run/secrets', directory)]),
    );
    const settings = readSettings(env);
    expect(settings.catalogUrl).toMatch(/^postgres:\/\/weir:[0-9a-f]{48}@postgres:5432\/weir$/);
    expect(settings.artifactsUrl).toMatch(/^s3\+http:\/\/weir:[0-9a-f]{48}@minio:9000\/weir$/);
    expect(settings.WEIR_REDIS_URL).toMatch(/^redis:\/\/:[0-9a-f]{48}@redis:6379$/);
    const { database, url, username } = addressFromUrl(settings.WEIR_CLICKHOUSE_URL!);
    expect({ database, url, username }).toEqual({
      ...{ database: 'weir', url: 'http://clickhouse:8123', username: 'weir' },
    });
  });
});

describe('the secrets', () => {
  test('are kept from others on the machine, and stay when they are made again', () => {
    const directory = makeSecrets();
    const content = () => readdirSync(directory).map((name) => readFileSync(join(directory, name)));
    const before = content();
    execFileSync('sh', [join(deployDir, 'make-secrets'), directory]);
    expect(content()).toEqual(before);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(new Set(before.map(String)).size).toBe(before.length);
  });

  test("hold ClickHouse's password as a hash only where ClickHouse reads it", () => {
    const directory = makeSecrets();
    const read = (name: string) => readFileSync(join(directory, name), 'utf8');
    const users = read('clickhouse_users.xml');
    expect(users).not.toContain(read('clickhouse_password').trim());
    expect(users).toMatch(/<password_sha256_hex>[0-9a-f]{64}<\/password_sha256_hex>/);
  });

  test('are in no commit', () => {
    expect(deployFile('.gitignore')).toMatch(/^secrets\/$/m);
  });
});

function makeSecrets(): string {
  const directory = join(mkdtempSync(join(tmpdir(), 'weir-secrets-')), 'made');
  execFileSync('sh', [join(deployDir, 'make-secrets'), directory]);
  return directory;
}
