/** An error in the words of the ClickHouse HTTP interface. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: number;

  constructor(code: number, type: string, message: string) {
    super(`Code: ${code}. DB::Exception: ${message}. (${type})`);
    this.code = code;
  }
}

/** HTTP statuses of the exception codes that have one of their own; all others are 500. */
const statuses: Readonly<Record<number, number>> = {
  48: 501, // NOT_IMPLEMENTED
  60: 404, // UNKNOWN_TABLE
  62: 400, // SYNTAX_ERROR
  81: 404, // UNKNOWN_DATABASE
  159: 408, // TIMEOUT_EXCEEDED
  202: 503, // TOO_MANY_SIMULTANEOUS_QUERIES
  456: 400, // UNKNOWN_QUERY_PARAMETER
  516: 401, // AUTHENTICATION_FAILED
};

/** Turns whatever a request ran into into status, exception code and text. */
export function describeError(error: unknown): { status: number; code: number; text: string } {
  const message = error instanceof Error ? error.message : String(error);
  const found = /^Code: (\d+)\. /.exec(message);
  if (found === null) {
    return {
      status: 500,
      code: 1001,
      text: `Code: 1001. DB::Exception: ${message}. (STD_EXCEPTION)`,
    };
  }
  const code = Number(found[1]);
  return { status: statuses[code] ?? 500, code, text: message };
}
