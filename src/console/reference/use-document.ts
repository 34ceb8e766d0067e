import { Refused } from '../api.ts';
import { type Read, useRead } from '../use-read.ts';
import type { OpenApi } from './document.ts';

/** The API's document, as it is served beside the pages. */
export function useDocument(): Read<OpenApi> {
  return useRead('openapi', async (signal) => {
    const answer = await fetch('/openapi.json', { signal });
    if (answer.ok) return (await answer.json()) as OpenApi;
    throw new Refused(answer.status, {
      code: 'internal',
      message: "The API's document cannot be read.",
    });
  });
}
