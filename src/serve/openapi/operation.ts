import type { z } from 'zod';
import type { AnswerHeader } from '../../domain/api/answer-headers.ts';
import type { namedAnswers } from '../../domain/api/answers.ts';
import type { Refusal } from '../../domain/errors.ts';

export type Json = Readonly<Record<string, unknown>>;

/** One operation, as the document is made of it. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** As OpenAPI writes it: `/v1/deliveries/{artifact_id}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Whether an access key opens it. */
  readonly keyed: boolean;
  readonly parameters: readonly Parameter[];
  /** Media type → body. */
  readonly body?: Readonly<Record<string, Body>>;
  readonly success: readonly Success[];
  readonly refusals: readonly Refusal[];
  /** Status → an error that is typical here, where the table's own example is not. */
  readonly examples?: Readonly<Record<number, { message: string; field?: string }>>;
  /** Statuses that may carry the rate's headers, because they can come after the rate's check. */
  readonly rated: readonly number[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'query' | 'path';
  readonly required?: boolean;
  readonly schema: z.ZodType;
  /** Which side of a schema that transforms text is shown; the value when absent. */
  readonly shows?: 'text';
}

export interface Body {
  readonly schema: Json;
  readonly examples: Json;
}

export interface Success {
  readonly status: 200 | 202 | 304;
  readonly description: string;
  readonly schema?: keyof typeof namedAnswers;
  /** Without a name: any JSON object. */
  readonly json?: true;
  readonly headers: readonly AnswerHeader[];
  readonly sometimes?: readonly AnswerHeader[];
  /** Another operation that what was answered leads to. */
  readonly links?: Json;
}
