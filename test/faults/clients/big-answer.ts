import { limits } from '../../../src/domain/limits.ts';
import { dayToText } from '../../../src/domain/periods.ts';
import { accepted } from '../../support/sender.ts';
import type { TestSource, TestWeir } from '../../support/test-weir.ts';

/** A source whose answers are larger than what the system takes for a reader who does not read. */
export function declareBigSource(weir: TestWeir): Promise<TestSource> {
  return weir.source({
    delivery: 'document',
    fields: [
      { name: 'day', role: 'period' },
      { name: 'device', role: 'label' },
      { name: 'place', role: 'label' },
      { name: 'visits', role: 'value', metric: 'visits' },
    ],
  });
}

/** As many samples as an answer holds, each with a label of 1,200 bytes. @returns its bytes */
export async function fillWithBigSamples(source: TestSource): Promise<number> {
  const today = Math.floor(Date.now() / 86_400_000);
  const place = 'é'.repeat(600);
  const lines = Array.from(
    { length: limits.samplesPerAnswerMax },
    (_, i) => `${dayToText(today - 1 - (i % 700))},device ${Math.floor(i / 700)},${place},${i}`,
  );
  const { sender } = source;
  const receipt = await sender.document(`day,device,place,visits\n${lines.join('\n')}\n`);
  accepted(receipt);
  const { counts } = await sender.settled(receipt);
  if (counts.samples !== lines.length) throw new Error(`${counts.samples} samples`);
  return (await sender.get('/v1/samples')).body.length;
}
