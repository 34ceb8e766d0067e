/** The specification's Receipt; further fields of the answer are kept. */
export interface Receipt {
  readonly artifact_id: string;
  readonly shape_version: number;
  readonly status: string;
  readonly sandbox?: boolean;
}

/** The specification's Error. */
export interface ErrorAnswer {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
}

/** @returns null when the text is no receipt */
export function readReceipt(text: string): Receipt | null {
  const value = jsonObject(text);
  const isReceipt =
    typeof value?.artifact_id === 'string' &&
    typeof value.shape_version === 'number' &&
    typeof value.status === 'string';
  return isReceipt ? (value as unknown as Receipt) : null;
}

/** Reads an Error; what stands between sender and service may answer something else. */
export function readError(answer: { readonly status: number; readonly text: string }): ErrorAnswer {
  const value = jsonObject(answer.text);
  if (typeof value?.code === 'string' && typeof value.message === 'string') {
    const { code, message, field } = value;
    return { code, message, ...(typeof field === 'string' ? { field } : {}) };
  }
  return { code: `http_${answer.status}`, message: `The answer was ${answer.status}.` };
}

/** @returns null when the text is no JSON object */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
