/**
 * Calls `beat` at once, but at most once in `everyMs`: a call that comes sooner beats when the time
 * is over, together with all that come until then.
 */
export function pulse(beat: () => void, everyMs: number): () => void {
  let resting = false;
  let wanted = false;
  const rest = () => {
    resting = true;
    setTimeout(() => {
      resting = false;
      if (wanted) beatNow();
    }, everyMs).unref();
  };
  const beatNow = () => {
    wanted = false;
    rest();
    beat();
  };
  return () => {
    if (resting) wanted = true;
    else beatNow();
  };
}
