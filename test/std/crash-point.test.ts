import { expect, test } from 'vitest';
import { readSettings, SettingsError } from '../../src/start/settings.ts';
import { crashPoint, crashPoints, readCrashPoint } from '../../src/std/crash-point.ts';

test('a crash point is a name, or a name and a passage', () => {
  expect(readCrashPoint('claimed')).toEqual({ point: 'claimed', passage: 1 });
  expect(readCrashPoint('bytes_sent:12')).toEqual({ point: 'bytes_sent', passage: 12 });
  for (const text of ['', 'nowhere', 'claimed:0', 'claimed:', 'claimed:1x', ' claimed']) {
    expect(readCrashPoint(text), text).toBe(null);
  }
});

test('unarmed crash points do nothing', () => {
  for (const point of crashPoints) crashPoint(point);
});

test('a setting that names no crash point stops the start', () => {
  expect(() => readSettings({ WEIR_CRASH_AT: 'nowhere' })).toThrow(SettingsError);
  expect(readSettings({ WEIR_CRASH_AT: 'claimed:2' }).WEIR_CRASH_AT).toBe('claimed:2');
});
