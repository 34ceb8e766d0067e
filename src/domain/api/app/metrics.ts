import { z } from 'zod';
import { limits } from '../../limits.ts';
import { fieldNameCharsMax } from '../../shapes.ts';
import { endpoint } from './endpoint.ts';
import { nameText } from './text.ts';

const charsMax = limits.metricKeyCharsMax;
const key = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, 'A key has lower case letters, digits and _, a letter first.')
  .max(charsMax, `A key has at most ${charsMax} characters.`);
const name = nameText(200);
const unit = nameText(50);
const label = nameText(fieldNameCharsMax);

const metric = z.object({
  key: z.string(),
  name: z.string(),
  unit: z.string(),
  labels: z.array(z.string()).describe('Each sample carries these. They never change.'),
});

export const listMetrics = endpoint({
  method: 'GET',
  path: '/app/api/metrics',
  summary: "Lists the company's metrics in the order of their declaration.",
  needs: 'sources.read',
  answer: z.object({ metrics: z.array(metric) }),
});

export const declareMetric = endpoint({
  method: 'POST',
  path: '/app/api/metrics',
  summary: 'Declares a metric. Its key and its labels never change.',
  needs: 'sources.manage',
  audited: 'metric declare',
  body: z.strictObject({ key, name, unit, labels: z.array(label).max(50) }),
  answer: metric,
});

export const renameMetric = endpoint({
  method: 'POST',
  path: '/app/api/metrics/{key}',
  summary: 'Gives a metric another name or unit.',
  needs: 'sources.manage',
  audited: 'metric rename',
  body: z.strictObject({ name, unit }),
  answer: metric,
});
