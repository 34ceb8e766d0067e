import { z } from 'zod';

/** U+0000 and lone surrogates: not every catalog can keep them. */
const unkeepable = /[\0\p{Surrogate}]/u;

/** What people call something: not empty, white space around it dropped. */
export function nameText(charsMax: number) {
  return z
    .string()
    .trim()
    .min(1, 'This must not be empty.')
    .max(charsMax, `This must have at most ${charsMax} characters.`)
    .refine((text) => !unkeepable.test(text), 'This must be well-formed text.');
}
