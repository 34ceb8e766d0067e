import { useEffect } from 'preact/hooks';

const question = 'What you typed is not saved. Leave it?';

/** Asks who goes away, by a link or by closing the page, whether what was typed may be lost. */
export function useUnsaved(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return;
    const leave = (event: BeforeUnloadEvent) => event.preventDefault();
    const follow = (event: MouseEvent) => {
      const link = event.target instanceof Element && event.target.closest('a[href]');
      if (!link || window.confirm(question)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener('beforeunload', leave);
    document.addEventListener('click', follow, true);
    return () => {
      window.removeEventListener('beforeunload', leave);
      document.removeEventListener('click', follow, true);
    };
  }, [unsaved]);
}
