import { corrections } from './corrections.ts';
import { errors } from './errors.ts';
import { firstDelivery } from './first-delivery.ts';
import type { Guide } from './guide.ts';
import { limits } from './limits.ts';
import { signing } from './signing.ts';

/** By the last part of their address, in the order in which one reads them. */
export const guides: Readonly<Record<string, Guide>> = {
  'first-delivery': firstDelivery,
  signing,
  corrections,
  limits,
  errors,
};
