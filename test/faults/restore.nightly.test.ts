import { expect, test } from 'vitest';
import {
  artifactOf,
  expectAccepting,
  expectAllBack,
  expectRefusing,
  type RecoverAnswer,
  restore,
} from './restore-drill.ts';

const timeout = 180_000;

test('a restored catalog takes nothing until `weir recover` ran beside the service', {
  timeout,
}, async () => {
  const restored = await restore({});
  try {
    const weir = restored.weir();
    await weir.start();
    await expectRefusing(restored, weir);
    const answer = await weir.cli<RecoverAnswer>('recover');
    const ids = restored.after.map(artifactOf);
    const count = ids.length;
    expect(answer).toMatchObject({ behind: true, recovered: count, duplicates: 0, failed: 0 });
    expect(answer.objects.map((one) => one.artifact_id)).toEqual(ids);
    await expectAllBack(restored, weir);
    await expectAccepting(restored, weir);
    expect(await weir.cli('recover')).toEqual({
      ...{ behind: false, recovered: 0, duplicates: 0, failed: 0, objects: [] },
    });
    await weir.end();
    const next = restored.weir();
    await next.start();
    await expectAccepting(restored, next);
  } finally {
    await restored.place.remove();
  }
});

test('`weir recover` works without a service, which then accepts at once', {
  timeout,
}, async () => {
  const restored = await restore({});
  try {
    const weir = restored.weir();
    const answer = await weir.cli<RecoverAnswer>('recover');
    expect(answer).toMatchObject({ behind: true, recovered: restored.after.length });
    await weir.start();
    await expectAllBack(restored, weir);
    await expectAccepting(restored, weir);
  } finally {
    await restored.place.remove();
  }
});
