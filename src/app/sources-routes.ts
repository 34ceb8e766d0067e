import type { Route } from '../http/routes.ts';
import type { AppParts } from './parts.ts';

export function sourceRoutes(_parts: AppParts): Route[] {
  return [];
}
