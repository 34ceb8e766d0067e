import { type Logger, pino } from 'pino';
import type { RateVerdict } from '../../domain/rates.ts';
import { openRates } from '../../rates/open.ts';
import { type OpsParts, partsOf } from '../../serve/ops.ts';
import { monotonicClock } from '../../std/clock.ts';
import { type Service, startService } from '../serve.ts';
import { readSettings, type Settings } from '../settings.ts';
import { openGivenSamples } from '../stores.ts';
import type { Surroundings } from '../surroundings.ts';
import type { FromProcess, ProcessOptions, Take, Told, ToProcess } from './messages.ts';
import { pulse } from './pulse.ts';
import { Questions } from './questions.ts';
import { supervisedRates } from './supervised-rates.ts';

/**
 * One of several processes of a service (`supervisor.ts` starts it).
 *
 * Ending. It ends with its supervisor: when the channel to it closes, however that came about, at
 * once and as by a crash, which loses nothing. Signals to the whole group (a Ctrl-C at the
 * terminal, a stop of the unit) are the supervisor's to judge, who then tells to stop.
 */
const answerWaitMs = 1_000;
/** What is stored in between is told together: others may help, this process parses at once. */
const storedEveryMs = 20;

const verdicts = new Questions<readonly RateVerdict[]>(answerWaitMs);
let service: Service | null = null;
let ops: OpsParts | null = null;
let wake = () => {};

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function send(message: FromProcess): void {
  // Nobody is there to be told of a failure: the channel is closed, which ends this process.
  if (process.connected) process.send?.(message, () => {});
}

process.once('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('message', (message: ToProcess) => {
  if (message.kind === 'begin') void begin(message);
  else if (message.kind === 'taken') verdicts.answered(message.id, message.verdicts);
  else if (message.kind === 'wake') wake();
  else if (message.kind === 'tell') void tell(message.id, message.what);
  else void stop();
});
// The supervisor may have gone before anybody listened for it.
if (!process.connected) end();

async function begin(options: ProcessOptions): Promise<void> {
  try {
    const settings = readSettings(process.env);
    const log = pino({ level: settings.WEIR_LOG_LEVEL });
    service = await startService(settings, log, surroundingsOf(settings, log, options));
    send({ kind: 'ready' });
  } catch (error) {
    const failed: FromProcess = { kind: 'failed', reason: (error as Error).message };
    process.send?.(failed, () => process.exit(1));
  }
}

function surroundingsOf(
  settings: Settings,
  log: Logger,
  { roles, isFirst, engine, parseThreads }: ProcessOptions,
): Surroundings {
  const url = settings.WEIR_REDIS_URL;
  return {
    ...{ roles: new Set(roles), isFirst, parseThreads, sharesAddresses: true },
    async openRates() {
      if (url !== undefined) return openRates({ url, clock: monotonicClock, log });
      return supervisedRates(take);
    },
    openSamples: async () => openGivenSamples(settings, engine),
    tellStored: pulse(() => send({ kind: 'stored' }), storedEveryMs),
    onStored(told) {
      wake = told;
    },
    async openOps(parts) {
      ops = parts;
      return async () => {
        ops = null;
      };
    },
  };
}

function take(takes: readonly Take[]): Promise<readonly RateVerdict[]> {
  return verdicts.ask((id) => send({ kind: 'take', id, takes }));
}

/** A process that is not up yet, or stops, has nothing to tell. */
async function tell(id: number, what: keyof Told): Promise<void> {
  if (ops === null || service === null) return;
  const answer = what === 'health' ? await partsOf(ops.dependencies) : await ops.metrics.snapshot();
  send({ kind: 'told', id, answer });
}

async function stop(): Promise<void> {
  // What was begun and not finished was not promised to anybody.
  if (service === null) return end();
  await service.stop();
  process.exit(0);
}
