import { expect, it } from 'vitest';
import type { Subject } from '../catalog.ts';

export function auditContract(on: Subject): void {
  it('lists what was noted, newest first, page by page, and keeps it over a restart', async () => {
    const noted = Array.from({ length: 7 }, (_, i) => ({
      at: 9_000 - i,
      actor: i % 2 ? 'command line' : 'ada@example.com',
      action: 'key revoke',
      about: {
        key: `k${i}`,
        names: ['ü', '\u{1f41f}'],
        sandbox: true,
        days: 30,
        deep: { a: null },
      },
    }));
    for (const entry of noted) await on.catalog.audit.note(entry);
    await on.reopen();
    const seen = [];
    let before: number | undefined;
    for (;;) {
      const page = before === undefined ? { limit: 3 } : { limit: 3, before };
      const entries = await on.catalog.audit.list(page);
      if (entries.length === 0) break;
      seen.push(...entries);
      before = entries.at(-1)!.id;
    }
    expect(seen.map(({ id: _, ...entry }) => entry)).toEqual(noted.reverse());
    const ids = seen.map((entry) => entry.id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
  });
}
