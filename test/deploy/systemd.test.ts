import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ensureDebian } from '../support/debian.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { deployFile, stopSeconds } from './deploy-files.ts';

const analyze = await need('systemd-analyze', () =>
  ensureDebian('/usr/bin/systemd-analyze', ['systemd']),
);
const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

describeWith('the unit of systemd', analyze, (program) => {
  const text = deployFile('systemd/weir.service').replaceAll('/opt/weir', checkout);
  const directory = mkdtempSync(join(tmpdir(), 'weir-unit-'));
  const write = (content: string) => {
    const path = join(directory, 'weir.service');
    writeFileSync(path, content);
    return path;
  };
  const verify = (content: string) => {
    const args = ['verify', '--recursive-errors=no', '--man=no', write(content)];
    const { status, stderr } = spawnSync(program, args);
    return { status, said: stderr.toString() };
  };

  test('is understood, down to the last line', () => {
    expect(verify(text)).toEqual({ status: 0, said: '' });
  });

  test('would not be with a wrong word in it', () => {
    expect(verify(`${text}\n[Service]\nProtectSistem=yes\n`).said).toContain('ProtectSistem');
  });

  test('is exposed to little', () => {
    const args = ['security', '--offline=true', '--no-pager', write(text)];
    const said = execFileSync(program, args).toString();
    const score = Number(/exposure level for weir\.service: ([0-9.]+)/.exec(said)?.[1]);
    expect(score).toBeLessThanOrEqual(1.5);
  });

  test('is given the time that a stop takes, and more', () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]);
    expect(seconds).toBeGreaterThanOrEqual(stopSeconds + 10);
    expect(text).toMatch(/^KillMode=mixed$/m);
  });
});
