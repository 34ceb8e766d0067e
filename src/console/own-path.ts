/**
 * A path of this site, for where to go after the sign-in; anything else, such as another site's
 * address, becomes the overview.
 *
 * @param text as it stands in the query
 */
export function ownPath(text: string | undefined): string {
  const here = 'http://here.invalid';
  if (!text?.startsWith('/') || !URL.canParse(text, here)) return '/';
  // Browsers read `//name` and `/\name` as another site, so what the text comes to is judged.
  const { origin, pathname, search, hash } = new URL(text, here);
  const path = `${pathname}${search}${hash}`;
  return origin === here && !path.startsWith('//') && pathname !== '/sign-in' ? path : '/';
}
