import { ensureDebian } from './debian.ts';
import { type Needed, need } from './needed.ts';

/** Debian's Chromium, or the reason why it cannot be had; for `describeWith`. */
export function chromiumOrSkip(): Promise<Needed<string>> {
  // Without a font, pages are boxes, and so are their pictures.
  return need('chromium', () =>
    ensureDebian('/usr/bin/chromium', ['chromium', 'fonts-dejavu-core']),
  );
}
