import type { Route } from '../http/routes.ts';
import type { AppParts } from './parts.ts';

export function keyRoutes(_parts: AppParts): Route[] {
  return [];
}
