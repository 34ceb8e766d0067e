import { useEffect } from 'preact/hooks';

/** Goes to what the address names, which was not there yet when the browser looked for it. */
export function useAnchor(): void {
  useEffect(() => {
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, []);
}
