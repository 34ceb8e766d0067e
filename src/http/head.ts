import type { HttpRequest } from 'uWebSockets.js';
import { invalid } from '../domain/errors.ts';

/**
 * The head of a request, copied while uWebSockets.js still holds it.
 *
 * Header names are lower case. A header that stands twice is refused when it is asked for, not
 * before: what nobody reads may stand as often as it likes.
 */
export class RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #values = new Map<string, string>();
  readonly #repeated = new Set<string>();

  constructor(request: HttpRequest) {
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    request.forEach((name, value) => {
      if (this.#values.has(name)) this.#repeated.add(name);
      else this.#values.set(name, value);
    });
  }

  /**
   * The value of a header; undefined when it is absent, empty text when it is empty.
   *
   * @throws ApiError 400 naming the header when it stands more than once
   */
  header(name: string): string | undefined {
    const key = name.toLowerCase();
    if (this.#repeated.has(key)) throw invalid(name, 'This header must stand only once.');
    return this.#values.get(key);
  }

  /** The first value of a header that decides nothing by its number; null when it is absent. */
  firstHeader(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }
}
