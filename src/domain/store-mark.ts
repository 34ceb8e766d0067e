/**
 * What a catalog leaves in its artifact store (`ArtifactStore.writeMark`): how far it was when it
 * last received something. A catalog that is behind its mark was restored from a backup.
 */
export interface StoreMark {
  /** Of the catalog that the store belongs to. */
  readonly catalogId: string;
  /** The greatest sequence that had a receipt. */
  readonly sequence: number;
  /** A recovery began and has not ended: the catalog is not whole, whatever its sequence is. */
  readonly recovering: boolean;
}

export function encodeMark(mark: StoreMark): string {
  return `${JSON.stringify(mark)}\n`;
}

/** @returns null when the text is no mark */
export function decodeMark(text: string): StoreMark | null {
  const { catalogId, sequence, recovering } = fieldsOf(text);
  if (typeof catalogId !== 'string' || typeof recovering !== 'boolean') return null;
  if (!Number.isSafeInteger(sequence)) return null;
  return { catalogId, sequence: sequence as number, recovering };
}

function fieldsOf(text: string): Partial<Record<keyof StoreMark, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/**
 * Whether a catalog may take deliveries for a store.
 *
 * `fits`: it knows every delivery that the mark knows. `behind`: it does not, or a recovery was
 * cut short. `foreign`: the store belongs to another catalog. `damaged`: the mark cannot be read.
 */
export type Fit = 'fits' | 'behind' | 'foreign' | 'damaged';

/**
 * @param text the store's mark; null: the store is new, or from before there were marks
 * @param catalog its id and the greatest sequence that it has
 */
export function judgeMark(
  text: string | null,
  catalog: { readonly catalogId: string; readonly sequence: number },
): Fit {
  if (text === null) return 'fits';
  const mark = decodeMark(text);
  if (!mark) return 'damaged';
  if (mark.catalogId !== catalog.catalogId) return 'foreign';
  return mark.recovering || mark.sequence > catalog.sequence ? 'behind' : 'fits';
}

/** One line for people, of each fit that is none. */
export const unfitReasons: Readonly<Record<Exclude<Fit, 'fits'>, string>> = {
  behind:
    'the catalog is older than its artifact store, as after restoring a backup: ' +
    'run `weir recover`',
  damaged: 'the mark in the artifact store is damaged: run `weir recover`',
  foreign:
    'the artifact store belongs to another catalog: ' +
    'check WEIR_ARTIFACTS_URL, WEIR_CATALOG_URL and WEIR_DATA_DIR',
};
