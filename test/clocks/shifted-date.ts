import { readFileSync } from 'node:fs';

/**
 * Loaded into a program before its own files (`node --import`): its wall clock is off by the
 * milliseconds that stand in the file `TEST_CLOCK_FILE`, which may change at any time. What counts
 * how long something takes (`performance.now`, timers) is left alone, as by who sets a clock.
 */
const file = process.env.TEST_CLOCK_FILE;
if (file === undefined) throw new Error('TEST_CLOCK_FILE names the file of the shift');

const RealDate = Date;
const realNow = Date.now;
let shiftMs = 0;

function read(): void {
  shiftMs = Number(readFileSync(file!, 'utf8'));
}

read();
setInterval(read, 10).unref();

const now = () => realNow() + shiftMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], made) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, made),
});
Date.now = now;
