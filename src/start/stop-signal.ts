/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.kill(process.pid, 'SIGKILL'));
        resolve();
      });
    }
  });
}
