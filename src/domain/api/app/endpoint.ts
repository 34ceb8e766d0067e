import type { z } from 'zod';
import type { AppErrorCode } from '../../app-errors.ts';

/** What a user may do in a company. `sources.manage` holds `sources.read`. */
export type Permission = 'sources.read' | 'sources.manage';

/**
 * One address of the app API: what its document shows, what its server checks, and (as types
 * only) what the console sends and gets.
 */
export interface Endpoint<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST';
  /** `/app/api/…`, parameters in braces. */
  readonly path: string;
  /** One sentence. */
  readonly summary: string;
  /** `nobody`: no session is needed. */
  readonly needs: Permission | 'nobody';
  /** A passkey check in the last five minutes (specification, "Access keys", 7). */
  readonly fresh?: true;
  /** What the audit log says was done, such as `key revoke`: of all that changes something. */
  readonly audited?: string;
  /** Codes of its own, beside those that come of what is declared here. */
  readonly refuses?: readonly AppErrorCode[];
  readonly query?: Query;
  readonly body?: Body;
  /** Absent: the answer is no JSON. */
  readonly answer?: Answer;
}

/** Declares an endpoint; its schemas keep their types. */
export function endpoint<
  Query extends z.ZodType = z.ZodType<Record<string, never>>,
  Body extends z.ZodType = z.ZodType<undefined>,
  Answer extends z.ZodType = z.ZodType<undefined>,
>(declared: Endpoint<Query, Body, Answer>): Endpoint<Query, Body, Answer> {
  return declared;
}

export type QueryOf<E> = E extends Endpoint<infer Q, z.ZodType, z.ZodType> ? z.infer<Q> : never;
export type BodyOf<E> = E extends Endpoint<z.ZodType, infer B, z.ZodType> ? z.infer<B> : never;
export type AnswerOf<E> = E extends Endpoint<z.ZodType, z.ZodType, infer A> ? z.infer<A> : never;
