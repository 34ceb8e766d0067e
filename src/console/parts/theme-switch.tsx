import { useEffect, useState } from 'preact/hooks';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const read = (): Theme => {
  const kept = localStorage.getItem('theme');
  return themes.find((theme) => theme === kept) ?? 'system';
};

/** Goes through the themes; the choice stays in this browser. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    localStorage.setItem('theme', theme);
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
  return (
    <button type="button" class="link" onClick={() => setTheme(next)}>
      Theme: {theme}
    </button>
  );
}
