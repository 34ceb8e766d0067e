import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Caller, World } from './outside.ts';

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/** In the place of uWebSockets.js: keeps the handlers, and brings them requests. */
export class FakeApp {
  readonly #handlers: { readonly pattern: string[]; readonly handler: Handler }[] = [];
  readonly #open = new Set<() => void>();

  /** As `mount` of `src/http/routes.ts` takes it. */
  get app(): TemplatedApp {
    const any = (pattern: string, handler: Handler) => {
      this.#handlers.push({ pattern: pattern.split('/'), handler });
    };
    return { any } as unknown as TemplatedApp;
  }

  /**
   * Brings one request.
   *
   * @param told the answer; null: the connection broke before it came
   * @returns breaks the connection
   */
  bring(world: World, node: Caller, request: Request, told: (answer: Answer | null) => void) {
    const connection = new Connection(world, node, request, (answer) => {
      this.#open.delete(connection.cut);
      told(answer);
    });
    this.#open.add(connection.cut);
    const path = request.path.split('/');
    for (const { pattern, handler } of this.#handlers) {
      const parameters = matched(pattern, path);
      if (parameters === null) continue;
      handler(connection.response(), requestOf(request, parameters));
      break;
    }
    connection.bring();
    return connection.cut;
  }

  /** How many requests have no answer yet. */
  get open(): number {
    return this.#open.size;
  }

  /** The process is gone, and all its connections with it. */
  cutAll(): void {
    for (const cut of [...this.#open]) cut();
  }
}

function matched(pattern: readonly string[], path: readonly string[]): string[] | null {
  if (pattern[1] === '*') return [];
  if (pattern.length !== path.length) return null;
  const parameters: string[] = [];
  for (const [i, part] of pattern.entries()) {
    if (part.startsWith(':')) parameters.push(path[i]!);
    else if (part !== path[i]) return null;
  }
  return parameters;
}

function requestOf({ method, path, query = '', headers }: Request, parameters: string[]) {
  return {
    getCaseSensitiveMethod: () => method,
    getUrl: () => path,
    getQuery: () => query,
    getParameter: (i: number) => parameters[i],
    forEach(each: (name: string, value: string) => void) {
      for (const [name, value] of Object.entries(headers)) each(name.toLowerCase(), value);
    },
  } as unknown as HttpRequest;
}

const chunkBytes = 48 * 1024;

/** One request on its way in and its answer on its way out, as uWebSockets.js does both. */
class Connection {
  readonly #world: World;
  readonly #node: Caller;
  readonly #body: Buffer;
  readonly #told: (answer: Answer | null) => void;
  #sent = 0;
  #onData: ((chunk: ArrayBuffer, isLast: boolean) => void) | null = null;
  #onAborted: () => void = () => {};
  #paused = false;
  #over = false;
  #status = 0;
  readonly #headers: Record<string, string> = {};

  constructor(world: World, node: Caller, request: Request, told: (a: Answer | null) => void) {
    this.#world = world;
    this.#node = node;
    this.#body = request.body ?? Buffer.alloc(0);
    this.#told = told;
  }

  /** The other end is gone: nobody is answered, and the handler is told. */
  readonly cut = (): void => {
    if (this.#over) return;
    this.#over = true;
    this.#onAborted();
    this.#tell(null);
  };

  response(): HttpResponse {
    const end = (body: unknown = '') => this.#end(body as string | Uint8Array);
    return {
      onAborted: (tell: () => void) => {
        this.#onAborted = tell;
      },
      onData: (take: (chunk: ArrayBuffer, isLast: boolean) => void) => {
        this.#onData = take;
      },
      pause: () => {
        this.#paused = true;
      },
      resume: () => {
        this.#paused = false;
        this.#later();
      },
      cork: (work: () => void) => work(),
      writeStatus: (text: string) => {
        this.#status = Number.parseInt(text, 10);
      },
      writeHeader: (name: string, value: string) => {
        this.#headers[name] = value;
      },
      end,
      // Whoever asks here reads all of its answer.
      tryEnd: (body: unknown) => {
        end(body);
        return [true, true];
      },
      endWithoutBody: () => end(),
      close: () => this.cut(),
      getRemoteAddressAsText: () => new TextEncoder().encode('127.0.0.1').buffer,
    } as unknown as HttpResponse;
  }

  /** The next bytes of the body; a pause is heard after them. */
  bring(): void {
    if (this.#over || this.#paused || !this.#onData || this.#sent > this.#body.length) return;
    const part = this.#body.subarray(this.#sent, this.#sent + chunkBytes);
    this.#sent += part.length;
    const isLast = this.#sent === this.#body.length;
    // Memory of its own, as that of the socket is.
    const chunk = new Uint8Array(part).buffer;
    this.#onData(chunk, isLast);
    if (isLast) this.#sent += 1;
    else this.#later();
  }

  #later(): void {
    const { time, random } = this.#world;
    time.after(random.below(20), this.#node, () => this.bring());
  }

  #end(body: string | Uint8Array): void {
    if (this.#over) return;
    this.#over = true;
    // What a process wrote to its socket before it died still arrives; after that it writes none.
    if (!this.#node.alive) return;
    this.#tell({
      ...{ status: this.#status, headers: this.#headers },
      body: Buffer.from(body).toString(),
    });
  }

  #tell(answer: Answer | null): void {
    const { time, random } = this.#world;
    time.after(random.below(4), null, () => this.#told(answer));
  }
}
