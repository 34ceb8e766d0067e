import type { Route } from '../http/routes.ts';
import type { AppParts } from './parts.ts';

export function overviewRoutes(_parts: AppParts): Route[] {
  return [];
}
