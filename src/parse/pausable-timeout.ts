/** A signal that aborts after a time in which pauses do not count. */
export interface PausableTimeout {
  readonly signal: AbortSignal;
  pause(): void;
  resume(): void;
  /** It will not abort any more. */
  end(): void;
}

export function pausableTimeout(ms: number): PausableTimeout {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('the time is over', 'TimeoutError'));
  let left = ms;
  let since = performance.now();
  let timer: NodeJS.Timeout | null = setTimeout(abort, left);
  let ended = false;

  function stop(): void {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    left -= performance.now() - since;
  }

  return {
    signal: controller.signal,
    pause: stop,
    resume() {
      if (timer !== null || ended) return;
      since = performance.now();
      timer = setTimeout(abort, Math.max(0, left));
    },
    end() {
      ended = true;
      stop();
    },
  };
}
