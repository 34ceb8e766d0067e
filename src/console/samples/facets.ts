import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { readFacets } from '../../domain/api/app/samples.ts';

/** What there is to choose from. */
export type Facets = AnswerOf<typeof readFacets>;
