import { useEffect } from 'preact/hooks';

/**
 * Keeps the window's title the same as the page's: its heading, and the tab that is open. A name
 * that comes later, with what is read, is taken then.
 */
export function usePageTitle(): void {
  useEffect(() => {
    const content = document.getElementById('content')!;
    const name = () => {
      const heading = content.querySelector('h1')?.textContent;
      const tab = content.querySelector('.tabs [aria-current]')?.textContent;
      const title = [tab, heading, 'weir'].filter(Boolean).join(' · ');
      if (document.title !== title) document.title = title;
    };
    const observer = new MutationObserver(name);
    const attributeFilter = ['aria-current'];
    observer.observe(content, {
      ...{ childList: true, subtree: true, characterData: true, attributeFilter },
    });
    name();
    return () => observer.disconnect();
  }, []);
}
