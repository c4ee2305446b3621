// Before the first paint: the theme that was chosen here. A file of its own, because the policy allows no inline script.
try {
  const theme = localStorage.getItem('millwright.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off.
}
