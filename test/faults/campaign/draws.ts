import { randomOf } from '../load.ts';
import { type BodySpec, type Kind, type Refusal, refusals } from './bodies.ts';

/** Where deliveries are one another's: a source, and production or sandbox. */
export interface Scope {
  /** `acme/push/live`, `bolt/document/sandbox`, … */
  readonly name: string;
  readonly kind: Kind;
  readonly sandbox: boolean;
  readonly sourceId: string;
}

/** One delivery that is to be sent. */
export interface Sending {
  readonly scope: string;
  readonly body: BodySpec;
  /** `cut`: the sender goes away in the middle of the body. */
  readonly how: 'whole' | 'cut';
  /** Sent again until there is a receipt; otherwise sent once, whatever came. */
  readonly persistent: boolean;
}

/** What a sender does next. */
export interface Draw {
  readonly what: DrawKind;
  readonly sendings: readonly Sending[];
  /** Otherwise one after the other. */
  readonly atOnce: boolean;
}

/** How often each is drawn, of the sum of all. */
const weights = {
  fresh: 44,
  /** Sent once and never again, so that what became of it stays unknown when no answer came. */
  once: 8,
  /** The same delivery twice at the same time. */
  twins: 8,
  /** The same key and body as one before. */
  repeat: 8,
  /** The body of one before, under another key. */
  rename: 6,
  /** Another body under a key of before. */
  conflict: 6,
  /** Two bodies under one new key at the same time. */
  rivals: 4,
  /** The key and body of one before, in another scope. */
  elsewhere: 6,
  /** One that must be refused; then, now and then, a good one under its key. */
  refused: 7,
  /** Cut off in the middle of its body. */
  cut: 3,
} as const;

export type DrawKind = keyof typeof weights;

export const drawKinds = Object.keys(weights) as DrawKind[];

/** Earlier deliveries that a sender may come back to. */
const pastMax = 200;
/** More senders than a run has, so that no two of them give a body the same number. */
const sendersMax = 64;

/** What one sender sends, drawn from the run's seed: never from an answer, nor from the clock. */
export class Draws {
  readonly #scopes: readonly Scope[];
  readonly #sender: number;
  readonly #random: (n: number) => number;
  readonly #past: Sending[] = [];
  #bodies = 0;
  #drawn = 0;

  constructor(seed: number, sender: number, scopes: readonly Scope[]) {
    if (sender >= sendersMax) throw new Error(`at most ${sendersMax} senders`);
    this.#scopes = scopes;
    this.#sender = sender;
    this.#random = randomOf(Math.imul(seed, 31) + sender);
  }

  next(): Draw {
    this.#drawn += 1;
    const what = this.#kind();
    const before = this.#past[this.#random(Math.max(1, this.#past.length))];
    const draw = this.#draw(what, before);
    const first = draw.sendings.find((one) => one.body.refusal === null && one.how === 'whole');
    if (first) this.#past.push(first);
    if (this.#past.length > pastMax) this.#past.shift();
    return draw;
  }

  #kind(): DrawKind {
    let left = this.#random(Object.values(weights).reduce((sum, one) => sum + one, 0));
    for (const kind of drawKinds) {
      left -= weights[kind];
      if (left < 0) return kind;
    }
    throw new Error('the weights have another sum');
  }

  #draw(what: DrawKind, before: Sending | undefined): Draw {
    const fresh = this.#fresh();
    const one = (sending: Sending): Draw => ({ what, sendings: [sending], atOnce: false });
    const both = (a: Sending, b: Sending): Draw => ({ what, sendings: [a, b], atOnce: true });
    if (what === 'once') return one({ ...fresh, persistent: false });
    if (what === 'cut') return one({ ...fresh, how: 'cut', persistent: false });
    if (what === 'twins') return both(fresh, fresh);
    if (what === 'rivals') return both(fresh, this.#under(fresh));
    if (what === 'refused') return this.#refused(fresh);
    if (what === 'fresh' || !before) return { ...one(fresh), what: 'fresh' };
    if (what === 'repeat') return one({ ...before, persistent: true });
    if (what === 'conflict') return one(this.#under(before));
    if (what === 'rename') return one(this.#renamed(before));
    return one(this.#elsewhere(before));
  }

  #fresh(): Sending {
    const scope = this.#scopes[this.#random(this.#scopes.length)]!;
    const mark = scope.kind === 'push' && this.#random(10) === 0 ? ' ✓' : '';
    const key = `s${this.#sender}-${this.#drawn}${mark}`;
    const body = { kind: scope.kind, number: this.#number(), key, refusal: null };
    return { scope: scope.name, body, how: 'whole', persistent: true };
  }

  /** Another body under the same key. */
  #under(other: Sending): Sending {
    return { ...other, persistent: true, body: { ...other.body, number: this.#number() } };
  }

  /** A push carries its key, so that with another key it is another body. */
  #renamed(before: Sending): Sending {
    const key = `s${this.#sender}-${this.#drawn}-again`;
    return { ...before, persistent: true, body: { ...before.body, key } };
  }

  #elsewhere(before: Sending): Sending {
    const { kind } = before.body;
    const others = this.#scopes.filter((one) => one.kind === kind && one.name !== before.scope);
    const { name } = others[this.#random(others.length)]!;
    return { ...before, scope: name, persistent: true };
  }

  #refused(good: Sending): Draw {
    const known = Object.entries(refusals) as [Refusal, (typeof refusals)[Refusal]][];
    const fitting = known.filter(([, { kinds }]) =>
      (kinds as readonly Kind[]).includes(good.body.kind),
    );
    const [refusal] = fitting[this.#random(fitting.length)]!;
    const body = { ...good.body, number: this.#number(), refusal };
    const bad: Sending = { ...good, body, persistent: false };
    const sendings = this.#random(2) === 0 ? [bad] : [bad, good];
    return { what: 'refused', sendings, atOnce: false };
  }

  #number(): number {
    this.#bodies += 1;
    return this.#bodies * sendersMax + this.#sender;
  }
}
