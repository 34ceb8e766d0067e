import type { Route } from '../http/routes.ts';
import type { AppParts } from './parts.ts';

export function sampleRoutes(_parts: AppParts): Route[] {
  return [];
}
