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
  /** What stands after the first value of a name. */
  readonly #repeated = new Map<string, string[]>();

  constructor(request: HttpRequest) {
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    request.forEach((name, value) => {
      if (!this.#values.has(name)) this.#values.set(name, value);
      else this.#repeated.set(name, [...(this.#repeated.get(name) ?? []), value]);
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

  /** All lines of a header that is a list, as one list (RFC 9110, section 5.3); null: absent. */
  listHeader(name: string): string | null {
    const first = this.firstHeader(name);
    const more = this.#repeated.get(name.toLowerCase()) ?? [];
    return first === null ? null : [first, ...more].join(', ');
  }
}
