import type { AnswerOf } from '../domain/api/app/endpoint.ts';
import type { readSource } from '../domain/api/app/sources.ts';

export type SourceOfPage = AnswerOf<typeof readSource>;

/** What each tab of a source's page gets. */
export interface SourceTabProps {
  readonly source: SourceOfPage;
  /** What stands in the address after the tab's name. */
  readonly rest: string;
  /** Asks for the source again, after it was saved. */
  refresh(): void;
}
