import { AppError } from '../domain/app-errors.ts';

/** Exports under way at once: each holds pages of text, and asks for all of its samples. */
export const exportsMax = { company: 4, all: 16 } as const;

/** Begins exports within bounds, so that readers of one company leave some to the others. */
export function exportLimit() {
  const underWay = new Map<string, number>();
  let all = 0;
  /** @throws AppError `conflict` with `busy` */
  return async <T>(companyId: string, work: () => Promise<T>): Promise<T> => {
    const own = underWay.get(companyId) ?? 0;
    if (own >= exportsMax.company || all >= exportsMax.all) {
      const message = 'Several exports are under way. Try again in a moment.';
      throw new AppError('conflict', message, { reason: 'busy' });
    }
    underWay.set(companyId, own + 1);
    all += 1;
    try {
      return await work();
    } finally {
      all -= 1;
      const left = underWay.get(companyId)! - 1;
      if (left > 0) underWay.set(companyId, left);
      else underWay.delete(companyId);
    }
  };
}
